#include "loss/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/gradient_check.h"

namespace lexirow::loss {
namespace {

using base::View1;
using base::View2;

constexpr Id kSkip = kIgnoredLabel;

/// Logits, labels and everything that the pair writes (NaN at first, gradient zero at first).
template <Real T>
struct Case {
  Case(std::vector<T> scores, std::vector<Id> of, Id without = kNoId)
      : logits(std::move(scores)),
        labels(std::move(of)),
        excluded(without),
        n(static_cast<std::int64_t>(labels.size())),
        vocabulary(static_cast<std::int64_t>(logits.size()) / n),
        log_sum_exp(labels.size(), std::numeric_limits<T>::quiet_NaN()),
        losses(log_sum_exp),
        d_logits(logits.size()) {}

  LossSum forward(base::ThreadPool& pool) {
    return cross_entropy_forward<T>(pool, {logits.data(), {n, vocabulary}}, {labels.data(), {n}},
                                    excluded, {log_sum_exp.data(), {n}}, {losses.data(), {n}});
  }
  void backward(base::ThreadPool& pool, T scale) {
    cross_entropy_backward<T>(pool, {logits.data(), {n, vocabulary}}, {labels.data(), {n}},
                              excluded, {log_sum_exp.data(), {n}}, scale,
                              {d_logits.data(), {n, vocabulary}});
  }

  std::vector<T> logits;
  std::vector<Id> labels;
  Id excluded;
  std::int64_t n, vocabulary;
  std::vector<T> log_sum_exp, losses, d_logits;
};

TEST(CrossEntropy, ThreeScores) {
  base::ThreadPool pool(1);
  Case<double> at({1, 2, 3, 1, 2, 3, 1, 2, 3}, {0, 1, 2});
  const double softmax[] = {0.09003057, 0.24472847, 0.66524096};
  const LossSum loss = at.forward(pool);
  at.backward(pool, 1.0);
  double sum = 0;
  for (std::size_t label = 0; label < 3; ++label) {
    EXPECT_NEAR(at.losses[label], -std::log(softmax[label]), 1e-7);
    sum += at.losses[label];
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(at.d_logits[label * 3 + i], softmax[i] - (i == label ? 1 : 0), 1e-8);
    }
  }
  EXPECT_DOUBLE_EQ(loss.sum, sum);
  EXPECT_EQ(loss.counted, 3);
  EXPECT_EQ(loss.total, 3);
  EXPECT_DOUBLE_EQ(loss.mean(), sum / 3);
}

struct LossSizes {
  std::vector<Id> labels;
  std::int64_t vocabulary;
  Id excluded;
};
const LossSizes kSizes[] = {{{0}, 1, kNoId},
                            {{2}, 5, kNoId},
                            {{1, kSkip, 0}, 2, kNoId},
                            {{4, 0, kSkip, kSkip, 6}, 7, kNoId},
                            {{4, 0, kSkip, 4, 6}, 7, 1},
                            {{1, 2}, 3, 0},
                            {{1, 2, 0, kSkip}, 9, 8},
                            {{1, 299, 0}, 301, 150}};

TEST(CrossEntropy, GradientIsThatOfCentralDifferences) {
  base::ThreadPool pool(2);
  const double scale = 0.37;
  for (const LossSizes& size : kSizes) {
    const auto n = static_cast<std::int64_t>(size.labels.size());
    Case<double> at(testing::normal_values(5, n * size.vocabulary), size.labels, size.excluded);
    at.forward(pool);
    at.backward(pool, scale);
    const std::vector<double> gradient = at.d_logits;
    // Twice doubles.
    at.backward(pool, scale);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      EXPECT_NEAR(at.d_logits[i], 2 * gradient[i], 1e-12);
    }
    testing::expect_gradient("logits", {at.logits.data(), {n * size.vocabulary}},
                             {gradient.data(), {n * size.vocabulary}},
                             [&] { return scale * at.forward(pool).sum; });
  }
}

TEST(CrossEntropy, ForwardOverwritesNanAndSkipsIgnoredRows) {
  base::ThreadPool pool(2);
  Case<float> at({1, 2, 3, NAN, NAN, NAN, 0, 0, 0}, {2, kSkip, 1});
  const LossSum loss = at.forward(pool);
  at.backward(pool, 0.5F);
  EXPECT_EQ(loss.counted, 2);
  EXPECT_EQ(loss.total, 3);
  EXPECT_NEAR(loss.sum, -std::log(0.66524096) + std::log(3.0), 1e-6);
  EXPECT_EQ(at.losses[1], 0.0F);
  EXPECT_EQ(at.log_sum_exp[1], 0.0F);
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(at.d_logits[i], 0.0F);
  EXPECT_NEAR(at.d_logits[7], 0.5F * (1.0F / 3 - 1), 1e-7F);
}

