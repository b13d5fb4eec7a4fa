#include "loss/head_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "logits/linear.h"
#include "support/gradient_check.h"

namespace lexirow::loss {
namespace {

using base::View1;
using base::View2;

constexpr Id kSkippedLabel = kIgnoredLabel;

struct HeadSizes {
  std::int64_t n;
  std::int64_t vocabulary;
  std::int64_t width;
  Id excluded = kNoId;
  int ignore_every = 0;  ///< every so manieth label is ignored
  bool with_bias = true;
};

std::string describe(const HeadSizes& size) {
  return "N " + std::to_string(size.n) + " V " + std::to_string(size.vocabulary) + " D " +
         std::to_string(size.width) + " excluded " + std::to_string(size.excluded) + " ignored " +
         std::to_string(size.ignore_every);
}

/// Seeded values of a head and its gradients (zero at first).
template <Real T>
struct Head {
  explicit Head(const HeadSizes& at)
      : size(at),
        d_hidden(count(at.n)),
        d_weight(count(at.vocabulary)),
        d_bias(static_cast<std::size_t>(at.vocabulary)) {
    hidden = values(1, at.n * at.width);
    weight = values(2, at.vocabulary * at.width);
    bias = values(3, at.vocabulary);
    for (std::int64_t i = 0; i < at.n; ++i) {
      auto label = static_cast<Id>((i * 31 + 5) % at.vocabulary);
      if (label == at.excluded) label = static_cast<Id>((label + 1) % at.vocabulary);
      if (at.ignore_every > 0 && i % at.ignore_every == 1) label = kSkippedLabel;
      labels.push_back(label);
    }
  }

  std::size_t count(std::int64_t rows) const { return static_cast<std::size_t>(rows * size.width); }
  /// Rounded to float, so that both types start from the same numbers.
  static std::vector<T> values(std::uint32_t seed, std::int64_t size) {
    std::vector<T> result;
    for (double v : testing::normal_values(seed, size)) {
      result.push_back(static_cast<T>(static_cast<float>(v)));
    }
    return result;
  }
  View2<T> view(std::vector<T>& of, std::int64_t rows) { return {of.data(), {rows, size.width}}; }
  View1<const T> bias_view() {
    return size.with_bias ? View1<const T>(bias.data(), {size.vocabulary}) : View1<const T>();
  }
  View1<T> d_bias_view() {
    return size.with_bias ? View1<T>(d_bias.data(), {size.vocabulary}) : View1<T>();
  }
  View1<const Id> labels_view() { return {labels.data(), {size.n}}; }

  LossSum forward(base::ThreadPool& pool) {
    losses.assign(static_cast<std::size_t>(size.n), std::numeric_limits<T>::quiet_NaN());
    return head_loss_forward<T>(pool, view(hidden, size.n), view(weight, size.vocabulary),
                                bias_view(), labels_view(), size.excluded,
                                {losses.data(), {size.n}}, workspace);
  }
  LossSum fused(base::ThreadPool& pool, T scale) {
    return head_loss_forward_backward<T>(pool, view(hidden, size.n), view(weight, size.vocabulary),
                                         bias_view(), labels_view(), size.excluded, scale,
                                         view(d_hidden, size.n), view(d_weight, size.vocabulary),
                                         d_bias_view(), workspace);
  }
  /// The same through the pairs that hold all logits.
  LossSum unfused(base::ThreadPool& pool, T scale) {
    const std::int64_t n = size.n;
    const std::int64_t vocabulary = size.vocabulary;
    std::vector<T> logits(static_cast<std::size_t>(n * vocabulary));
    std::vector<T> d_logits(logits.size());
    std::vector<T> log_sum_exp(static_cast<std::size_t>(n));
    losses.assign(static_cast<std::size_t>(n), std::numeric_limits<T>::quiet_NaN());
    logits::linear_forward<T>(pool, view(hidden, n), view(weight, vocabulary), bias_view(),
                              {logits.data(), {n, vocabulary}});
    const LossSum loss =
        cross_entropy_forward<T>(pool, {logits.data(), {n, vocabulary}}, labels_view(),
                                 size.excluded, {log_sum_exp.data(), {n}}, {losses.data(), {n}});
    cross_entropy_backward<T>(pool, {logits.data(), {n, vocabulary}}, labels_view(), size.excluded,
                              {log_sum_exp.data(), {n}}, scale, {d_logits.data(), {n, vocabulary}});
    logits::linear_backward<T>(pool, view(hidden, n), view(weight, vocabulary),
                               {d_logits.data(), {n, vocabulary}}, view(d_hidden, n),
                               view(d_weight, vocabulary), d_bias_view());
    return loss;
  }
  std::vector<std::vector<T>*> gradients() { return {&d_hidden, &d_weight, &d_bias}; }
  std::vector<std::vector<T>*> values() { return {&hidden, &weight, &bias}; }

