"""check_symbols finds what it should."""

import subprocess
import unittest

from planted import PlantedTest


class Symbols(PlantedTest):
    def library(self, code):
        self.write("one.cpp", code)
        self.write("two.cpp", "int two() { return 2; }\n")
        subprocess.run(["g++", "-std=c++20", "-O1", "-DNDEBUG", "-w", "-c", "one.cpp", "two.cpp"],
                       cwd=self.root, check=True)
        (self.root / "lib.a").unlink(missing_ok=True)
        subprocess.run(["ar", "rc", "lib.a", "one.o", "two.o"], cwd=self.root, check=True)
        return self.run_script("check_symbols", "lib.a")

    def test_plain_code_passes(self):
        self.assert_clean(self.library(
            "#include <stdexcept>\n#include <string>\n#include <cassert>\n#include <cstdio>\n"
            "void f(int x) noexcept { assert(x); if (x) throw std::runtime_error(std::to_string(x)); }"
            "\nint g(char* out, double x) { return snprintf(out, 9, \"%g\", x); }\n"))

    def test_stream(self):
        self.assert_found(self.library("#include <iostream>\nvoid f() { std::cerr << 1; }\n"),
                          "one.o: std::cerr", "one.o: std::ios_base::Init::Init()")

    def test_printf(self):
        self.assert_found(self.library("#include <cstdio>\nvoid f(int x) { printf(\"%d\", x); }\n"),
                          "one.o: printf: prints")

    def test_printf_to_stderr(self):
        self.assert_found(self.library("#include <cstdio>\nvoid f() { fputs(\"x\", stderr); }\n"),
                          "one.o: stderr")

    def test_exit_and_abort(self):
        self.assert_found(self.library("#include <cstdlib>\nvoid f(int x) { x ? exit(1) : abort(); }"),
                          "one.o: exit: ends", "one.o: abort: ends")

    def test_assertion_left_in(self):
        code = "#undef NDEBUG\n#include <cassert>\nvoid f(int x) { assert(x); }\n"
        self.assert_found(self.library(code), "__assert_fail")

    def test_missing_library(self):
        self.assert_found(self.run_script("check_symbols", "none.a"), "cannot read")


if __name__ == "__main__":
    unittest.main()
