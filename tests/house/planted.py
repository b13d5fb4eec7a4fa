"""Planted trees: what the tests of the checks share."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = SOURCE / "scripts"


class PlantedTest(unittest.TestCase):
    """A test that writes files into a fresh folder and runs a script of the project on them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lexirow-planted-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text, executable=False):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if executable:
            path.chmod(0o755)
        return path

    def run_script(self, name, *arguments, environment=None, cwd=None):
        result = subprocess.run([str(SCRIPTS / name), *map(str, arguments)], cwd=cwd or self.root,
                                env=dict(os.environ, **(environment or {})), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, check=False)
        return result.returncode, result.stdout

    def check(self, name, *arguments):
        """Runs a check on the planted tree."""
        return self.run_script(name, "--root", self.root, *arguments)

    def assert_found(self, result, *words):
        """The check failed and its text holds every word."""
        status, text = result
        self.assertEqual(status, 1, text)
        for word in words:
            self.assertIn(word, text)

    def assert_clean(self, result):
        status, text = result
        self.assertEqual(status, 0, text)
