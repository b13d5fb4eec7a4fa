#include "text/bpe_merging.h"

#include <map>

#include "text_support.h"

namespace lexirow::text {
namespace {

using Merges = std::map<std::pair<Id, Id>, PairMerge>;

/// The rule as it is written: the lowest rank, of equal ones the leftmost, until none is left.
std::vector<ModelToken> by_the_rule(const Merges& merges, std::vector<ModelToken> symbols) {
  while (true) {
    std::size_t best = 0;
    PairMerge merge;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = merges.find({symbols[i].id, symbols[i + 1].id});
      if (found == merges.end() || found->second.rank >= merge.rank) continue;
      best = i;
      merge = found->second;
    }
    if (merge.rank == PairMerge::kNone) return symbols;
    symbols[best].id = merge.result;
    symbols[best].length += symbols[best + 1].length;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(BpeMerging, EqualsTheRuleForAnyMerges) {
  std::mt19937 engine(11);
  for (int round = 0; round < 2000; ++round) {
    // Merges in no order at all: a pair may have a lower rank than those that make its parts, and
    // several pairs the same.
    Merges merges;
    const int letters = 1 + static_cast<int>(engine() % 4);
    const int made = static_cast<int>(engine() % 20);
    const bool ties = round % 3 == 0;
    for (int i = 0; i < made; ++i) {
      const auto any = [&] {
        return static_cast<Id>(engine() % static_cast<unsigned>(letters + i));
      };
      const auto rank = static_cast<std::int32_t>(ties ? engine() % 4 : engine() % 1000);
      merges[{any(), any()}] = {rank, letters + i};
    }
    PairTable table(merges.size());
    for (const auto& [pair, merge] : merges) table.set(pair.first, pair.second, merge);

    std::vector<ModelToken> symbols;
    const std::size_t size = round % 2 == 0 ? engine() % 40 : 40 + engine() % 200;
    for (std::size_t i = 0; i < size; ++i) {
      symbols.push_back({static_cast<Id>(engine() % static_cast<unsigned>(letters)),
                         1 + static_cast<std::uint32_t>(engine() % 3)});
    }
    const std::vector<ModelToken> expected = by_the_rule(merges, symbols);
    symbols.insert(symbols.begin(), {7, 7});  // what stands before `first` stays
    merge_symbols(table, symbols, 1);
    ASSERT_EQ(symbols.size(), expected.size() + 1);
    EXPECT_EQ(symbols[0].id, 7);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(symbols[i + 1].id, expected[i].id);
      EXPECT_EQ(symbols[i + 1].length, expected[i].length);
    }
  }
}

// TOK-1. Each merge makes the next one possible, at a lower rank: the order that is worst for a
// sorted list of places.
TEST(BpeMerging, LongRunsTakeAboutLinearTime) {
  PairTable table(3);
  table.set(0, 1, {5, 2});
  table.set(2, 0, {1, 3});
  table.set(3, 3, {9, 4});
  std::vector<ModelToken> symbols;
  for (int i = 0; i < 1000000; ++i) symbols.push_back({i % 3 == 1 ? 1 : 0, 1});
  merge_symbols(table, symbols, 0);
  // Pairs of threes, a three over, and the last symbol.
  EXPECT_EQ(symbols.size(), 166668u);
  EXPECT_EQ(symbols[0].id, 4);
  EXPECT_EQ(symbols[0].length, 6u);
}

}  // namespace
}  // namespace lexirow::text
