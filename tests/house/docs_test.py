"""check_docs finds what it should."""

import unittest

from planted import PlantedTest

PARAGRAPH = "word " * 25
FORWARD = """
/// Doubles.
///   x       [N, D]  in
///   factor          in  what to multiply by
///   out     [N, D]  out
template <Real T>
void twice_forward(base::ThreadPool& pool, base::View2<const T> x, T factor, base::View2<T> out);
"""
BACKWARD = """
/// Gradient of twice_forward.
///   x                in
///   d_out   [N, D]  in
///   d_x     [N, D]  accum
template <Real T>
void twice_backward(base::View2<const T> x, base::View2<const T> d_out, base::View2<T> d_x);
"""


class Docs(PlantedTest):
    def setUp(self):
        super().setUp()
        self.write("src/README.md", f"# Tour\n\n## rows/\n\n{PARAGRAPH}\n")
        self.write("tests/rows/twice_test.cpp", "// twice_backward\n")
        self.write("src/rows/twice.h", FORWARD + BACKWARD)

    def docs(self):
        return self.check("check_docs")

    def plant(self, old, new):
        text = FORWARD + BACKWARD
        self.assertIn(old, text)
        self.write("src/rows/twice.h", text.replace(old, new))

    def test_documented_pair_passes(self):
        self.assert_clean(self.docs())

    def test_parameter_without_a_line(self):
        self.plant("///   out     [N, D]  out\n", "")
        self.assert_found(self.docs(), "twice_forward: `out` has no line with its role")

    def test_parameter_without_dims(self):
        self.plant("///   d_x     [N, D]  accum\n", "///   d_x   accum\n")
        self.assert_found(self.docs(), "twice_backward: `d_x` has no [dims]")

    def test_parameter_without_a_role(self):
        self.plant("///   d_out   [N, D]  in\n", "///   d_out   [N, D]  the gradient\n")
        self.assert_found(self.docs(), "`d_out` has no line with its role")

    def test_value_that_is_not_explained(self):
        self.plant("///   factor          in  what to multiply by\n", "")
        self.assert_found(self.docs(), "`factor` is not explained")

    def test_forward_without_a_backward(self):
        self.write("src/rows/twice.h", FORWARD)
        self.assert_found(self.docs(), "twice_forward is followed by nothing")

    def test_reason_in_place_of_a_backward(self):
        self.write("src/rows/twice.h", FORWARD.replace("Doubles.", "Doubles. no backward: a test."))
        self.assert_clean(self.docs())

    def test_backward_far_from_its_forward(self):
        self.write("src/rows/twice.h", FORWARD + FORWARD.replace("twice", "thrice") + BACKWARD)
        self.assert_found(self.docs(), "twice_forward is followed by thrice_forward")

    def test_pair_out_of_order_in_a_source(self):
        self.write("src/rows/twice.cpp", "void twice_backward() {}\nvoid twice_forward() {}\n")
        self.assert_found(self.docs(), "src/rows/twice.cpp:2: twice_forward is followed by nothing")

    def test_backward_without_a_test(self):
        self.write("tests/rows/twice_test.cpp", "// something else\n")
        self.assert_found(self.docs(), "no test under tests/ reaches twice_backward")

    def test_backward_behind_a_dispatcher(self):
        self.write("tests/rows/twice_test.cpp", "// any_backward\n")
        self.write("src/rows/any.cpp", "void any_backward(int x) {\n  twice_backward(x);\n}\n")
        self.assert_clean(self.docs())

    def test_long_function(self):
        self.write("src/rows/long.cpp", "void f() {\n" + "  g();\n" * 59 + "}\n")
        self.assert_found(self.docs(), "src/rows/long.cpp:1: f has 61 lines, at most 60")
        self.write("src/rows/long.cpp", "void f() {\n" + "  g();\n" * 58 + "}\n")
        self.assert_clean(self.docs())

    def test_long_constructor_with_initialisers(self):
        self.write("src/rows/long.cpp",
                   "A::A(int x) : a_{x}, b_(x) {\n" + "  g();\n" * 60 + "}\n")
        self.assert_found(self.docs(), "A has 62 lines")

    def test_long_file(self):
        self.write("src/rows/long.cpp", "\n" * 501)
        self.assert_found(self.docs(), "src/rows/long.cpp: 501 lines, at most 500")

    def test_work_left_to_do(self):
        self.write("src/rows/x.cpp", "// TO" "DO later\n")
        self.assert_found(self.docs(), "src/rows/x.cpp:1: TO" "DO")

    def test_public_function_without_a_comment(self):
        self.write("include/lexirow/x.h", "class A {\n public:\n  int size() const;\n};\n")
        self.assert_found(self.docs(), "include/lexirow/x.h:3: size has no /// comment")

    def test_private_function_needs_none(self):
        self.write("include/lexirow/x.h", "class A {\n  int size() const;\n};\n")
        self.assert_clean(self.docs())

    def test_folder_without_a_paragraph(self):
        self.write("src/loss/x.h", "")
        self.assert_found(self.docs(), "no part `## loss/`")

    def test_paragraph_of_no_folder(self):
        self.write("src/README.md", f"## rows/\n\n{PARAGRAPH}\n\n## attic/\n\n{PARAGRAPH}\n")
        self.assert_found(self.docs(), "attic/ is not a folder")

    def test_folders_out_of_order(self):
        self.write("src/loss/x.h", "")
        self.write("src/README.md", f"## loss/\n\n{PARAGRAPH}\n\n## rows/\n\n{PARAGRAPH}\n")
        self.assert_found(self.docs(), "wanted rows, loss")

    def test_broken_link(self):
        self.write("docs/a.md", "# A part\n\nSee [b](b.md).\n")
        self.assert_found(self.docs(), "docs/a.md:3: link to b.md leads nowhere")

    def test_broken_anchor(self):
        self.write("docs/a.md", "# A part\n\nSee [b](#a-part) and [c](a.md#b-part).\n")
        self.assert_found(self.docs(), "no heading #b-part")

    def test_good_links(self):
        self.write("docs/a.md", "# A part\n\nSee [b](../src/README.md#tour), [c](https://x.org/y), "
                                "`[d](nowhere.md)`.\n\n```\n[e](nowhere.md)\n```\n")
        self.assert_clean(self.docs())


if __name__ == "__main__":
    unittest.main()
