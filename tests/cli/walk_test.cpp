#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kText = "The boat is blue";

double probability_sum(const Json& walk) {
  double sum = walk["other_probability"].get<double>();
  for (const Json& score : walk["top"]) sum += score["probability"].get<double>();
  return sum;
}

std::vector<std::string> printed_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The words of the line that begins with `first` and holds `second`.
std::vector<std::string> words_of_line(const std::string& text, const std::string& first,
                                       const std::string& second) {
  for (const std::string& line : printed_lines(text)) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.size() > 2 && words[0] == first &&
        std::find(words.begin(), words.end(), second) != words.end()) {
      return words;
    }
  }
  ADD_FAILURE() << "no line with " << first << " and " << second << " in\n" << text;
  return {};
}

void expect_word(const std::vector<std::string>& words, const std::string& word) {
  EXPECT_NE(std::find(words.begin(), words.end(), word), words.end())
      << word << " is not in: " << fmt::format("{}", fmt::join(words, " "));
}

TEST(Walk, JsonHasItsKeysAndTheIdsOfTokenize) {
  const Place place;
  place.add_model();
  place.write("text", kText);
  const Json tokens = place.run("lexirow tokenize text --tokenizer model --json").json();
  const Json walk = place.run(fmt::format("lexirow walk model '{}' --json", kText)).json();
  for (const char* key :
       {"tokens", "rows", "position", "mixer", "weights", "sees_future", "context_norm", "top",
        "other_probability", "entropy_bits", "chosen_by", "shapes", "cut_at"}) {
    EXPECT_TRUE(walk.contains(key)) << key;
  }
  ASSERT_EQ(walk["tokens"].size(), tokens["ids"].size());
  for (std::size_t i = 0; i < tokens["ids"].size(); ++i) {
    EXPECT_EQ(walk["tokens"][i]["id"], tokens["ids"][i]);
    EXPECT_EQ(walk["tokens"][i]["start"], tokens["pieces"][i]["begin"]);
    EXPECT_EQ(walk["tokens"][i]["end"], tokens["pieces"][i]["end"]);
  }
  EXPECT_EQ(walk["position"], tokens["ids"].size() - 1);
  EXPECT_NEAR(probability_sum(walk), 1, 1e-9);
}

// A line end is the token that it was in training, in a prompt too.
TEST(Walk, ALineEndIsEosForAModelThatWasTrainedSo) {
  const Place place;
  place.write("text", "the boat\nis blue\nthe boat\nis red\n");
  for (const char* tokenizer : {"word --min-count 1", "char"}) {
    ASSERT_EQ(place
                  .run(fmt::format("lexirow train text --preset plain --tokenizer {} --eos "
                                   "--steps 2 --context 4 --out model --force",
                                   tokenizer))
                  .code,
              0);
    const Json walk = place.run("lexirow walk model $'the boat\nis' --json").json();
    const Json one = place.run("lexirow walk model 'the boat' --json").json();
    const Json two = place.run("lexirow walk model is --json").json();
    const std::size_t end = one["tokens"].size();
    ASSERT_EQ(walk["tokens"].size(), end + 1 + two["tokens"].size());
    const Json info = place.run("lexirow info model --json").json();
    EXPECT_EQ(walk["tokens"][end]["id"], info["rows"].get<int>() - 1) << "<eos> is the last";
    EXPECT_EQ(walk["tokens"][end]["start"], 8);
    EXPECT_EQ(walk["tokens"][end + 1]["id"], two["tokens"][0]["id"]);
    EXPECT_EQ(walk["tokens"][end + 1]["start"], 9);
    EXPECT_EQ(place.run("lexirow generate model --prompt $'the boat\n' --tokens 1").code, 0);
  }
}

