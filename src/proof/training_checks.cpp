#include <fmt/format.h>

#include <algorithm>

#include "optim/gradient_norm.h"
#include "optim/optimizer.h"
#include "proof/examination.h"
#include "train/model_slots.h"

namespace lexirow::proof {
namespace {

/// What a few training steps leave behind.
struct Run {
  std::vector<double> losses;
  std::vector<base::Array<float>> gradients;  // of the last step
  model::Parameters<float> parameters;
};

/// Trains a copy of the subject, clipped to norm 1, on one batch.
Run train_copy(const Examination& examination, base::ThreadPool& pool,
               const optim::OptimizerConfig& optimizer_config, const text::Batch& batch,
               int steps) {
  const model::ModelConfig& config = examination.config();
  Run run;
  run.parameters = examination.parameters();
  model::Gradients<float> gradients(config);
  model::Workspace<float> workspace;
  optim::Slots<float> slots = train::model_slots(config, run.parameters, gradients);
  optim::Optimizer<float> optimizer(optimizer_config, slots);
  for (int step = 0; step < steps; ++step) {
    gradients.clear();
    run.losses.push_back(examination.parts.single
                             .evaluate_with_gradients(pool, config, run.parameters, view_of(batch),
                                                      workspace, gradients)
                             .sum);
    const double scale = optim::clip_scale(optim::gradient_norm(pool, slots), 1);
    optimizer.step(pool, slots, 0.01, static_cast<float>(scale));
  }
  run.gradients = flat_gradients(run.parameters, gradients);
  return run;
}

/// Every optimizer, with decay and where there is one momentum, in every row mode that applies.
std::vector<optim::OptimizerConfig> optimizers(const model::ModelConfig& config) {
  std::vector<optim::OptimizerConfig> configs;
  for (optim::OptimizerKind kind :
       {optim::OptimizerKind::adamw, optim::OptimizerKind::sgd, optim::OptimizerKind::adagrad,
        optim::OptimizerKind::adagrad_row}) {
    for (optim::RowUpdates updates : {optim::RowUpdates::dense, optim::RowUpdates::lazy}) {
      if (config.tied && updates == optim::RowUpdates::lazy) continue;
      optim::OptimizerConfig optimizer;
      optimizer.kind = kind;
      optimizer.row_updates = updates;
      optimizer.weight_decay = 0.1;
      if (kind == optim::OptimizerKind::sgd) optimizer.momentum = 0.9;
      configs.push_back(optimizer);
    }
  }
  return configs;
}

std::int64_t count_not_zero(const float* values, std::int64_t size) {
  return size - std::count(values, values + size, 0.0F);
}

}  // namespace

Verdict check_pad_row(const Examination& examination) {
  const Id pad = examination.config().pad_id;
  if (pad == kNoId) return skip("this model has no pad row");
  const std::int64_t dim = examination.config().dim;
  const float* before = examination.parameters().token_embedding()[pad].data();
  const bool zero = examination.config().pad_policy == model::PadPolicy::zero;
  const std::int64_t at_first = zero ? count_not_zero(before, dim) : 0;
  text::Batch batch = make_batch(examination, 2, examination.subject.length);
  hide_some(examination, batch);
  batch.ids[1] = pad;  // visible here, and still without gradient
  batch.labels[0] = kIgnoredLabel;
  std::int64_t gradients = 0;
  std::int64_t moved = 0;
  const std::vector<optim::OptimizerConfig> configs = optimizers(examination.config());
  for (const optim::OptimizerConfig& config : configs) {
    const Run run = train_copy(examination, examination.pool, config, batch, 3);
    gradients += count_not_zero(run.gradients.front().data() + pad * dim, dim);
    moved += differing_bits(run.parameters.token_embedding()[pad].data(), before, dim);
  }
  const std::string values =
      zero ? fmt::format("{} values are not zero, ", at_first) : "which keeps its values, ";
  return judge(
      static_cast<double>(at_first + gradients + moved), 0,
      fmt::format("Of the pad row (id {}), {}{} gradients are not zero, and {} values moved "
                  "in 3 steps of each of {} optimizer settings with decay and momentum.",
                  pad, values, gradients, moved, configs.size()));
}

Verdict check_determinism(const Examination& examination) {
  const text::Batch batch =
      make_batch(examination, examination.slow_head() ? 4 : 32, examination.subject.length);
  std::int64_t different = 0;
  std::vector<optim::RowUpdates> modes = {optim::RowUpdates::dense};
  if (!examination.config().tied) modes.push_back(optim::RowUpdates::lazy);
  for (optim::RowUpdates updates : modes) {
    optim::OptimizerConfig optimizer;
    optimizer.row_updates = updates;
    base::ThreadPool one(1);
    const Run expected = train_copy(examination, one, optimizer, batch, 3);
    for (int threads : {2, 4}) {
      base::ThreadPool pool(threads);
      const Run actual = train_copy(examination, pool, optimizer, batch, 3);
      different += actual.losses != expected.losses;
      different += differing_bits(expected.parameters, actual.parameters);
      for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
        different += differing_bits(expected.gradients[i].data(), actual.gradients[i].data(),
                                    expected.gradients[i].size());
      }
    }
  }
  return judge(static_cast<double>(different), 0,
               fmt::format("{} losses, gradients and parameters differ between 1, 2 and 4 threads "
                           "after 3 AdamW steps{}.",
                           different, modes.size() == 2 ? ", dense and lazy" : ""));
}

}  // namespace lexirow::proof
