#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

const std::vector<std::string> kVerbs = {
    "tokenize", "train", "eval",   "generate", "info",       "near",   "similar", "convert",
    "walk",     "check", "replay", "vocab",    "completion", "doctor", "embed",   "plan"};

/// The commands under the last heading of a verb's help.
std::vector<std::string> examples_of(const std::string& help) {
  std::vector<std::string> examples;
  std::istringstream lines(help.substr(help.find("\nExample")));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("  lexirow ")) examples.push_back(line.substr(2));
  }
  return examples;
}

TEST(Help, OverviewNamesEveryVerb) {
  const Place place;
  const Outcome run = place.run("lexirow --help");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  for (const std::string& verb : kVerbs) EXPECT_NE(run.out.find("\n  " + verb), std::string::npos);
}

TEST(Help, VersionIsThatOfTheProject) {
  const Place place;
  std::string version = place.run("cat '" LEXIROW_SOURCE_DIR "/VERSION'").out;
  version.erase(version.find_last_not_of(" \n") + 1);
  EXPECT_EQ(place.run("lexirow --version").out, "lexirow " + version + "\n");
}

class VerbHelp : public testing::TestWithParam<std::string> {};

TEST_P(VerbHelp, SaysUsageAndAnExampleThatRuns) {
  const Place place;
  const Outcome run = place.run("lexirow " + GetParam() + " --help");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("Usage:\n  lexirow " + GetParam()), std::string::npos);
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << "colour outside a terminal";
  for (std::size_t begin = 0; begin < run.out.size();) {
    const std::size_t end = run.out.find('\n', begin);
    EXPECT_LE(end - begin, 100U) << run.out.substr(begin, end - begin);
    begin = end + 1;
  }
  const std::vector<std::string> examples = examples_of(run.out);
  ASSERT_FALSE(examples.empty());
  if (GetParam() == "train") {
    place.add_text();
  } else if (GetParam() == "replay") {
    place.run("cp '" LEXIROW_SOURCE_DIR "/data/pytorch-runs.json' runs.json");
  } else {
    place.add_model("--tokenizer word");
  }
  for (const std::string& example : examples) {
    const Outcome done = place.run(example);
    EXPECT_EQ(done.code, 0) << example << '\n' << done.err;
    EXPECT_NE(done.out, "") << example;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, VerbHelp, testing::ValuesIn(kVerbs),
                         [](const auto& verb) { return verb.param; });

TEST(Help, TrainExplainsWindowAndContextAndShowsDefaults) {
  const Place place;
  const std::string help = place.run("lexirow train --help | tr -s ' \\n' ' '").out;
  EXPECT_NE(help.find("Window is how far one position looks"), std::string::npos);
  EXPECT_NE(help.find("context is the length of a training piece"), std::string::npos);
  EXPECT_NE(help.find("(default: 64)"), std::string::npos);
  EXPECT_NE(help.find("--preset word is: --tokenizer word"), std::string::npos);
  EXPECT_NE(help.find("--bias, --no-bias"), std::string::npos);
}

TEST(Help, IsFoundBesideAMistake) {
  const Place place;
  EXPECT_EQ(place.run("lexirow train --help --steps").code, 0);
  EXPECT_EQ(place.run("lexirow train --nonsense -h").code, 0);
  EXPECT_EQ(place.run("lexirow help near").code, 0);
}

/// Completes a command line as bash would and returns the words offered, one a line.
std::string completed(const Place& place, const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += " '" + word + "'";
  const Outcome run = place.run("source <(lexirow completion bash)\nCOMP_WORDS=(lexirow" + list +
                                ")\nCOMP_CWORD=" + std::to_string(words.size()) +
                                "\n_lexirow\nprintf '%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

TEST(Completion, OffersVerbsFlagsChoicesAndFiles) {
  const Place place;
  place.write("a file.txt", "");
  std::filesystem::create_directory(place.path("a folder"));
  EXPECT_EQ(completed(place, {"tr"}), "train\n");
  EXPECT_EQ(completed(place, {"train", "--warm"}), "--warmup\n");
  EXPECT_EQ(completed(place, {"train", "--no-bi"}), "--no-bias\n");
  EXPECT_EQ(completed(place, {"train", "--optimizer", "s"}), "sgd\n");
  EXPECT_EQ(completed(place, {"train", "--mixer", "win"}), "window:\n");
  EXPECT_EQ(completed(place, {"train", "--tokenizer", "w"}), "word\n");
  EXPECT_EQ(completed(place, {"eval", "model", "a f"}), "a file.txt\na folder\n");
  EXPECT_EQ(completed(place, {"info", "a f"}), "a file.txt\na folder\n");
  EXPECT_EQ(completed(place, {"walk", "a"}), "a folder\n");
  EXPECT_EQ(completed(place, {"completion", ""}), "bash\n");
  EXPECT_EQ(completed(place, {"train", "--steps", ""}), "\n");
}

}  // namespace
}  // namespace lexirow::cli_test