// LOSS-1
TEST(CrossEntropy, AllLabelsIgnoredIsZeroOfNAndNeverNan) {
  base::ThreadPool pool(2);
  Case<float> at(std::vector<float>(15, 1.0F), std::vector<Id>(5, kSkip));
  const LossSum loss = at.forward(pool);
  at.backward(pool, 1.0F);
  EXPECT_EQ(loss.sum, 0.0);
  EXPECT_EQ(loss.counted, 0);
  EXPECT_EQ(loss.total, 5);
  EXPECT_EQ(at.losses, std::vector<float>(5));
  EXPECT_EQ(at.d_logits, std::vector<float>(15));
}

template <Real T>
void expect_large_logits_do_not_overflow() {
  base::ThreadPool pool(1);
  Case<T> at({T{10000}, T{0}, T{-10000}, T{10000}, T{0}, T{-10000}}, {0, 2});
  const LossSum loss = at.forward(pool);
  EXPECT_EQ(at.losses[0], T{0});
  EXPECT_EQ(at.losses[1], T{20000});
  EXPECT_EQ(loss.sum, 20000.0);
  at.backward(pool, T{1});
  EXPECT_EQ(at.d_logits, (std::vector<T>{0, 0, 0, 1, 0, -1}));
}

TEST(CrossEntropy, LargeLogitsDoNotOverflow) {
  expect_large_logits_do_not_overflow<float>();
  expect_large_logits_do_not_overflow<double>();
}

TEST(CrossEntropy, TheExcludedLogitHasNoInfluence) {
  base::ThreadPool pool(1);
  for (double pad_logit : {0.0, 50.0, 1e4}) {
    Case<double> at({pad_logit, 1, 2, 3}, {3}, 0);
    EXPECT_NEAR(at.forward(pool).sum, -std::log(0.66524096), 1e-7);
    at.backward(pool, 1.0);
    EXPECT_EQ(at.d_logits[0], 0.0);
    EXPECT_NEAR(at.d_logits[1], 0.09003057, 1e-8);
  }
}

TEST(CrossEntropy, NanLogitsGiveANanLoss) {
  base::ThreadPool pool(1);
  for (std::size_t i = 0; i < 4; ++i) {
    Case<float> at({1, 2, 3, 4}, {3}, 1);
    at.logits[i] = NAN;
    EXPECT_EQ(std::isnan(at.forward(pool).sum), i != 1) << i;
  }
}

TEST(CrossEntropy, LossesMayBeLeftOut) {
  base::ThreadPool pool(1);
  Case<double> at({1, 2, 3}, {2});
  const double sum = at.forward(pool).sum;
  const LossSum loss =
      cross_entropy_forward<double>(pool, {at.logits.data(), {1, 3}}, {at.labels.data(), {1}},
                                    kNoId, {at.log_sum_exp.data(), {1}}, {});
  EXPECT_EQ(loss.sum, sum);
}

/// Labels with every seventh one ignored.
std::vector<Id> some_labels(std::int64_t n, std::int64_t vocabulary) {
  std::vector<Id> labels;
  for (std::int64_t i = 0; i < n; ++i) {
    labels.push_back(i % 7 == 3 ? kSkip : static_cast<Id>((i * 31 + 5) % vocabulary));
  }
  return labels;
}

TEST(CrossEntropy, FloatAgreesWithDoubleAndSameBytesForAnyThreads) {
  const std::int64_t n = 501;
  const std::int64_t vocabulary = 67;
  const std::vector<double> wide_logits = testing::normal_values(9, n * vocabulary);
  const std::vector<float> narrow_logits(wide_logits.begin(), wide_logits.end());
  base::ThreadPool alone(1);
  Case<float> reference(narrow_logits, some_labels(n, vocabulary));
  Case<double> wide(std::vector<double>(narrow_logits.begin(), narrow_logits.end()),
                    some_labels(n, vocabulary));
  const LossSum expected = reference.forward(alone);
  reference.backward(alone, 0.5F);
  EXPECT_NEAR(expected.sum / wide.forward(alone).sum, 1.0, 1e-7);
  wide.backward(alone, 0.5);
  for (std::size_t i = 0; i < wide_logits.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(reference.d_logits[i]), wide.d_logits[i], 3e-7);
  }
  for (int threads : {2, 4}) {
    base::ThreadPool pool(threads);
    Case<float> at(narrow_logits, some_labels(n, vocabulary));
    EXPECT_EQ(at.forward(pool).sum, expected.sum);
    at.backward(pool, 0.5F);
    EXPECT_EQ(at.losses, reference.losses);
    EXPECT_EQ(at.log_sum_exp, reference.log_sum_exp);
    EXPECT_EQ(at.d_logits, reference.d_logits);
  }
}

}  // namespace
}  // namespace lexirow::loss