  HeadSizes size;
  std::vector<T> hidden, weight, bias, losses, d_hidden, d_weight, d_bias;
  std::vector<Id> labels;
  HeadLossWorkspace<T> workspace;
};

/// One token, width 1, odd sizes, ignored labels, an excluded id, no bias.
const HeadSizes kSmall[] = {{1, 1, 1},
                            {1, 5, 1},
                            {1, 3, 4, 0},
                            {5, 7, 3, 6, 2},
                            {9, 11, 5, kNoId, 3},
                            {4, 6, 1, 2, 4, false},
                            {3, 2050, 1, 2049}};

TEST(HeadLoss, GradientsAreThoseOfCentralDifferences) {
  base::ThreadPool pool(2);
  const double scale = 0.7;
  for (const HeadSizes& size : kSmall) {
    Head<double> head(size);
    const double loss = head.fused(pool, scale).sum;
    EXPECT_NEAR(loss, head.forward(pool).sum, 1e-12 * (1 + loss)) << describe(size);
    if (size.vocabulary > 100) continue;  // the next test covers it
    const char* names[] = {"hidden", "weight", "bias"};
    for (std::size_t i = 0; i < (size.with_bias ? 3U : 2U); ++i) {
      std::vector<double>& value = *head.values()[i];
      const auto entries = static_cast<std::int64_t>(value.size());
      testing::expect_gradient(describe(size) + " " + names[i], {value.data(), {entries}},
                               {head.gradients()[i]->data(), {entries}},
                               [&] { return scale * head.forward(pool).sum; });
    }
  }
}

/// Several groups of tokens, chunks, panels of the vocabulary, with and without surplus.
const HeadSizes kLarge[] = {{700, 65, 33, kNoId, 5}, {1100, 24, 16},
                            {37, 2049, 9, 2048, 4},  {300, 5000, 12, 7, 3},
                            {600, 9000, 8, 4000, 0}, {3, 4097, 6, kNoId, 0, false}};

TEST(HeadLoss, FusedAgreesWithUnfused) {
  base::ThreadPool pool(2);
  for (std::size_t c = 0; c < std::size(kSmall) + std::size(kLarge); ++c) {
    const HeadSizes& size = c < std::size(kSmall) ? kSmall[c] : kLarge[c - std::size(kSmall)];
    Head<double> fused(size);
    Head<double> unfused(size);
    const LossSum got = fused.fused(pool, 0.25);
    const LossSum expected = unfused.unfused(pool, 0.25);
    EXPECT_NEAR(got.sum, expected.sum, 1e-12 * (1 + expected.sum)) << describe(size);
    EXPECT_EQ(got.counted, expected.counted) << describe(size);
    EXPECT_EQ(got.total, expected.total) << describe(size);
    for (std::size_t t = 0; t < 3; ++t) {
      for (std::size_t i = 0; i < fused.gradients()[t]->size(); ++i) {
        const double value = (*unfused.gradients()[t])[i];
        ASSERT_NEAR((*fused.gradients()[t])[i], value, 1e-12 * (1 + std::abs(value)))
            << describe(size) << " tensor " << t << " entry " << i;
      }
    }
    EXPECT_EQ(fused.forward(pool).sum, got.sum) << describe(size);
    for (std::size_t i = 0; i < fused.losses.size(); ++i) {
      ASSERT_NEAR(fused.losses[i], unfused.losses[i], 1e-12 * (1 + unfused.losses[i]));
    }
  }
}

TEST(HeadLoss, FloatAgreesWithDouble) {
  base::ThreadPool pool(2);
  for (const HeadSizes& size : kLarge) {
    Head<float> narrow(size);
    Head<double> wide(size);
    const double got = narrow.fused(pool, 0.25F).sum;
    EXPECT_NEAR(got / wide.fused(pool, 0.25).sum, 1.0, 1e-6) << describe(size);
    // 3e-6 of the tensor's largest entry.
    for (std::size_t t = 0; t < 3; ++t) {
      double largest = 0;
      for (double v : *wide.gradients()[t]) largest = std::max(largest, std::abs(v));
      for (std::size_t i = 0; i < wide.gradients()[t]->size(); ++i) {
        ASSERT_NEAR(static_cast<double>((*narrow.gradients()[t])[i]), (*wide.gradients()[t])[i],
                    3e-6 * largest)
            << describe(size) << " tensor " << t;
      }
    }
  }
}

TEST(HeadLoss, BackwardAddsToWhatIsThere) {
  base::ThreadPool pool(2);
  for (const HeadSizes& size : {kLarge[0], kLarge[3]}) {
    Head<double> once(size);
    Head<double> twice(size);
    once.fused(pool, 1.0);
    twice.fused(pool, 1.0);
    twice.fused(pool, 1.0);
    for (std::size_t t = 0; t < 3; ++t) {
      for (std::size_t i = 0; i < once.gradients()[t]->size(); ++i) {
        const double expected = 2 * (*once.gradients()[t])[i];
        ASSERT_NEAR((*twice.gradients()[t])[i], expected, 1e-12 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(HeadLoss, SameBytesForAnyThreads) {
  for (const HeadSizes& size : kLarge) {
    base::ThreadPool alone(1);
    Head<float> reference(size);
    const double loss = reference.fused(alone, 0.5F).sum;
    reference.forward(alone);
    for (int threads : {2, 4}) {
      base::ThreadPool pool(threads);
      Head<float> head(size);
      EXPECT_EQ(head.fused(pool, 0.5F).sum, loss) << describe(size);
      for (std::size_t t = 0; t < 3; ++t) {
        EXPECT_EQ(*head.gradients()[t], *reference.gradients()[t]) << describe(size);
      }
      head.forward(pool);
      EXPECT_EQ(head.losses, reference.losses) << describe(size);
    }
  }
}

// LOSS-1
TEST(HeadLoss, AllLabelsIgnoredIsZeroOfNAndMovesNothing) {
  base::ThreadPool pool(2);
  Head<float> head({5, 7, 3});
  head.labels.assign(5, kSkippedLabel);
  for (const LossSum& loss : {head.fused(pool, 1.0F), head.forward(pool)}) {
    EXPECT_EQ(loss.sum, 0.0);
    EXPECT_EQ(loss.counted, 0);
    EXPECT_EQ(loss.total, 5);
  }
  EXPECT_EQ(head.losses, std::vector<float>(5));
  for (const auto* gradient : head.gradients()) {
    EXPECT_EQ(*gradient, std::vector<float>(gradient->size()));
  }
}

// LOSS-3: sequences of 6, 2 and 0 tokens in a batch of 3 x 6.
TEST(HeadLoss, PaddingContributesExactlyNothing) {
  base::ThreadPool pool(2);
  const HeadSizes size{18, 65, 16};
  const auto lengths_6_2_0 = [](Head<float>& head) {
    for (std::size_t i = 8; i < 18; ++i) head.labels[i] = kSkippedLabel;
  };
  Head<float> clean(size);
  lengths_6_2_0(clean);
  const LossSum expected = clean.fused(pool, 0.125F);
  EXPECT_EQ(expected.counted, 8);
  // Whatever stands in the padding, NaN included, changes no bit elsewhere.
  Head<float> spoilt(size);
  lengths_6_2_0(spoilt);
  for (std::size_t i = 8 * 16; i < 18 * 16; ++i) spoilt.hidden[i] = NAN;
  EXPECT_EQ(spoilt.fused(pool, 0.125F).sum, expected.sum);
  // So does leaving the padding out.
  Head<float> shorter({8, 65, 16});
  EXPECT_EQ(shorter.fused(pool, 0.125F).sum, expected.sum);
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(*spoilt.gradients()[t], *clean.gradients()[t]);
  EXPECT_EQ(shorter.d_weight, clean.d_weight);
  EXPECT_EQ(shorter.d_bias, clean.d_bias);
  for (std::size_t i = 0; i < 18 * 16; ++i) {
    EXPECT_EQ(clean.d_hidden[i], i < 8 * 16 ? shorter.d_hidden[i] : 0.0F);
  }
  spoilt.forward(pool);
  for (std::size_t i = 8; i < 18; ++i) EXPECT_EQ(spoilt.losses[i], 0.0F);
}

template <Real T>
void expect_large_head_logits_do_not_overflow() {
  base::ThreadPool pool(1);
  Head<T> head({2, 3, 1, kNoId, 0, false});
  head.hidden = {T{100}, T{100}};
  head.weight = {T{100}, T{0}, T{-100}};
  head.labels = {0, 2};
  EXPECT_EQ(head.forward(pool).sum, 20000.0);
  EXPECT_EQ(head.losses, (std::vector<T>{0, 20000}));
  EXPECT_EQ(head.fused(pool, T{1}).sum, 20000.0);
  EXPECT_EQ(head.d_hidden, (std::vector<T>{0, 200}));
  EXPECT_EQ(head.d_weight, (std::vector<T>{100, 0, -100}));
}

TEST(HeadLoss, LargeLogitsDoNotOverflow) {
  expect_large_head_logits_do_not_overflow<float>();
  expect_large_head_logits_do_not_overflow<double>();
}

TEST(HeadLoss, TheExcludedRowGetsExactlyNoGradient) {
  base::ThreadPool pool(2);
  for (const HeadSizes& size : {HeadSizes{20, 65, 8, 0}, HeadSizes{20, 4097, 8, 4096}}) {
    Head<float> head(size);
    head.fused(pool, 1.0F);
    const auto row = static_cast<std::size_t>(size.excluded);
    EXPECT_EQ(head.d_bias[row], 0.0F);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(head.d_weight[row * 8 + i], 0.0F);
    Head<float> other(size);
    other.bias[row] = 500.0F;
    EXPECT_EQ(other.forward(pool).sum, head.forward(pool).sum);
  }
}

TEST(HeadLoss, ANanInTheHiddenRowsReachesTheLoss) {
  base::ThreadPool pool(2);
  for (std::int64_t vocabulary : {65, 4097}) {
    Head<float> head({20, vocabulary, 8});
    head.hidden[17] = NAN;
    EXPECT_TRUE(std::isnan(head.forward(pool).sum));
    EXPECT_TRUE(std::isnan(head.fused(pool, 1.0F).sum));
  }
}

TEST(HeadLoss, OneWorkspaceServesDifferentSizes) {
  base::ThreadPool pool(2);
  Head<double> large(kLarge[3]);
  large.fused(pool, 1.0);
  Head<double> small(kLarge[0]);
  Head<double> fresh(kLarge[0]);
  small.workspace = large.workspace;
  EXPECT_EQ(small.fused(pool, 1.0).sum, fresh.fused(pool, 1.0).sum);
  EXPECT_EQ(small.d_weight, fresh.d_weight);
}

}  // namespace
}  // namespace lexirow::loss
