"""install_packages touches nothing when nothing is missing, and says what to do when it cannot."""

import shutil
import unittest

from planted import SCRIPTS, PlantedTest

APT = """#!/bin/sh
echo "$@" >> "$LOG"
case "$1" in
  update) test ! -e "$STATE/offline" && touch "$STATE/fresh" ;;
  install) test -e "$STATE/fresh" ;;
esac
"""


class Packages(PlantedTest):
    def setUp(self):
        super().setUp()
        (self.root / "scripts").mkdir()
        shutil.copy(SCRIPTS / "install_packages", self.root / "scripts")
        self.write("scripts/packages", "# comment\nbuild one\nbuild two\ncheck three\n")
        self.write("bin/dpkg-query", '#!/bin/sh\ngrep -qx "$3" "$STATE/installed" && printf installed\n',
                   True)
        self.write("bin/apt-get", APT, True)
        self.write("bin/id", "#!/bin/sh\necho ${AS_USER:-0}\n", True)
        self.write("installed", "")
        self.log = self.root / "log"

    def install(self, *groups, user="0"):
        # A PATH of its own: only planted programs and the few basic ones that the script needs.
        for name in ("bash", "env", "dirname", "grep", "mktemp", "rm", "tail", "sh", "touch", "printf", "true"):
            link = self.root / "bin" / name
            if not link.exists():
                link.symlink_to(shutil.which(name))
        environment = {"PATH": str(self.root / "bin"), "STATE": str(self.root), "AS_USER": user,
                       "LOG": str(self.log)}
        return self.run_script(self.root / "scripts/install_packages", *groups,
                               environment=environment)

    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def test_nothing_missing_touches_nothing(self):
        self.write("installed", "one\ntwo\nthree\n")
        self.assertEqual(self.install(), (0, ""))
        self.assertEqual(self.calls(), [])

    def test_only_missing_packages_of_the_group(self):
        self.write("installed", "one\n")
        self.write("fresh", "")
        status, text = self.install("build")
        self.assertEqual((status, text), (0, "Installing 1 Debian packages: two\n"))
        self.assertEqual(len(self.calls()), 1)
        self.assertTrue(self.calls()[0].endswith(" two"), self.calls())

    def test_program_from_elsewhere_stands_for_its_package(self):
        self.write("scripts/packages", "test five five-program\n")
        self.write("fresh", "")
        self.write("bin/five-program", "#!/bin/sh\n", True)
        self.assertEqual(self.install("test"), (0, ""))
        (self.root / "bin/five-program").unlink()
        self.assertEqual(self.install("test"), (0, "Installing 1 Debian packages: five\n"))

    def test_lists_are_renewed_only_when_needed(self):
        status, _ = self.install("check")
        self.assertEqual(status, 0)
        self.assertEqual([call.split()[0] for call in self.calls()], ["install", "update", "install"])

    def test_offline(self):
        self.write("offline", "")
        self.assert_found(self.install("build"), "could not install: one two", "network")

    def test_neither_root_nor_sudo(self):
        self.assert_found(self.install("build", user="1000"), "neither root nor sudo",
                          "apt-get install one two")
        self.assertEqual(self.calls(), [])

    def test_sudo_that_wants_a_password_without_a_terminal(self):
        self.write("bin/sudo", "#!/bin/sh\nexit 1\n", True)
        self.assert_found(self.install("build", user="1000"), "no terminal", "apt-get install one two")

    def test_sudo(self):
        self.write("bin/sudo", '#!/bin/sh\ntest "$1" = -n && shift\nexec "$@"\n', True)
        self.write("fresh", "")
        status, text = self.install("build", user="1000")
        self.assertEqual(status, 0, text)
        self.assertEqual(len(self.calls()), 1)

    def test_unknown_word(self):
        self.assert_found(self.install("biuld"), "no packages under 'biuld'")


if __name__ == "__main__":
    unittest.main()
