#include <gtest/gtest.h>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSmall = " --vocab-size 50 --dim 8 --batch 2 --context 4 --seconds 0";

TEST(Bench, JsonHasItsKeys) {
  const Place place;
  const Outcome run =
      place.run("lexirow bench step" + std::string(kSmall) + " --hidden 8 --clip 1 --json");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const Json json = run.json();
  EXPECT_EQ(json["case"], "step");
  EXPECT_GT(json["seconds"], 0.0);
  EXPECT_GE(json["spread"], 0.0);
  EXPECT_EQ(json["tokens"], 8);
  EXPECT_NEAR(json["tokens_per_second"].get<double>(), 8 / json["seconds"].get<double>(), 1);
  EXPECT_GT(json["peak_memory_bytes"], 1 << 20);
  EXPECT_EQ(json["limit"], "matrix rate");
  EXPECT_GT(json["limit_per_second"], 0.0);
  EXPECT_GT(json["share_of_limit"], 0.0);
}

TEST(Bench, SaysWhatItTimedAndAgainstWhat) {
  const Place place;
  const std::string out = place.run("lexirow bench lookup" + std::string(kSmall)).out;
  for (const char* part : {"lookup: ", "the median of 5 repetitions", "tokens/s",
                           "copy bandwidth (", "GB/s", "peak memory"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << '\n' << out;
  }
}

TEST(Bench, TimesATokenizerOnAText) {
  const Place place;
  place.write("text.txt", "one two three two one");
  const Outcome run =
      place.run("lexirow bench tokenize --text text.txt --tokenizer byte --seconds 0 --json");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["tokens"], 21);
  EXPECT_EQ(run.json()["limit"], nullptr);
}

TEST(Bench, RefusesWhatWouldMislead) {
  const Place place;
  const auto refused = [&](const std::string& rest, const std::string& part) {
    const Outcome run = place.run("lexirow bench " + rest);
    EXPECT_EQ(run.code, 2) << rest;
    EXPECT_NE(run.err.find(part), std::string::npos) << rest << '\n' << run.err;
  };
  refused("lookups", "Did you mean lookup?");
  refused("lookup --hidden 4", "--hidden changes nothing in the case lookup");
  refused("mixer --mixer sideways", "sideways");
  refused("step --optimizer newton", "newton");
  refused("step --dim 0", "--dim");
  refused("tokenize", "--text FILE");
}

}  // namespace
}  // namespace lexirow::cli_test
