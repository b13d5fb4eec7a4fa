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

    def table(self, *rows, above="<!-- run these -->"):
        return self.console("\n".join(["# Title", "", above, "| idea | command | what |", "|---|---|---|",
                                       *rows, "", "text"]) + "\n")

    def test_commands_of_a_table(self):
        self.assert_clean(self.table("| a | `lexirow 1.5` | `loss 1.5 done` and `done` |"))
        self.assert_found(self.table("| a | `lexirow 1.5` | `loss 1.6` |"), "README.md:6", "loss 1.6")
        self.assert_found(self.table("| a | `lexirow 1; exit 3` | `loss 1` |"), "ended with 3")
        self.assert_clean(self.table("| a | `lexirow 1.5` | `loss 1.6` |", above="not run"))

    def test_rows_of_a_table_that_cannot_be_run(self):
        self.assert_found(self.table("| a | lexirow 1.5 | `loss 1.5` |"), "line 6", "a `command`")
        self.assert_found(self.table("| a | `lexirow 1.5` | the loss |"), "line 6", "`what`")
        self.assert_found(self.console("<!-- run these -->\n\n| a |\n"), "directly above a table")
        self.assert_found(self.console("<!-- run these -->\n"), "directly above a table")

    def test_tables_and_blocks_run_in_their_order(self):
        self.assert_clean(self.console("```console\n$ echo a > made\n```\n\n<!-- run these -->\n| a | b | c |\n"
                                       "|---|---|---|\n| a | `cat made` | `a` |\n"))

    def test_document_that_is_left_out(self):
        self.write("README.md", "```console\n$ true\n```\n")
        self.write("docs/long.md", "```console\n$ false\n```\n")
        self.assert_found(self.check("check_console", "--program", self.program), "docs/long.md")
        self.assert_clean(self.check("check_console", "--program", self.program, "--except", "docs/long.md"))

    def test_missing_program(self):
        self.program.unlink()
        self.assert_found(self.block("$ true"), "no program")


if __name__ == "__main__":
    unittest.main()
