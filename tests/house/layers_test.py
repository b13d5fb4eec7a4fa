"""check_layers finds what it should."""

import unittest

from planted import PlantedTest


class Layers(PlantedTest):
    def setUp(self):
        super().setUp()
        self.write("src/base/view.h", "#include <vector>\n")
        self.write("src/rows/lookup.h", '#include "base/view.h"\n#include "lexirow/error.h"\n')

    def layers(self):
        return self.check("check_layers")

    def test_allowed_includes_pass(self):
        # optim names rows, rows names kernels, everything may use base.
        self.write("src/kernels/matmul.h", '#include "base/view.h"\n#include <dnnl.h>\n')
        self.write("src/optim/adamw.cpp", '#include "rows/lookup.h"\n#include "kernels/matmul.h"\n')
        self.assert_clean(self.layers())

    def test_upward_include(self):
        self.write("src/text/batch.h", "")
        self.write("src/rows/bad.h", '#include "text/batch.h"\n')
        self.assert_found(self.layers(), "src/rows/bad.h:1", "rows/ may not include text/batch.h")

    def test_sideways_include_is_not_reached_through_a_third(self):
        # optim reaches rows, but not model.
        self.write("src/model/network.h", "")
        self.write("src/optim/bad.h", '#include "model/network.h"\n')
        self.assert_found(self.layers(), "optim/ may not include model/network.h")

    def test_include_in_a_comment_does_not_count(self):
        self.write("src/rows/note.h", '// #include "text/batch.h"\n/*\n#include "cli/main.h"\n*/\n')
        self.assert_clean(self.layers())

    def test_angle_brackets_do_not_hide(self):
        self.write("src/rows/bad.h", "#include <model/network.h>\n")
        self.assert_found(self.layers(), "rows/ may not include model/network.h")

    def test_relative_include(self):
        self.write("src/rows/bad.h", '#include "lookup.h"\n')
        self.assert_found(self.layers(), 'got "lookup.h"')

    def test_circle_of_files(self):
        self.write("src/rows/a.h", '#include "rows/b.h"\n')
        self.write("src/rows/b.h", '#include "rows/a.h"\n')
        self.assert_found(self.layers(), "in a circle", "src/rows/a.h -> src/rows/b.h")

    def test_unknown_folder(self):
        self.write("src/helpers/x.h", "")
        self.assert_found(self.layers(), "folder helpers is not in the table")

    def test_package_of_another_folder(self):
        self.write("src/loss/fast.cpp", "#include <hwy/highway.h>\n")
        self.assert_found(self.layers(), "only kernels/ may include <hwy/highway.h>")

    def test_kernel_that_throws(self):
        self.write("src/kernels/bad.cpp", 'void f() { throw 1; }  // throw\n')
        self.assert_found(self.layers(), "src/kernels/bad.cpp:1: throw: kernels never throw")

    def test_writing_to_disk_outside_files(self):
        self.write("src/train/save.cpp", "std::ofstream out(path);\n")
        self.assert_found(self.layers(), "only files/ writes to a disk")

    def test_example_with_a_private_header(self):
        self.write("examples/bad.cpp", '#include "rows/lookup.h"\n')
        self.assert_found(self.layers(), "rows/lookup.h is private")

    def test_public_header_with_a_private_one(self):
        self.write("include/lexirow/bad.h", '#include "base/view.h"\n')
        self.assert_found(self.layers(), "base/view.h is private")

    def test_public_header_of_users_inside(self):
        self.write("src/train/bad.cpp", '#include "lexirow/language_model.h"\n')
        self.assert_found(self.layers(), "is for users of the library")

    def test_seed_from_a_device(self):
        self.write("tests/rows/bad_test.cpp", "std::mt19937 random(std::random_device{}());\n")
        self.assert_found(self.layers(), "tests/rows/bad_test.cpp:1", "seeds are literals")

    def test_flags_that_change_results(self):
        self.write("src/CMakeLists.txt", "# no -march=native\nadd_compile_options(-ffast-math)\n")
        status, text = self.layers()
        self.assertEqual(status, 1)
        self.assertIn("src/CMakeLists.txt:2: -ffast-math", text)
        self.assertNotIn("-march", text)


class NothingThere(PlantedTest):
    def test_an_empty_tree_does_not_pass(self):
        self.assert_found(self.check("check_layers"), "found nothing")


if __name__ == "__main__":
    unittest.main()
