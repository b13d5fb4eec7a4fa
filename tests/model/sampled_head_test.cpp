#include "model/sampled_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "loss/negative_sampler.h"
#include "model/small_model.h"
#include "support/gradient_check.h"

namespace lexirow::model {
namespace {

/// Id 0 never occurs (it may be the pad row), as in every batch of make_batch.
std::vector<std::int64_t> some_counts(std::int64_t vocab_size) {
  std::vector<std::int64_t> counts;
  for (std::int64_t id = 0; id < vocab_size; ++id) counts.push_back(id == 0 ? 0 : 100 / id);
  return counts;
}

TEST(SampledHead, GivesTheGradientOfItsLossForEveryModel) {
  const loss::NegativeSampler sampler(some_counts(7), 3);
  base::ThreadPool pool(2);
  for (const ModelConfig& config : every_model(7, 3, 4)) {
    SCOPED_TRACE(describe(config));
    Parameters<double> parameters = make_parameters<double>(config, 3);
    const OwnedBatch batch = make_batch(1, 7, 2, 1, 5, true);
    loss::Negatives negatives;
    sampler.draw(1, 4, negatives);
    BatchView view = batch.view();
    view.negatives = &negatives;
    Workspace<double> workspace;
    const auto run = [&] {
      Gradients<double> gradients(config, true);
      const loss::LossSum sum =
          evaluate_with_gradients(pool, config, parameters, view, workspace, gradients);
      EXPECT_EQ(sum.counted, 8);
      return std::pair(sum.mean(), std::move(gradients));
    };
    const Gradients<double> gradients = run().second;
    for (const NamedTensor<double>& tensor : parameters.tensors()) {
      const std::vector<double> analytic = gradient_of(config, gradients, tensor.name);
      testing::expect_gradient(tensor.name, tensor.values,
                               {analytic.data(), {static_cast<std::int64_t>(analytic.size())}},
                               [&] { return run().first; });
    }
  }
}

/// Over many draws the gradient comes near that of the full softmax: what the correction is for.
TEST(SampledHead, ComesNearTheFullGradientOnAverage) {
  const ModelConfig config = make_config("none", 40, 6, 0, false, false);
  const Parameters<double> parameters = make_parameters<double>(config, 3);
  const OwnedBatch batch = make_batch(5, 40, 4, 0, 6, false);
  const loss::NegativeSampler sampler(some_counts(40), 12);
  base::ThreadPool pool(1);
  Workspace<double> workspace;
  Gradients<double> full(config);
  evaluate_with_gradients(pool, config, parameters, batch.view(), workspace, full);
  const std::vector<double> right = gradient_of(config, full, "lm_head.weight");
  std::vector<double> mean(right.size());
  constexpr int kDraws = 400;
  for (int step = 0; step < kDraws; ++step) {
    loss::Negatives negatives;
    sampler.draw(9, step, negatives);
    BatchView view = batch.view();
    view.negatives = &negatives;
    Gradients<double> gradients(config, true);
    evaluate_with_gradients(pool, config, parameters, view, workspace, gradients);
    const std::vector<double> one = gradient_of(config, gradients, "lm_head.weight");
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += one[i] / kDraws;
  }
  double product = 0, left = 0, square = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    product += mean[i] * right[i];
    left += mean[i] * mean[i];
    square += right[i] * right[i];
  }
  EXPECT_GT(product / std::sqrt(left * square), 0.98) << "direction";
  EXPECT_NEAR(std::sqrt(left / square), 1, 0.1) << "length";
}

TEST(SampledHead, LeavesRowsUnsummedWhereAsked) {
  const ModelConfig config = make_config("mean", 9, 4, 5, false, false);
  const Parameters<float> parameters = make_parameters<float>(config, 3);
  const OwnedBatch batch = make_batch(5, 9, 4, 0, 6, true);
  const loss::NegativeSampler sampler(some_counts(9), 4);
  loss::Negatives negatives;
  sampler.draw(9, 1, negatives);
  BatchView view = batch.view();
  view.negatives = &negatives;
  base::ThreadPool pool(1);
  Workspace<float> workspace;
  Gradients<float> summed(config, true), left(config, true);
  left.leave_rows = true;
  evaluate_with_gradients(pool, config, parameters, view, workspace, summed);
  evaluate_with_gradients(pool, config, parameters, view, workspace, left);
  EXPECT_EQ(left.head_rows.count(), 0);
  const SampledHeadWorkspace<float>& head = workspace.sampled_head;
  EXPECT_EQ(head.plan.ids, summed.head_rows.ids);
  rows::TouchedRows<float> again;
  rows::lookup_backward<float>(pool, head.plan, head.d_rows.view(head.count(), 4), again);
  EXPECT_EQ(gradient_of(config, summed, "lm_head.weight"), [&] {
    Gradients<float> gradients(config, true);
    gradients.head_rows = again;
    return gradient_of(config, gradients, "lm_head.weight");
  }());
}

}  // namespace
}  // namespace lexirow::model
