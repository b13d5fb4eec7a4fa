#include "experiment/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lexirow::experiment {
namespace {

TEST(PairwiseSum, AddsInNumPysOrder) {
  // numpy.sum of 1 / (i + 1) for these lengths; adding in order gives other last bits.
  struct Case {
    std::size_t size;
    double sum;
  };
  for (const Case& each : {Case{5, 2.283333333333333}, Case{128, 5.433147092589173},
                           Case{129, 5.440899030573669}, Case{1000, 7.485470860550345}}) {
    std::vector<double> values(each.size);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / static_cast<double>(i + 1);
    EXPECT_EQ(pairwise_sum(values), each.sum) << each.size;
  }
  EXPECT_EQ(pairwise_sum({}), 0);
}

TEST(MeanOf, OfNothingIsNoNumber) {
  EXPECT_TRUE(std::isnan(mean_of({})));
  EXPECT_EQ(mean_of(std::vector<double>{1, 2, 6}), 3);
}

TEST(RandomOrder, HoldsEveryPlaceOnceAndDependsOnTheSeed) {
  std::vector<std::size_t> order = random_order(50, 7);
  EXPECT_EQ(order, random_order(50, 7));
  EXPECT_NE(order, random_order(50, 8));
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
  EXPECT_TRUE(random_order(0, 1).empty());
}

/// Two groups of things; pairs within a group are marked.
struct Groups {
  static constexpr std::size_t kSize = 16;
  std::vector<double> values = std::vector<double>(kSize * kSize);
  std::vector<std::uint8_t> marked = std::vector<std::uint8_t>(kSize * kSize);

  explicit Groups(double within) {
    const std::vector<std::size_t> noise = random_order(kSize * kSize, 3);
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool same = i % 2 == j % 2;
        const double value =
            static_cast<double>(noise[i * kSize + j]) / (kSize * kSize) + (same ? within : 0);
        values[i * kSize + j] = values[j * kSize + i] = value;
        marked[i * kSize + j] = marked[j * kSize + i] = same;
      }
    }
  }
};

TEST(PermutationTest, FindsWhatIsThereAndOnlyThat) {
  const Groups apart(2);
  const PairTest found = permutation_test(apart.values, apart.marked, Groups::kSize, 199, 1);
  EXPECT_EQ(found.marked_pairs, 56);
  EXPECT_EQ(found.other_pairs, 64);
  EXPECT_GT(found.marked_mean - found.other_mean, 1.5);
  // Exchanges within the groups, and of the groups, give the observed means again: rarely drawn.
  EXPECT_LE(found.p_value, 2.0 / 200);
  const Groups alike(0);
  EXPECT_GT(permutation_test(alike.values, alike.marked, Groups::kSize, 199, 1).p_value, 0.05);
  const Groups below(-2);
  EXPECT_GT(permutation_test(below.values, below.marked, Groups::kSize, 199, 1).p_value, 0.9);
}

TEST(PermutationTest, SaysNothingWithoutBothKindsOfPairs) {
  const Groups groups(2);
  const std::vector<std::uint8_t> none(groups.marked.size(), 0);
  EXPECT_EQ(permutation_test(groups.values, none, Groups::kSize, 19, 1).p_value, 1);
  EXPECT_EQ(permutation_test({}, {}, 0, 19, 1).p_value, 1);
}

}  // namespace
}  // namespace lexirow::experiment
