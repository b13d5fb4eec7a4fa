#include "generate/choose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "support/expect_error.h"

namespace lexirow::generate {
namespace {

using lexirow::testing::expect_error;

const std::vector<bool> kAll;

// How often each id is drawn.
std::vector<double> shares(const std::vector<float>& logits, const std::vector<bool>& allowed,
                           const ChoiceOptions& options, int draws) {
  base::SplitMix random(5);
  std::vector<double> counts(logits.size(), 0.0);
  for (int i = 0; i < draws; ++i) {
    counts[static_cast<std::size_t>(choose(logits, allowed, options, random))] += 1;
  }
  for (double& count : counts) count /= draws;
  return counts;
}

// TRAIN-14
TEST(Choose, TemperatureZeroIsTheArgMax) {
  base::SplitMix random(1);
  const ChoiceOptions greedy{.temperature = 0};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(choose(std::vector<float>{-3, 5, 1, 5, 2}, kAll, greedy, random), 1);
  }
  EXPECT_EQ(
      choose(std::vector<float>{-3, 5, 1, 5, 2}, {true, false, true, true, true}, greedy, random),
      3);
  // Nothing was drawn.
  base::SplitMix fresh(1);
  EXPECT_EQ(random.next(), fresh.next());
}

TEST(Choose, FollowsTheSoftmax) {
  // figures.md: the softmax of 1 2 3.
  const std::vector<double> one = shares({1, 2, 3}, kAll, {}, 200000);
  EXPECT_NEAR(one[0], 0.09003057, 0.004);
  EXPECT_NEAR(one[1], 0.24472847, 0.004);
  EXPECT_NEAR(one[2], 0.66524096, 0.004);
  const std::vector<double> cold = shares({1, 2, 3}, kAll, {.temperature = 0.5}, 200000);
  EXPECT_NEAR(cold[2], 1 / (1 + std::exp(-2) + std::exp(-4)), 0.004);
  const std::vector<double> hot = shares({1, 2, 3}, kAll, {.temperature = 1e300}, 200000);
  EXPECT_NEAR(hot[0], 1.0 / 3, 0.004);
}

TEST(Choose, ScoresOfAnySizeAreStable) {
  const float huge = std::numeric_limits<float>::max();
  const std::vector<double> share = shares({huge, -huge, huge}, kAll, {}, 2000);
  EXPECT_NEAR(share[0], 0.5, 0.05);
  EXPECT_EQ(share[1], 0);
  EXPECT_EQ(shares({3, 2.999F}, kAll, {.temperature = 1e-300}, 100)[0], 1);
}

TEST(Choose, OnlyAllowedIdsAreDrawn) {
  const std::vector<double> share = shares({9, 1, 1, std::numeric_limits<float>::quiet_NaN()},
                                           {false, true, true, false}, {}, 2000);
  EXPECT_EQ(share[0], 0);
  EXPECT_NEAR(share[1], 0.5, 0.05);
  EXPECT_NEAR(share[2], 0.5, 0.05);
}

TEST(Choose, TopKKeepsTheBestWithTiesById) {
  const std::vector<float> logits = {1, 2, 3, 2, 2};
  const std::vector<double> share = shares(logits, kAll, {.top_k = 3}, 20000);
  EXPECT_EQ(share[0], 0);
  EXPECT_EQ(share[4], 0);
  EXPECT_EQ(share[3] > 0, true);
  EXPECT_NEAR(share[1], share[3], 0.02);
  EXPECT_EQ(shares(logits, kAll, {.top_k = 1}, 100)[2], 1);
}

// TRAIN-15
TEST(Choose, TopKAboveTheVocabularyChangesNothing) {
  const std::vector<float> logits(65, 0.5F);
  base::SplitMix a(3);
  base::SplitMix b(3);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(choose(logits, kAll, {.top_k = 500}, a), choose(logits, kAll, {}, b));
  }
  expect_error(ErrorKind::argument, {"top-k", "-3"}, [] { validate({.top_k = -3}); });
}

