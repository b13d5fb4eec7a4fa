"""check_console finds what it should."""

import unittest

from planted import PlantedTest


class Console(PlantedTest):
    def setUp(self):
        super().setUp()
        self.program = self.write("bin/lexirow", "#!/bin/sh\necho loss $1\necho done >&2\n", True)

    def console(self, text):
        self.write("README.md", text)
        return self.check("check_console", "--program", self.program)

    def block(self, body, above=""):
        return self.console(f"# Title\n\n{above}\n```console\n{body}\n```\n")

    def test_equal_output_passes_both_streams(self):
        self.assert_clean(self.block("$ lexirow 1.5\nloss 1.5\ndone"))

    def test_other_output(self):
        self.assert_found(self.block("$ lexirow 1.5\nloss 1.6\ndone"), "README.md:5", "loss 1.6")

    def test_missing_and_surplus_lines(self):
        self.assert_found(self.block("$ lexirow 1.5\nloss 1.5"), "README.md:5")
        self.assert_found(self.block("$ lexirow 1.5\nloss 1.5\ndone\nmore"), "README.md:5")

    def test_dots_stand_for_lines_and_for_text(self):
        self.assert_clean(self.block("$ lexirow 1.5\n...\ndone"))
        self.assert_clean(self.block("$ lexirow 1.5\nloss ...\n...\ndone"))
        self.assert_found(self.block("$ lexirow 1.5\n...\nnever"), "never")

    def test_numbers_are_loose_only_where_marked(self):
        body = "$ lexirow 1.5\nloss 1.6\ndone"
        self.assert_clean(self.block(body, "<!-- loose -->"))
        self.assert_found(self.block(body, "<!-- loose 1% -->"), "loss 1.6")
        self.assert_found(self.block(body.replace("loss 1.6", "lost 1.6"), "<!-- loose -->"), "lost")

    def test_exit_status(self):
        self.assert_found(self.block("$ exit 3"), "ended with 3, wanted 0")
        self.assert_clean(self.block("$ exit 3", "<!-- exit 3 -->"))

    def test_commands_share_a_folder_that_is_a_copy(self):
        self.assert_clean(self.block("$ echo a > made\n$ cat made \\\n    made\na\na"))
        self.assertFalse((self.root / "made").exists())

    def test_commands_that_nobody_runs(self):
        self.assert_found(self.console("```sh\nrm -rf x\n```\n"), "need `<!-- not run: why -->`")
        self.assert_clean(self.console("<!-- not run: needs root -->\n```sh\nrm -rf x\n```\n"))
        self.assert_found(self.console("<!-- not run: -->\n```sh\nrm -rf x\n```\n"), "need")

    def test_comment_of_another_block_does_not_count(self):
        text = "<!-- loose -->\n```console\n$ true\n```\n\n```console\n$ lexirow 1\nloss 2\ndone\n```\n"
        self.assert_found(self.console(text), "loss 2")

    def test_block_without_a_command(self):
        self.assert_found(self.block("loss 1.5"), "starts with a command")

    def test_missing_program(self):
        self.program.unlink()
        self.assert_found(self.block("$ true"), "no program")


if __name__ == "__main__":
    unittest.main()
