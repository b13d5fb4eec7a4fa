#include <gtest/gtest.h>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

using Json = nlohmann::ordered_json;

/// The first two of the project's recorded runs as runs.json, after a change to the first.
template <typename Change>
void write_runs(const Place& place, const Change& change) {
  place.run("cp '" LEXIROW_SOURCE_DIR "/data/pytorch-runs.json' all.json");
  Json runs = Json::parse(place.read("all.json"));
  runs["cases"].erase(runs["cases"].begin() + 2, runs["cases"].end());
  change(runs["cases"][0]);
  place.write("runs.json", runs.dump());
}

void unchanged(Json&) {}

TEST(Replay, JsonHasItsKeysAndNothingElseIsPrinted) {
  const Place place;
  write_runs(place, unchanged);
  const Outcome run = place.run("lexirow replay runs.json --json");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(run.err, "");
  const Json json = run.json();
  EXPECT_EQ(json["passed"], true);
  ASSERT_EQ(json["cases"].size(), 2U);
  for (const Json& each : json["cases"]) {
    EXPECT_EQ(each["passed"], true);
    EXPECT_TRUE(each["name"].is_string());
    EXPECT_GE(each["max_loss_difference"], 0.0);
    EXPECT_LE(each["max_loss_difference"], 2e-6);
    EXPECT_EQ(each["limit"], 2e-5);
    ASSERT_EQ(each["facts"].size(), 4U);
    for (const Json& fact : each["facts"]) EXPECT_EQ(fact["passed"], true) << fact;
  }
  EXPECT_EQ(place.run("lexirow replay runs.json --json --threads 3").out, run.out);
  EXPECT_EQ(place.run("lexirow replay - --json <runs.json").out, run.out);
}

TEST(Replay, PrintsATableAndTheLargestDifference) {
  const Place place;
  write_runs(place, unchanged);
  const std::string out = place.run("lexirow replay runs.json").out;
  for (const char* part : {"case ", "steps", "loss difference", "limit", "result", "bigram",
                           "2e-05", "4 of 4", "passed", "2 cases passed; largest"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << '\n' << out;
  }
}

TEST(Replay, FailsBeyondTheLimitAndSaysWhere) {
  const Place place;
  write_runs(place, [](Json& run) {
    run["losses"][3] = run["losses"][3].get<double>() * (1 + 5e-5);
    run.erase("losses_float64");
    run["first_step"]["logits_0_0"][1] = 7;
  });
  Outcome run = place.run("lexirow replay runs.json");
  EXPECT_EQ(run.code, 1);
  for (const char* part :
       {"FAILED", "3 of 4", "bigram: losses: ", "recorded at step 3",
        "bigram: logits_0_0 in place 1: ", "7 recorded", "1 of 2 cases FAILED"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part << '\n' << run.out;
  }
  run = place.run("lexirow replay runs.json --json");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.json()["passed"], false);
  EXPECT_EQ(run.json()["cases"][0]["passed"], false);
  EXPECT_EQ(run.json()["cases"][1]["passed"], true);
}

TEST(Replay, ToleranceMovesTheLimit) {
  const Place place;
  write_runs(place, [](Json& run) {
    run["losses"][3] = run["losses"][3].get<double>() * (1 + 5e-5);
    run.erase("losses_float64");
  });
  EXPECT_EQ(place.run("lexirow replay runs.json").code, 1);
  EXPECT_EQ(place.run("lexirow replay runs.json --tolerance 1e-4").code, 0);
  EXPECT_EQ(place.run("lexirow replay runs.json --tolerance 1e-12").code, 1);
  EXPECT_EQ(place.run("lexirow replay runs.json --tolerance -1").code, 2);
}

TEST(Replay, ANumberThatIsNoneIsNullInJson) {
  const Place place;
  write_runs(place, [](Json& run) { run["lr"] = 1e30; });
  const Outcome run = place.run("lexirow replay runs.json --json");
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.json()["cases"][0]["max_loss_difference"].is_null()) << run.out;
  EXPECT_NE(place.run("lexirow replay runs.json").out.find("nan"), std::string::npos);
}

TEST(Replay, TellsOfFieldsThatItDoesNotKnow) {
  const Place place;
  write_runs(place, [](Json& run) { run["dampening"] = 0.5; });
  const Outcome run = place.run("lexirow replay runs.json");
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.err.find("runs.json: case \"bigram\": the field dampening"), std::string::npos)
      << run.err;
}

TEST(Replay, RefusesFilesThatItCannotReplay) {
  const Place place;
  const auto refused = [&](const std::string& command, const std::vector<std::string>& said) {
    const Outcome run = place.run(command);
    EXPECT_EQ(run.code, 1) << command;
    EXPECT_EQ(run.out, "");
    for (const std::string& part : said) {
      EXPECT_NE(run.err.find(part), std::string::npos) << part << '\n' << run.err;
    }
  };
  refused("lexirow replay none.json", {"none.json"});
  place.write("runs.json", "loss 1.5");
  refused("lexirow replay runs.json", {"runs.json: not valid JSON"});
  refused("lexirow replay - <runs.json", {"stdin: not valid JSON"});
  write_runs(place, [](Json& run) {
    run["tied"] = true;
    run["padding_idx"] = 0;
  });
  refused("lexirow replay runs.json", {"case \"bigram\"", "tied", "padding_idx"});
  write_runs(place, [](Json& run) { run["dim"] = 2147483648; });
  refused("lexirow replay runs.json", {"runs.json: case \"bigram\"", "GiB"});
}

}  // namespace
}  // namespace lexirow::cli_test
