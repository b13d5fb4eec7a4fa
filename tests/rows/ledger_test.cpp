#include "rows/ledger.h"

#include <gtest/gtest.h>

namespace lexirow::rows {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(Ledger, CountsOccurrencesUpdatesAndLastSteps) {
  Ledger ledger(5);
  EXPECT_EQ(ledger.vocab_size(), 5);
  const std::vector<Id> first = {1, 3, 1, 4};
  const std::vector<std::uint8_t> mask = {1, 1, 1, 0};
  ledger.record({first.data(), {4}}, {mask.data(), {4}}, 1);
  const std::vector<Id> second = {3, 0};
  ledger.record({second.data(), {2}}, {}, 7);
  EXPECT_EQ(ledger.occurrences, (Counts{1, 2, 0, 2, 0}));
  EXPECT_EQ(ledger.updates, (Counts{1, 1, 0, 2, 0}));
  EXPECT_EQ(ledger.last_step, (Counts{7, 1, 0, 7, 0}));
}

TEST(Ledger, StartsWithNothing) {
  const Ledger ledger(3);
  EXPECT_EQ(ledger.occurrences, (Counts{0, 0, 0}));
  EXPECT_EQ(ledger.updates, (Counts{0, 0, 0}));
  EXPECT_EQ(ledger.last_step, (Counts{0, 0, 0}));
  EXPECT_EQ(Ledger().vocab_size(), 0);
}

}  // namespace
}  // namespace lexirow::rows
