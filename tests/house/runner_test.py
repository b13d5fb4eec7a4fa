"""scripts/test fails when anything fails: planted failures in a toy project with the real presets."""

import os
import shutil
import unittest

from planted import SCRIPTS, SOURCE, PlantedTest

GOOD = "int main(int argc, char**) { return argc - 1; }\n"
FAILING = "int main() { return 1; }\n"
NOT_COMPILING = "int main() { return nothing; }\n"
OVERFLOW = "int main(int argc, char**) { int x = 2147483647; x += argc; return x == 0; }\n"
OVERRUN = """#include <vector>
int main(int argc, char**) {
  std::vector<int> v(4);
  volatile int i = 4 + argc;
  return v.data()[i] == 12345;
}
"""
LEAK = "int* volatile p; int main() { p = new int[9]; p = nullptr; return 0; }\n"

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES CXX)
enable_testing()
add_executable(toy main.cpp)
add_test(NAME toy.main COMMAND toy)
add_test(NAME toy.skipped COMMAND sh -c "exit 77")
set_tests_properties(toy.skipped PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME toy.house COMMAND true)
set_tests_properties(toy.house PROPERTIES LABELS house)
"""


class Runner(PlantedTest):
    def run_tests(self, source, project=PROJECT):
        shutil.copy(SOURCE / "CMakePresets.json", self.root)
        (self.root / "scripts").mkdir(exist_ok=True)
        for name in ("test", "tally"):
            shutil.copy(SCRIPTS / name, self.root / "scripts")
        self.write("scripts/install_packages", "#!/bin/sh\n", True)
        self.write("scripts/fetch_test_data", "#!/bin/sh\n", True)
        self.write("CMakeLists.txt", project)
        self.write("main.cpp", source)
        environment = {name: value for name, value in os.environ.items()
                       if not name.endswith("SAN_OPTIONS")}
        # The outer run may itself be one of ctest: its settings must not reach the inner one.
        environment["CTEST_PARALLEL_LEVEL"] = ""
        status, text = self.run_script(self.root / "scripts/test", environment=environment)
        return status, text.rstrip("\n").split("\n")[-1], text

    def test_all_good(self):
        status, last, text = self.run_tests(GOOD)
        self.assertEqual((status, last), (0, "3 passed, 0 failed, 2 skipped"), text)

    def test_without_skipped_tests(self):
        project = "\n".join(line for line in PROJECT.split("\n") if "skipped" not in line)
        status, last, text = self.run_tests(GOOD, project)
        self.assertEqual((status, last), (0, "3 passed, 0 failed"), text)

    def test_failing_test(self):
        status, last, text = self.run_tests(FAILING)
        self.assertEqual((status, last), (1, "1 passed, 2 failed, 2 skipped"), text)

    def test_build_that_breaks(self):
        status, last, text = self.run_tests(NOT_COMPILING)
        self.assertEqual((status, last), (1, "0 passed, 2 failed"), text)

    def test_program_that_is_missing(self):
        project = PROJECT.replace("COMMAND true", "COMMAND no-such-program")
        status, last, text = self.run_tests(GOOD, project)
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 2 skipped"), text)

    def test_findings_of_sanitizers_are_fatal(self):
        for name, source in (("overflow", OVERFLOW), ("overrun", OVERRUN), ("leak", LEAK)):
            with self.subTest(name):
                status, last, text = self.run_tests(source)
                self.assertEqual((status, last), (1, "2 passed, 1 failed, 2 skipped"), text)
                self.assertIn("failed: asan: toy.main", text)

    def test_no_tests_at_all(self):
        project = PROJECT.split("add_test")[0]
        status, last, text = self.run_tests(GOOD, project)
        self.assertEqual(status, 1, text)


if __name__ == "__main__":
    unittest.main()
