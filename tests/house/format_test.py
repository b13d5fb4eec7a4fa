"""check_format finds what it should."""

import shutil
import unittest

from planted import SOURCE, PlantedTest


class Format(PlantedTest):
    def setUp(self):
        super().setUp()
        shutil.copy(SOURCE / ".clang-format", self.root)

    def test_formatted_source_passes(self):
        self.write("src/base/good.h", "int twice(int value);\n")
        self.assert_clean(self.check("check_format"))

    def test_unformatted_source(self):
        self.write("src/base/bad.h", "int  twice( int value );\n")
        self.assert_found(self.check("check_format"), "bad.h:1")

    def test_fix_mends_it(self):
        self.write("src/base/bad.h", "int  twice( int value );\n")
        self.assert_clean(self.check("check_format", "--fix"))

    def test_letter_that_is_not_ascii(self):
        self.write("src/base/bad.h", "// na\u00efve\n")
        self.assert_found(self.check("check_format"), "bad.h:1", "not ASCII")

    def test_an_empty_tree_does_not_pass(self):
        self.assert_found(self.check("check_format"), "found nothing")


if __name__ == "__main__":
    unittest.main()
