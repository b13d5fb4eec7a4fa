#include "cli/support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace lexirow::cli_test {

nlohmann::ordered_json Outcome::json() const {
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << out;
  return nlohmann::ordered_json::parse(out);
}

Place::Place() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lexirow-cli-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
}

Place::~Place() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Place::write(const std::string& name, const std::string& contents) const {
  std::ofstream(folder_ / name, std::ios::binary) << contents;
}

std::string Place::read(const std::string& name) const {
  std::ostringstream contents;
  contents << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
  return contents.str();
}

Outcome Place::run(const std::string& command) const {
  const std::string script = ".command";
  write(script, command);
  const std::string programs = std::filesystem::path(LEXIROW_BINARY).parent_path().string();
  const int status =
      std::system(fmt::format("cd '{}' && PATH='{}':\"$PATH\" bash {} >.out 2>.err </dev/null",
                              folder_.string(), programs, script)
                      .c_str());
  Outcome run;
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read(".out");
  run.err = read(".err");
  return run;
}

void Place::add_text() const {
  const std::string sentences =
      "The lamp is lit at the harbour. The boat comes home to the harbour.\n"
      "A gull sits on the lamp. The boat is blue, and the gull is white.\n"
      "\n"
      "Mira mends the net. The net is in the boat.\n";
  std::string text;
  for (int i = 0; i < 12; ++i) text += sentences;
  write("my.txt", text);
}

void Place::add_model(const std::string& options) const {
  add_text();
  const Outcome trained = run(
      "lexirow train my.txt --out model --preset plain --dim 8 --context 16 --batch 8 --steps 20 " +
      options);
  ASSERT_EQ(trained.code, 0) << trained.err;
}

}  // namespace lexirow::cli_test
