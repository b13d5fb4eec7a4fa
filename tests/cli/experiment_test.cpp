#include <gtest/gtest.h>

#include <string>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

TEST(Experiment, WritesTheSameResultsEachTimeAndKeepsTimesApart) {
  const Place place;
  ASSERT_EQ(place.run("lexirow experiment one-hot --out a --quick --threads 1").code, 0);
  ASSERT_EQ(place.run("lexirow experiment one-hot --out b --quick --threads 3").code, 0);
  const std::string results = place.read("a/results.json");
  // The command that repeats an experiment names its own folder.
  const auto without_folder = [](std::string json) {
    const auto at = json.find("--out ");
    return json.erase(at, std::string("--out a").size());
  };
  EXPECT_EQ(without_folder(results), without_folder(place.read("b/results.json")));
  EXPECT_EQ(results.find("seconds"), std::string::npos);
  EXPECT_NE(place.read("a/timings.json").find("product, seconds"), std::string::npos);
}

TEST(Experiment, TakesTheVectorsOfDirections) {
  const Place place;
  const auto json =
      place.run("lexirow experiment directions --a 3,4 --b -3,-4 --out r --json").json();
  const auto& figures = json["experiments"][0]["figures"];
  EXPECT_EQ(figures["dot"], -25);
  EXPECT_EQ(figures["cosine"], -1);
  EXPECT_EQ(figures["Euclidean"], 10);
}

TEST(Experiment, RefusesVectorsThatAreNotInThePlane) {
  const Place place;
  for (const std::string vector : {"1", "1,2,3", "nan,1", "inf,0", "1e200,0", "1,x"}) {
    const Outcome run = place.run("lexirow experiment directions --out r --b " + vector);
    EXPECT_EQ(run.code, 2) << vector;
    EXPECT_NE(run.err.find("--b takes"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(vector), std::string::npos) << run.err;
  }
}

TEST(Experiment, RefusesVectorsThatItDoesNotRead) {
  const Place place;
  const Outcome run = place.run("lexirow experiment one-hot --out r --a 1,2");
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("--a is a vector of the experiment directions"), std::string::npos)
      << run.err;
}

TEST(Experiment, SaysWhichTextIsTooShort) {
  const Place place;
  place.write("short.txt", "a");
  const Outcome run = place.run("lexirow experiment padding --out r --text short.txt");
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("short.txt: got 1 byte, expected 500 or more"), std::string::npos)
      << run.err;
  EXPECT_NE(place.run("ls r").code, 0) << "no empty report stays";
}

}  // namespace
}  // namespace lexirow::cli_test
