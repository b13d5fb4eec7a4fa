#include "experiment/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace lexirow::experiment {
namespace {

std::vector<std::string> labels_of(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Tick& tick : axis.ticks()) labels.push_back(tick.label);
  return labels;
}

using Labels = std::vector<std::string>;

TEST(Axis, TicksAreRoundAndHoldTheValues) {
  const Axis axis({.low = 0, .high = 3.3, .most_ticks = 6});
  EXPECT_EQ(labels_of(axis), (Labels{"0", "1", "2", "3", "4"}));
  EXPECT_DOUBLE_EQ(axis.place(0), 0);
  EXPECT_DOUBLE_EQ(axis.place(4), 1);
  EXPECT_DOUBLE_EQ(axis.place(1), 0.25);
}

TEST(Axis, EndsStayWhereTheyAreWhenAsked) {
  const Axis axis({.low = 0, .high = 370, .round_ends = false, .most_ticks = 6});
  EXPECT_EQ(labels_of(axis), (Labels{"0", "100", "200", "300"}));
  EXPECT_DOUBLE_EQ(axis.high(), 370);
}

TEST(Axis, LogarithmicAxisTakesTheValuesOfItsPoints) {
  const Axis axis({.low = 4,
                   .high = 64,
                   .logarithmic = true,
                   .round_ends = false,
                   .own_ticks = {4, 8, 16, 32, 64}});
  EXPECT_EQ(labels_of(axis), (Labels{"4", "8", "16", "32", "64"}));
  EXPECT_NEAR(axis.place(16), 0.5, 1e-12);
}

TEST(Axis, LogarithmicAxisHasPowersOfTen) {
  const Axis axis({.low = 2e-3, .high = 3e4, .logarithmic = true, .most_ticks = 8});
  EXPECT_EQ(labels_of(axis).front(), "0.001");
  EXPECT_EQ(labels_of(axis).back(), "100k");
  EXPECT_GE(axis.place(2e-3), 0);
}

TEST(Axis, LabelsAreShort) {
  EXPECT_EQ(tick_labels({0, 20000, 40000}), (Labels{"0", "20k", "40k"}));
  EXPECT_EQ(tick_labels({0, 500000, 1000000}), (Labels{"0", "0.5M", "1.0M"}));
  EXPECT_EQ(tick_labels({0, 0.25, 0.5}), (Labels{"0.00", "0.25", "0.50"}));
  EXPECT_EQ(tick_labels({-1, 0, 1}), (Labels{"\xE2\x88\x92"
                                             "1",
                                             "0", "1"}));
}

TEST(Axis, AnyPairOfEndsGivesAFewDistinctTicks) {
  const double values[] = {-1e308, -1e15,     -1, -1e-300, 0,           5e-324, 1e-12,  0.3,
                           1,      1 + 1e-15, 7,  1e15,    1e15 + 0.25, 1e300,  1.7e308};
  for (const double low : values) {
    for (const double high : values) {
      if (low > high) continue;
      for (const bool logarithmic : {false, true}) {
        if (logarithmic && low <= 0) continue;
        for (const bool round_ends : {false, true}) {
          const Axis axis(
              {.low = low, .high = high, .logarithmic = logarithmic, .round_ends = round_ends});
          SCOPED_TRACE(testing::Message() << low << " to " << high << " log " << logarithmic);
          const Labels labels = labels_of(axis);
          EXPECT_LE(labels.size(), 9u);
          EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size());
          EXPECT_TRUE(std::isfinite(axis.place(low)) && std::isfinite(axis.place(high)));
          EXPECT_LE(axis.place(low), axis.place(high));
        }
      }
    }
  }
}

}  // namespace
}  // namespace lexirow::experiment