TEST(Choose, TopPKeepsTheSmallestSet) {
  // Probabilities 0.5 0.25 0.125 0.125.
  const float log2 = std::log(2.0F);
  const std::vector<float> logits = {-3 * log2, -1 * log2, -3 * log2, -2 * log2};
  const auto kept = [&](double p, std::int64_t k) {
    const std::vector<double> share = shares(logits, kAll, {.top_k = k, .top_p = p}, 5000);
    std::set<std::size_t> ids;
    for (std::size_t i = 0; i < share.size(); ++i) {
      if (share[i] > 0) ids.insert(i);
    }
    return ids;
  };
  EXPECT_EQ(kept(0.01, 0), (std::set<std::size_t>{1}));
  EXPECT_EQ(kept(0.499, 0), (std::set<std::size_t>{1}));
  EXPECT_EQ(kept(0.51, 0), (std::set<std::size_t>{1, 3}));
  // The tie at the end of the set goes to the lower id.
  EXPECT_EQ(kept(0.80, 0), (std::set<std::size_t>{0, 1, 3}));
  EXPECT_EQ(kept(0.90, 0), (std::set<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(kept(1, 0), (std::set<std::size_t>{0, 1, 2, 3}));
  // Of two ids left by top_k the best has 2/3.
  EXPECT_EQ(kept(0.6, 2), (std::set<std::size_t>{1}));
}

TEST(Choose, TopPAgreesWithAFullSort) {
  base::SplitMix random(11);
  std::vector<float> logits(1000);
  for (float& value : logits) value = static_cast<float>(std::floor(random.uniform() * 40) / 4);
  std::vector<Id> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Id a, Id b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  double total = 0;
  for (Id id : order) total += std::exp(static_cast<double>(logits[static_cast<std::size_t>(id)]));
  for (double p : {0.1, 0.5, 0.9}) {
    std::vector<bool> in(logits.size(), false);
    double sum = 0;
    for (Id id : order) {
      if (sum >= p * total) break;
      in[static_cast<std::size_t>(id)] = true;
      sum += std::exp(static_cast<double>(logits[static_cast<std::size_t>(id)]));
    }
    std::vector<bool> drawn(logits.size(), false);
    for (int i = 0; i < 1000; ++i) {
      const Id id = choose(logits, kAll, {.top_p = p}, random);
      EXPECT_TRUE(in[static_cast<std::size_t>(id)]) << id << " at " << p;
      drawn[static_cast<std::size_t>(id)] = true;
    }
    // The best ids all turn up: the set is not too small either.
    EXPECT_TRUE(drawn[static_cast<std::size_t>(order[0])]);
    EXPECT_GT(std::count(drawn.begin(), drawn.end(), true),
              std::count(in.begin(), in.end(), true) / 3);
  }
}

TEST(Choose, OneSeedGivesOneSequence) {
  const std::vector<float> logits = {0.1F, 0.2F, 0.3F, 0.4F};
  base::SplitMix a(42);
  base::SplitMix b(42);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(choose(logits, kAll, {.top_k = 3, .top_p = 0.9}, a),
              choose(logits, kAll, {.top_k = 3, .top_p = 0.9}, b));
  }
}

TEST(Choose, RefusesWhatCannotBeDrawnFrom) {
  base::SplitMix random(1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (double temperature : {0.0, 1.0}) {
    const ChoiceOptions options{.temperature = temperature};
    expect_error(ErrorKind::numeric, {"id 1", "nan"}, [&] {
      choose(std::vector<float>{0, nan}, kAll, options, random);
    });
    expect_error(ErrorKind::numeric, {"id 0", "inf"}, [&] {
      choose(std::vector<float>{infinity, 0}, kAll, options, random);
    });
    expect_error(ErrorKind::numeric, {"none of 2 ids"}, [&] {
      choose(std::vector<float>{0, -infinity}, {false, true}, options, random);
    });
  }
  expect_error(ErrorKind::shape, {"2 scores", "3 flags"}, [&] {
    choose(std::vector<float>{0, 1}, {true, true, true}, {}, random);
  });
}

TEST(Choose, ValidatesOptions) {
  const double nan = std::nan("");
  for (double bad : {-0.1, HUGE_VAL, nan}) {
    expect_error(ErrorKind::argument, {"temperature"}, [&] { validate({.temperature = bad}); });
  }
  for (double bad : {0.0, -0.5, 1.1, nan}) {
    expect_error(ErrorKind::argument, {"top-p"}, [&] { validate({.top_p = bad}); });
  }
  validate({.temperature = 0, .top_k = 0, .top_p = 1});
}

}  // namespace
}  // namespace lexirow::generate
