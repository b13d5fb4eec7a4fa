// The experiments on what rows come to mean: directions, tying, similarity, coordinates.

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "experiment/support.h"

namespace lexirow::experiment {
namespace {

Outcome run_directions_of(const std::vector<double>& a, const std::vector<double>& b) {
  base::ThreadPool pool(1);
  Setting setting{.pool = pool, .quick = true, .text = tiny_text()};
  setting.a = a;
  setting.b = b;
  return find_experiment("directions").run(setting);
}

bool has_cosine(const Outcome& outcome) {
  for (const Figure& figure : outcome.figures) {
    if (figure.name == "cosine") return true;
  }
  return false;
}

TEST(DirectionsExperiment, HasTheKnownFigures) {
  const Outcome outcome = run_directions_of({1, 0}, {2, 0});
  expect_holds(outcome);
  EXPECT_EQ(figure_of(outcome, "dot"), 2);
  EXPECT_EQ(figure_of(outcome, "length of a"), 1);
  EXPECT_EQ(figure_of(outcome, "length of b"), 2);
  EXPECT_EQ(figure_of(outcome, "cosine"), 1);
  EXPECT_EQ(figure_of(outcome, "Euclidean"), 1);
  EXPECT_EQ(figure_of(run_directions_of({1, 0}, {-2, 0}), "cosine"), -1);
  EXPECT_EQ(figure_of(run_directions_of({1, 0}, {0, 3}), "cosine"), 0);
}

TEST(DirectionsExperiment, HoldsForAnyVectors) {
  const double values[] = {0, -1, 0.1, 3, 1e-100, -1e100};
  for (double x : values) {
    for (double y : values) expect_holds(run_directions_of({x, y}, {0.7, -y}));
  }
}

TEST(DirectionsExperiment, LeavesTheCosineOfAZeroVectorOut) {
  for (const Outcome& outcome :
       {run_directions_of({0, 0}, {1, 2}), run_directions_of({1, 2}, {0, 0}),
        run_directions_of({0, 0}, {0, 0})}) {
    expect_holds(outcome);
    EXPECT_FALSE(has_cosine(outcome));
    EXPECT_NE(outcome.reading.find("no direction"), std::string::npos) << outcome.reading;
  }
}

TEST(TyingExperiment, HoldsForEverySeed) {
  for (std::uint64_t seed : {1U, 4U}) expect_holds(run_quick("tying", tiny_text(), seed));
}

TEST(TyingExperiment, CountsMemoryAndRows) {
  const Outcome outcome = run_quick("tying");
  const Table memory = table_of(outcome, "memory");
  ASSERT_EQ(memory.rows.size(), 2U);
  EXPECT_EQ(std::get<double>(memory.rows[0][5]), 16);
  EXPECT_EQ(std::get<double>(memory.rows[1][5]), 32);
  // As a head, the table gets gradient in every row, those of absent tokens too.
  const TextIds text = encode_readably(tiny_text());
  const std::string of =
      " rows of the table with gradient, of " + std::to_string(text.vocab_size());
  EXPECT_EQ(figure_of(outcome, "tied:" + of), static_cast<double>(text.vocab_size()));
  EXPECT_LT(figure_of(outcome, "untied:" + of), static_cast<double>(text.vocab_size()));
}

TEST(SimilarityExperiment, HoldsForEverySeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Outcome outcome = run_quick("similarity", tiny_text(), seed);
    expect_holds(outcome);
    EXPECT_EQ(outcome.pictures.size(), 2U);
  }
}

TEST(SimilarityExperiment, DoesNotHoldWhereNothingIsShared) {
  // Every letter has one successor of its own.
  std::string text;
  for (int i = 0; i < 40; ++i) text += "abcdefghij";
  const Outcome outcome = run_quick("similarity", text);
  EXPECT_FALSE(outcome.holds());
  EXPECT_EQ(figure_of(outcome, "pairs that share contexts"), 0);
}

TEST(CoordinatesExperiment, HoldsForEverySeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    expect_holds(run_quick("coordinates", tiny_text(), seed));
  }
}

TEST(CoordinatesExperiment, DoesNotHoldForOneToken) {
  EXPECT_FALSE(run_quick("coordinates", std::string(40, 'a')).holds());
}

}  // namespace
}  // namespace lexirow::experiment
