// What experiments make of texts that users have: a verdict or an Error, and the same one each
// time.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/support.h"
#include "lexirow/error.h"

namespace lexirow::experiment {
namespace {

/// Those that read the text, or draw from the seed.
const std::vector<std::string> kNames = {"blocks",  "ids",   "scatter",    "counts",
                                         "padding", "tying", "similarity", "coordinates"};

void expect_numbers(const std::string& name, const Outcome& outcome) {
  for (const Figure& figure : outcome.figures) {
    EXPECT_TRUE(std::isfinite(figure.value)) << name << ": " << figure.name;
  }
  for (const Condition& each : outcome.conditions) {
    EXPECT_TRUE(std::isfinite(each.figure)) << name << ": " << each.text;
  }
  EXPECT_FALSE(outcome.method.empty()) << name;
  EXPECT_FALSE(outcome.reading.empty()) << name;
}

TEST(TextsOfUsers, GiveAVerdictOrAnError) {
  const std::string texts[] = {
      "thirty characters of a text, so.",
      "word",
      "aa",
      "\xE5\xB1\xB1\xE9\xAB\x98\xE6\xB0\xB4\xE9\x95\xBF\xEF\xBC\x8C\xE6\xB0\xB4\xE6\xB8\x85\xE5\xB1"
      "\xB1\xE7\xA7\x80\xE3\x80\x82\xE5\xB1\xB1\xE6\xB0\xB4\xE7\x9B\xB8\xE4\xBE\x9D\xE3\x80\x82",
      "   \n\n  \n",
      std::string("nul \0 and \xFF\xFE bad bytes", 22),
      "x",
      "",
  };
  for (const std::string& text : texts) {
    for (const std::string& name : kNames) {
      try {
        expect_numbers(name, run_quick(name, text));
      } catch (const Error& error) {
        EXPECT_LT(text.size(), 5U) << name << ": " << error.what();
      }
    }
  }
}

TEST(TextsOfUsers, OfALongOneTheBeginningIsUsedAndThatIsSaid) {
  std::string text;
  while (text.size() < 2 * kMostTextBytes) text += "\xE2\x82\xAC and other coins; ";
  const TextIds ids = encode_text(text, text::TokenizerKind::character);
  EXPECT_LE(ids.size(), static_cast<std::int64_t>(kMostTextBytes));
  EXPECT_FALSE(ids.tokenizer->find("\xEF\xBF\xBD").has_value());
  EXPECT_NE(run_quick("blocks", text).method.find(ids.note), std::string::npos);
  EXPECT_FALSE(ids.note.empty());
}

TEST(Outcomes, AreTheSameForAnyNumberOfThreads) {
  for (const std::string& name : kNames) {
    std::string first;
    for (int threads : {1, 2, 4}) {
      base::ThreadPool pool(threads);
      const Setting setting{.pool = pool, .quick = true, .text = tiny_text()};
      const std::string json = figures_to_json(find_experiment(name).run(setting)).dump();
      if (first.empty()) first = json;
      EXPECT_EQ(json, first) << name << " on " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace lexirow::experiment
