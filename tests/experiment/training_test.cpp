// The experiments that train a small model: the light ones. The others are in tests/acceptance/.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiment/rank_correlation.h"
#include "experiment/support.h"
#include "lexirow/error.h"

namespace lexirow::experiment {
namespace {

TEST(TrainingExperiments, HoldOnTheBuiltInTextForAnySeed) {
  for (const char* name : {"row-gradients", "rare-rows", "same-word", "no-future", "positions"}) {
    for (std::uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(name + std::string(", seed ") + std::to_string(seed));
      expect_holds(run_quick(name, tiny_text(), seed));
    }
  }
}

TEST(TrainingExperiments, GiveTheSameFiguresOnAnyNumberOfThreads) {
  for (const char* name : {"rare-rows", "same-word"}) {
    std::vector<std::string> figures;
    for (int threads : {1, 2, 4}) {
      base::ThreadPool pool(threads);
      const Setting setting{.pool = pool, .quick = true, .text = tiny_text()};
      figures.push_back(figures_to_json(find_experiment(name).run(setting)).dump());
    }
    EXPECT_EQ(figures[0], figures[1]) << name;
    EXPECT_EQ(figures[0], figures[2]) << name;
  }
}

TEST(RareRowsExperiment, DoesNotHoldWhereEveryTokenIsAsCommon) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "abcd";
  EXPECT_FALSE(run_quick("rare-rows", text).holds());
}

TEST(SameWordExperiment, SaysWhenNoTokenStandsInTwoPlaces) {
  try {
    run_quick("same-word", "abcdefgh");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("longer text"), std::string::npos) << error.what();
  }
}

TEST(RankCorrelation, HasTheKnownValues) {
  const std::vector<double> up = {1, 2, 3, 4, 5};
  const std::vector<double> down = {9, 7, 5, 3, 1};
  EXPECT_DOUBLE_EQ(rank_correlation(up, up, 99, 1).rho, 1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, down, 99, 1).rho, -1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, down, 99, 1).p_value, 1);
  // By hand: ranks 1, 2.5, 2.5, 4 against 1, 2, 4, 3 give 3 / sqrt(4.5 * 5).
  const std::vector<double> x = {1, 2, 2, 3};
  const std::vector<double> y = {10, 20, 40, 30};
  EXPECT_NEAR(rank_correlation(x, y, 9, 1).rho, 3 / std::sqrt(4.5 * 5), 1e-12);
}

TEST(RankCorrelation, HasNoValueWhereNothingVaries) {
  const std::vector<double> flat = {2, 2, 2};
  const std::vector<double> up = {1, 2, 3};
  const RankCorrelation result = rank_correlation(flat, up, 9, 1);
  EXPECT_TRUE(std::isnan(result.rho));
  EXPECT_EQ(result.p_value, 1);
}

}  // namespace
}  // namespace lexirow::experiment
