#include <gtest/gtest.h>

#include "experiment/support.h"

namespace lexirow::experiment {
namespace {

TEST(ScatterExperiment, HoldsOnTheBuiltInTextForEverySeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    expect_holds(run_quick("scatter", tiny_text(), seed));
  }
}

TEST(ScatterExperiment, HasTheFiguresOfNumPy) {
  const std::string text = lantern_bay();
  if (text.empty()) GTEST_SKIP() << "the shared example text is not here";
  const Outcome outcome = run_quick("scatter", text);
  expect_holds(outcome);
  // The order of the sum is NumPy's, so these are equal to the last bit.
  EXPECT_EQ(figure_of(outcome, "loss"), -0.8833979600005486);
  EXPECT_EQ(figure_of(outcome, "largest relative error, added"), 4.3778003942839853e-10);
  EXPECT_NEAR(figure_of(outcome, "largest relative error, assigned"), 1.5627, 5e-5);
  const Table rows = table_of(outcome, "rows");
  std::int64_t repeated = 0;
  for (const auto& row : rows.rows) {
    if (std::get<std::int64_t>(row[2]) > 1) repeated = std::get<std::int64_t>(row[1]);
  }
  EXPECT_EQ(rows.rows.size(), 8U);
  EXPECT_EQ(repeated, 19);
}

TEST(ScatterExperiment, MakesARepeatWhereTheTextHasNone) {
  const Outcome outcome = run_quick("scatter", "xyz");
  expect_holds(outcome);
  EXPECT_NE(outcome.method.find("xyzx"), std::string::npos) << outcome.method;
}

}  // namespace
}  // namespace lexirow::experiment
