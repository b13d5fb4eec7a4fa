#include "optim/gradient_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "optim/optimizer.h"
#include "optim/subject.h"

namespace lexirow::optim {
namespace {

using testing::Subject;

template <typename T>
class GradientNorm : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GradientNorm, Scalars);

template <Real T>
double plain_norm(const Subject<T>& subject) {
  double sum = 0;
  for (const auto* array : {&subject.dense_gradient, &subject.d_weight, &subject.d_bias}) {
    for (T value : *array) sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(sum);
}

// Known fault OPT-3: one norm over dense and touched parts, equal to the dense result.
TYPED_TEST(GradientNorm, OfTouchedRowsIsThatOfTheDenseGradient) {
  using T = TypeParam;
  base::ThreadPool pool(2);
  Subject<T> subject(3000, 16);
  std::set<Id> ids;
  for (Id id = 0; id < 3000; id += 2) ids.insert(id);
  subject.draw_gradients(5, ids);
  const double expected = plain_norm(subject);
  EXPECT_NEAR(gradient_norm(pool, subject.untied()), expected, 1e-12 * expected);
  EXPECT_NEAR(gradient_norm(pool, subject.tied()), expected, 1e-12 * expected);
}

TYPED_TEST(GradientNorm, ClippedStepsAreEqualForTouchedAndDenseGradients) {
  using T = TypeParam;
  base::ThreadPool pool(2);
  Subject<T> touched(50, 6);
  Subject<T> dense(50, 6);
  OptimizerConfig config;
  config.kind = OptimizerKind::sgd;
  config.weight_decay = 0;
  Optimizer<T> touched_optimizer(config, touched.untied());
  Optimizer<T> dense_optimizer(config, dense.tied());
  const std::vector<T> before = touched.parameters();
  touched.draw_gradients(3, {2, 5, 8});
  dense.draw_gradients(3, {2, 5, 8});
  const double touched_scale = clip_scale(gradient_norm(pool, touched.untied()), 0.1);
  const double dense_scale = clip_scale(gradient_norm(pool, dense.tied()), 0.1);
  touched_optimizer.step(pool, touched.untied(), 1, static_cast<T>(touched_scale));
  dense_optimizer.step(pool, dense.tied(), 1, static_cast<T>(dense_scale));
  const std::vector<T> after = touched.parameters();
  const std::vector<T> dense_after = dense.parameters();
  double moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(after[i], dense_after[i], 1e-9);
    moved += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
  }
  EXPECT_NEAR(std::sqrt(moved), 0.1, 1e-6);  // a step of rate 1 moves by the clipped norm
}

TYPED_TEST(GradientNorm, IsTheSameForAnyNumberOfThreads) {
  using T = TypeParam;
  Subject<T> subject(5000, 20);
  std::set<Id> ids;
  for (Id id = 0; id < 5000; id += 2) ids.insert(id);
  subject.draw_gradients(9, ids);
  std::set<double> norms;
  for (int threads : {1, 2, 4}) {
    base::ThreadPool pool(threads);
    norms.insert(gradient_norm(pool, subject.untied()));
  }
  EXPECT_EQ(norms.size(), 1u);
}

TYPED_TEST(GradientNorm, LeavesThePadRowOut) {
  using T = TypeParam;
  base::ThreadPool pool(1);
  Subject<T> subject(10, 4);
  subject.draw_gradients(9, {1, 2, 5});
  Subject<T> without = subject;
  for (std::int64_t i = 0; i < 4; ++i) {
    without.dense_gradient[2 * 4 + i] = 0;
    without.touched.values[4 + i] = 0;
  }
  EXPECT_EQ(gradient_norm(pool, subject.untied(2)), gradient_norm(pool, without.untied()));
  EXPECT_NEAR(gradient_norm(pool, subject.tied(2)), plain_norm(without), 1e-9);
  EXPECT_NE(gradient_norm(pool, subject.tied(2)), gradient_norm(pool, subject.tied()));
}

TEST(ClipScale, BringsTheNormDownToTheLimit) {
  EXPECT_EQ(clip_scale(10, 0), 1);
  EXPECT_EQ(clip_scale(0.5, 1), 1);
  EXPECT_EQ(clip_scale(0, 1), 1);
  EXPECT_NEAR(clip_scale(10, 1), 0.1, 1e-7);
}

}  // namespace
}  // namespace lexirow::optim
