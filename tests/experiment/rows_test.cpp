// The experiments on the table itself: blocks, counts, ids, one-hot, sizes, padding.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "experiment/support.h"
#include "support/expect_error.h"

namespace lexirow::experiment {
namespace {

TEST(BlocksExperiment, HoldsAndHasTheIdsOfTheExampleText) {
  expect_holds(run_quick("blocks"));
  const std::string text = lantern_bay();
  if (text.empty()) GTEST_SKIP() << "the shared example text is not here";
  const Outcome outcome = run_quick("blocks", text);
  expect_holds(outcome);
  const Table block = table_of(outcome, "block");
  ASSERT_EQ(block.rows.size(), 4U);
  EXPECT_EQ(std::get<std::string>(block.rows[0][2]), "19 9 6 0 12 2 13 16");
  EXPECT_EQ(std::get<std::string>(block.rows[3][2]), "6 0 18 9 15 17 6 0");
  const Table shapes = table_of(outcome, "shapes");
  EXPECT_EQ(std::get<std::string>(shapes.rows[2][1]), "[4, 8, 8]");
  EXPECT_EQ(std::get<std::string>(shapes.rows.back()[1]), "[24, 8]");
}

TEST(CountsExperiment, HoldsAndCountsTheLettersOfTheText) {
  const std::string text = "abracadabra";
  const Outcome outcome = run_quick("counts", text);
  expect_holds(outcome);
  const Table rows = table_of(outcome, "rows");
  ASSERT_EQ(rows.rows.size(), 5U);
  for (const auto& row : rows.rows) {
    const auto count = std::count(text.begin(), text.end(), std::get<std::string>(row[0])[0]);
    EXPECT_EQ(std::get<std::int64_t>(row[2]), count);
    EXPECT_EQ(std::get<double>(row[3]), static_cast<double>(count));
  }
  expect_holds(run_quick("counts"));
}

TEST(IdsExperiment, HoldsForEverySeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    expect_holds(run_quick("ids", tiny_text(), seed));
  }
}

TEST(IdsExperiment, DoesNotHoldWhereThereIsNothingToExchange) {
  EXPECT_FALSE(run_quick("ids", std::string(40, 'a')).holds());
}

TEST(OneHotExperiment, HoldsAndSaysWhatAnInfinityDoes) {
  const Outcome outcome = run_quick("one-hot");
  expect_holds(outcome);
  EXPECT_GT(figure_of(outcome, "values of the product that an infinity in an unread row spoils"),
            0);
  EXPECT_EQ(figure_of(outcome, "values of the lookup that it spoils"), 0);
  for (const auto& row : table_of(outcome, "by_hand").rows) {
    EXPECT_EQ(std::get<std::string>(row[1]), "0.4");
    EXPECT_EQ(std::get<std::string>(row[2]), "0.6");
  }
  EXPECT_EQ(outcome.measured_tables.size(), 1U);
}

TEST(SizesExperiment, HoldsAndHasTheKnownSizes) {
  const Outcome outcome = run_quick("sizes");
  expect_holds(outcome);
  const std::string one = "4096x256, 1 table, AdamW: ";
  const std::string two = "4096x256, 2 tables, AdamW: ";
  EXPECT_EQ(figure_of(outcome, one + "parameters"), 1048576);
  EXPECT_EQ(figure_of(outcome, one + "weights, MiB"), 4);
  EXPECT_EQ(figure_of(outcome, two + "weights, MiB"), 8);
  EXPECT_EQ(figure_of(outcome, one + "training, MiB"), 16);
  EXPECT_EQ(figure_of(outcome, two + "training with dense gradients, MiB"), 32);
  EXPECT_EQ(figure_of(outcome, "50257x256, 1 table, AdamW: parameters"), 50257 * 256);
}

TEST(PaddingExperiment, HoldsForEverySeedAndShowsEverySetting) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Outcome outcome = run_quick("padding", tiny_text(), seed);
    expect_holds(outcome);
    EXPECT_EQ(table_of(outcome, "settings").rows.size(), 32U);
  }
}

TEST(PaddingExperiment, NeedsATokenToReadAndOneToPredict) {
  testing::expect_error(ErrorKind::file, {"2 at least are needed"},
                        [] { run_quick("padding", "a"); });
  expect_holds(run_quick("padding", "ab"));
}

}  // namespace
}  // namespace lexirow::experiment
