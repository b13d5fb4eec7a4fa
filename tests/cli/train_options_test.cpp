// GCC 12 reports a member of <regex> as uninitialized when sanitizers are on; it is not.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

using Json = nlohmann::ordered_json;

/// An option of `train`, a setting in which it matters, and what of the outcome must change.
struct OptionCase {
  std::string name;
  std::string words;    ///< the option as it is typed
  std::string setting;  ///< options that both runs get
  enum Shows { model, tokenizer, code, held_out, log } shows;
};

void PrintTo(const OptionCase& option, std::ostream* out) {
  *out << option.words;
}

using enum OptionCase::Shows;

const std::vector<OptionCase> kCases = {
    {"preset", "--preset word", "", tokenizer},
    {"tokenizer", "--tokenizer byte", "", tokenizer},
    {"split", "--split cl100k", "--tokenizer ranks.tiktoken --split gpt2", tokenizer},
    {"special", "--special '<eos>'", "--eos eos.txt", model},
    {"word-split", "--word-split space", "--tokenizer word", tokenizer},
    {"min-count", "--min-count 13", "--tokenizer word", tokenizer},
    {"max-vocab", "--max-vocab 5", "--tokenizer word", tokenizer},
    {"pad", "--pad", "", tokenizer},
    {"unk", "--unk", "", tokenizer},
    {"bos", "--bos", "", tokenizer},
    {"eos", "--eos", "", tokenizer},
    {"documents", "--documents line", "", model},
    {"raw", "--raw", "crlf.txt", tokenizer},
    {"strict", "--strict", "bad.txt", code},
    {"mixer", "--mixer none", "", model},
    {"allow-leak", "--allow-leak", "--mixer centred", code},
    {"positions", "--positions sinusoidal", "", model},
    {"dim", "--dim 5", "", model},
    {"hidden", "--hidden 3", "", model},
    {"layers", "--layers 2", "", model},
    {"activation", "--activation relu", "", model},
    {"residual", "--residual", "--layers 2", model},
    {"layer-norm", "--layer-norm", "--layers 2", model},
    {"dropout", "--dropout 0.5", "", model},
    {"skip", "--skip", "", model},
    {"tied", "--tied", "", model},
    {"bias", "--no-bias", "", model},
    {"pad-row", "--pad-row keep", "--pad", model},
    {"init", "--init auto", "--tied", model},
    {"context", "--context 7", "", model},
    {"stride", "--stride 4", "", model},
    {"carry", "--carry", "--mixer concat:3", model},
    {"restart-every", "--restart-every 2", "--mixer concat:3 --carry", model},
    {"batch", "--batch 3", "", model},
    {"validation", "--validation 0.2", "", held_out},
    {"validation-file", "--validation-file other.txt", "", held_out},
    {"steps", "--steps 7", "", model},
    {"epochs", "--epochs 1", "--steps 300", model},
    {"optimizer", "--optimizer sgd", "", model},
    {"momentum", "--momentum 0.9", "--optimizer sgd", model},
    {"loss", "--loss sampled:2", "", model},
    {"row-updates", "--row-updates lazy", "", model},
    {"lr", "--lr 0.01", "", model},
    {"weight-decay", "--weight-decay 0.5", "", model},
    {"decay-of", "--decay-of matrices", "--weight-decay 0.5", model},
    {"schedule", "--schedule cosine", "", model},
    {"plateau", "--plateau 1",
     "--schedule plateau --steps 60 --lr 0.3 --validation 0.2 --eval-every 1", model},
    {"schedule-steps", "--schedule-steps 20", "--schedule cosine", model},
    {"warmup", "--warmup 50%", "", model},
    {"clip", "--clip 0.001", "--optimizer sgd", model},
    {"seed", "--seed 2", "", model},
    {"eval-every", "--eval-every 2", "--validation 0.2", log},
    {"patience", "--patience 1", "--steps 60 --lr 0.3 --validation 0.2 --eval-every 1", model},
    {"log-every", "--log-every 1", "", log},
};

/// What has a test of its own, here, in train_test.cpp or in train/start_rows_test.cpp.
const std::set<std::string> kTestedAlone = {
    "out",  "resume", "force",   "config",     "log-json",     "progress-every", "threads",
    "json", "help",   "minutes", "save-every", "save-seconds", "table",          "save-vectors",
};

