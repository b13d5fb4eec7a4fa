#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/thread_pool.h"
#include "model/network.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "store/model_folder.h"
#include "text/token_stream.h"
#include "text/windows.h"
#include "train/run_state.h"
#include "train/settings.h"
#include "train/start_rows.h"

namespace lexirow::train {

/// Steps one model over the windows of a corpus: parameters, gradients, optimizer, and the place in
/// the data. What it computes is a function of settings, corpus and seed alone.
class Trainer {
 public:
  /// Borrows everything. The parameters of `folder` are as opened, or drawn by `draw`.
  Trainer(base::ThreadPool& pool, const Settings& settings, store::ModelFolder& folder,
          const text::TokenStream& stream, const text::WindowPlan& plan);

  /// Rows that draw() puts over those that it has drawn; null: none. Borrowed.
  void start_from(const StartRows* rows) { start_rows_ = rows; }

  /// Draws fresh parameters, an empty ledger and a new optimizer; the state goes back to step 0.
  void draw();

  /// The next batch: loss, gradient, and, where a label counts, one optimizer update.
  /// Throws Error(numeric) before anything is changed when the loss is not finite or has diverged.
  void step();

  /// Labels of the last batch that counted.
  std::int64_t last_counted() const { return batch_.counted; }
  /// First input tokens of the last batch's rows in the stream.
  const std::vector<std::int64_t>& last_begins() const { return batch_.begins; }
  double learning_rate() const { return learning_rate_; }

  std::int64_t batches_per_epoch() const;
  RunState& state() { return state_; }
  model::Workspace<float>& workspace() { return workspace_; }

  /// Every float tensor that the next step depends on: parameters, moments, and with patience the
  /// best parameters so far.
  struct Tensor {
    std::string name;
    base::View1<float> values;
  };
  std::vector<Tensor> tensors();
  /// Goes on behind `steps` steps of an earlier run: bias correction and learning rate.
  void set_optimizer_steps(std::int64_t steps);

  /// Evaluates the last batch once more under the weights as they are now, so that weights which
  /// the last update ruined are never saved. Throws Error(numeric) as step() does.
  void check_last_batch();

  /// The learning rate of a step, as the schedule and the halvings so far have it.
  double rate_of(std::int64_t step) const;

  /// Keeps a copy of the parameters as the best so far.
  void keep_best();
  /// Puts the best parameters where the last ones are.
  void use_best();

 private:
  void next_batch();
  void list_windows();
  void start_at_shares();
  void update(const loss::LossSum& loss);
  void check_loss(const loss::LossSum& loss) const;
  optim::Slots<float> slots();

  base::ThreadPool& pool_;
  const Settings& settings_;
  store::ModelFolder& folder_;
  const StartRows* start_rows_ = nullptr;
  const text::TokenStream& stream_;
  const text::WindowPlan& plan_;
  RunState state_;
  model::Gradients<float> gradients_;
  model::Parameters<float> best_;
  std::unique_ptr<optim::Optimizer<float>> optimizer_;
  model::Workspace<float> workspace_;
  loss::NegativeSampler sampler_;  // of a sampled loss
  loss::Negatives negatives_;
  text::Batch batch_;
  std::vector<std::int64_t> indices_;
  double learning_rate_ = 0;
};

}  // namespace lexirow::train