TEST(Walk, WeightsEndAtThePositionAndLeavingOutChangesTheBars) {
  const Place place;
  place.add_model();
  const std::string command = fmt::format("lexirow walk model '{}' --json --position 6", kText);
  const Json whole = place.run(command).json();
  double sum = 0;
  for (std::size_t i = 0; i < whole["weights"].size(); ++i) {
    sum += whole["weights"][i].get<double>();
    EXPECT_EQ(whole["weights"][i] == 0, i > 6);
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  const Json part = place.run(command + " --without 2,4 --without 5").json();
  EXPECT_EQ(part["weights"][2], 0);
  EXPECT_EQ(part["tokens"][5]["visible"], false);
  EXPECT_NEAR(probability_sum(part), 1, 1e-9);
  EXPECT_NE(part["top"], whole["top"]);
  const Json warm = place.run(command + " --temperature 2 --top-k 3").json();
  EXPECT_EQ(warm["top"].size(), 3U);
  EXPECT_GT(warm["entropy_bits"], whole["entropy_bits"]);
  const Json greedy = place.run(command + " --temperature 0").json();
  EXPECT_EQ(greedy["chosen_by"], "most likely");
  EXPECT_EQ(greedy["top"][0]["probability"], 1);
  EXPECT_EQ(greedy["top"][0]["id"], whole["top"][0]["id"]);
}

TEST(Walk, ThePictureShowsTheFiguresOfTheJsonWithin80Columns) {
  for (const char* mixer : {"none", "mean", "window:2", "concat:3", "full-mean --allow-leak",
                            "centred --allow-leak", "mean --positions learned"}) {
    const Place place;
    place.add_model(fmt::format("--tokenizer word --mixer {}", mixer));
    const std::string command =
        fmt::format("lexirow walk model '{}' --top-k 4 --position 2", kText);
    const Json json = place.run(command + " --json").json();
    const Outcome run = place.run(command);
    ASSERT_EQ(run.code, 0) << run.err;
    for (const std::string& line : printed_lines(run.out)) EXPECT_LE(line.size(), 80U) << line;
    for (std::size_t i = 0; i < json["tokens"].size(); ++i) {
      const auto words = words_of_line(run.out, std::to_string(i),
                                       json["tokens"][i]["display"].get<std::string>());
      expect_word(words, json["tokens"][i]["id"].dump());
      expect_word(words, fmt::format("{:.3f}", json["rows"][i]["norm"].get<double>()));
      expect_word(words, fmt::format("{:.3f}", json["rows"][i]["first"][0].get<double>()));
      const double weight = json["weights"][i].get<double>();
      if (!json.contains("blocks")) {
        expect_word(words, weight == 0 ? "0" : fmt::format("{:.4f}", weight));
      } else if (weight > 0) {
        expect_word(words, fmt::format("{}/3", json["blocks"][i].get<int>() + 1));
      }
      if (i > 2) {
        expect_word(words, weight > 0 ? "FUTURE," : "future");
      }
    }
    EXPECT_EQ(run.err.find("know the answer") != std::string::npos,
              json["sees_future"].get<bool>());
    if (json.contains("positions")) {
      const double norm = json["positions"]["rows"][2]["norm"].get<double>();
      expect_word(words_of_line(run.out, "position", "norm"), fmt::format("{:.3f}", norm));
      EXPECT_NE(run.out.find("learned, 2 of 0 to"), std::string::npos) << run.out;
    }
    for (const char* vector : {"context", "hidden"}) {
      const double norm = json[fmt::format("{}_norm", vector)].get<double>();
      expect_word(words_of_line(run.out, vector, "norm"), fmt::format("{:.3f}", norm));
    }
    for (const Json& score : json["top"]) {
      const auto words = words_of_line(run.out, score["token"].get<std::string>(),
                                       fmt::format("{:.4f}", score["logit"].get<double>()));
      expect_word(words, fmt::format("{:.2f}", 100 * score["probability"].get<double>()));
    }
    EXPECT_NE(run.out.find(fmt::format("entropy: {:.2f} bits", json["entropy_bits"].get<double>())),
              std::string::npos);
    EXPECT_NE(run.out.find(fmt::format("{:.2f} %", 100 * json["other_probability"].get<double>())),
              std::string::npos);
  }
}

TEST(Walk, ALongTextIsShownInPartAndCutWithAWord) {
  const Place place;
  place.add_model();
  const std::string command = "head -c 1500 my.txt | lexirow walk model -";
  const Outcome run = place.run(command);
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.err.find("first 1024 of its 1500 tokens"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("1000 more"), std::string::npos) << run.out;
  EXPECT_LE(printed_lines(run.out).size(), 60U);
  EXPECT_EQ(place.run(command + " --json").json()["cut_at"], 1024);
  const Outcome middle = place.run(command + " --position 500 --without 499");
  EXPECT_NE(middle.out.find("<- walked"), std::string::npos);
  EXPECT_NE(middle.out.find("520 more"), std::string::npos) << middle.out;
}

TEST(Walk, SaysWhatTheRequestDidNotGet) {
  const Place place;
  place.add_model("--tokenizer word --min-count 13");
  EXPECT_NE(place.run("lexirow walk model 'The boat' --top-k 5000").err.find("--top-k 5000"),
            std::string::npos);
  const Outcome unknown = place.run("lexirow walk model 'The zeppelin is' --top-k 5000");
  EXPECT_EQ(unknown.code, 0);
  EXPECT_NE(unknown.err.find("zeppelin"), std::string::npos) << unknown.err;
  EXPECT_NE(unknown.out.find("<unk>"), std::string::npos);
  EXPECT_NE(unknown.err.find("never draws <unk>"), std::string::npos) << unknown.err;
  EXPECT_EQ(place.run("printf 'The boat' | lexirow walk model -").out,
            place.run("lexirow walk model 'The boat'").out);
}

TEST(Walk, RefusesWhatCannotBeWalked) {
  const Place place;
  place.add_model();
  const auto refused = [&](const std::string& arguments, int code, const std::string& said) {
    const Outcome run = place.run("lexirow walk model " + arguments);
    EXPECT_EQ(run.code, code) << arguments << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(said), std::string::npos) << arguments << '\n' << run.err;
  };
  refused("", 2, "TEXT is missing");
  refused("''", 2, "TEXT is empty");
  refused("'boat' --position 4", 1, "position 4 does not exist: the text has 4 tokens");
  refused("'boat' --position -1", 2, "--position -1");
  refused("'boat' --without 1,x", 2, "1,x");
  refused("'boat' --without 9", 1, "left-out position 9");
  refused("'boat' --top-k 0", 2, "--top-k 0");
  refused("'boat' --temperature -1", 2, "--temperature -1");
  refused("'The QX'", 1, "U+0051");
}

}  // namespace
}  // namespace lexirow::cli_test