class TrainOption : public testing::TestWithParam<OptionCase> {};

/// The outcome that an option is to change, of one run.
std::string outcome_of(const Place& place, const OptionCase& option, const std::string& words) {
  const bool text_named = option.setting.ends_with(".txt");
  const Outcome run = place.run(
      "rm -rf m log; lexirow train --out m --preset plain --dim 6 --context 8 --batch 4 --steps 6 "
      "--json --log-json log " +
      (text_named ? option.setting : "my.txt " + option.setting) + " " + words);
  if (option.shows == code) return std::to_string(run.code);
  EXPECT_EQ(run.code, 0) << run.err;
  if (option.shows == held_out) return run.json()["validation_loss"].dump();
  if (option.shows == tokenizer) return place.read("m/tokenizer.json");
  if (option.shows == model) return place.read("m/model.safetensors");
  std::string steps;
  const std::string log_lines = place.read("log");
  const std::regex losses("\"step\":[0-9]+|\"validation_loss\":[^,]+");
  for (std::sregex_iterator i(log_lines.begin(), log_lines.end(), losses), end; i != end; ++i) {
    steps += i->str() + ' ';
  }
  return steps;
}

TEST_P(TrainOption, ChangesWhatItIsFor) {
  const Place place;
  place.add_text();
  place.write("other.txt", "The boat is at the harbour. Mira sits on the net.\n");
  place.run("sed 's/$/\\r/' my.txt >crlf.txt; (cat my.txt; printf 'a\\377b') >bad.txt");
  if (GetParam().name == "special") place.run("sed 's/net/<eos>/' my.txt >eos.txt");
  if (GetParam().name == "split") {
    place.run(
        "for byte in $(seq 0 255); do "
        "echo $(printf \"\\\\x$(printf %x $byte)\" | base64) $byte; done >ranks.tiktoken");
  }
  const OptionCase& option = GetParam();
  const std::string without = outcome_of(place, option, "");
  EXPECT_NE(without, "");
  EXPECT_EQ(without, outcome_of(place, option, "")) << "two equal runs differ";
  EXPECT_NE(without, outcome_of(place, option, option.words));
}

INSTANTIATE_TEST_SUITE_P(Every, TrainOption, testing::ValuesIn(kCases), [](const auto& option) {
  std::string name = option.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(TrainOptions, EachOneInTheHelpHasItsTest) {
  const Place place;
  const std::string help = place.run("lexirow train --help").out;
  std::set<std::string> tested = kTestedAlone;
  for (const OptionCase& option : kCases) tested.insert(option.name);
  const std::regex flag("\n  --([a-z-]+)");
  std::int64_t options = 0;
  for (std::sregex_iterator i(help.begin(), help.end(), flag), end; i != end; ++i) {
    EXPECT_TRUE(tested.contains((*i)[1].str())) << (*i)[1].str();
    ++options;
  }
  EXPECT_GE(options, 45);
}

TEST(TrainOptions, MinutesEndARun) {
  const Place place;
  place.add_text();
  const Outcome run =
      place.run("lexirow train my.txt --out m --preset plain --dim 4 --minutes 0.005 --json");
  EXPECT_EQ(run.code, 0) << run.err;
  const Json json = run.json();
  EXPECT_GE(json["steps"], 1);
  EXPECT_LT(json["seconds"].get<double>(), 60);
}

TEST(TrainOptions, SaveEveryAndSaveSecondsLeaveAStateBehindAKilledRun) {
  const Place place;
  place.add_text();
  for (const std::string words : {"--save-every 3", "--save-seconds 0.05", ""}) {
    const Outcome run = place.run(
        "rm -rf m log; lexirow train my.txt --out m --preset plain --dim 4 --steps 100000000 "
        "--log-every 1 --log-json log " +
        words +
        " & pid=$!\n"
        "for i in $(seq 600); do [ $(wc -l <log 2>/dev/null || echo 0) -gt 200 ] && break; "
        "sleep 0.05; done\nkill -KILL $pid; wait $pid 2>/dev/null\n"
        // The weights as drawn are saved in any case: step 0.
        "grep -aq '[^_]step..:0,' m/training/state.safetensors && echo drawn || echo later");
    EXPECT_EQ(run.out.find("later") != std::string::npos, !words.empty()) << words;
  }
}

}  // namespace
}  // namespace lexirow::cli_test
