#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "experiment/outcome.h"
#include "experiment/tiny_text.h"
#include "model/network.h"
#include "store/model_folder.h"
#include "text/windows.h"
#include "train/settings.h"
#include "train/trainer.h"

namespace lexirow::experiment {

/// One small model on the windows of a text, trained by the training loop's own Trainer. Settings
/// are those of `--preset plain` where the caller changes nothing: so `lexirow train` with the same
/// flags and seed computes the same losses.
class Trial {
 public:
  /// Draws the parameters from settings.seed. Borrows pool and text. A leaky mixer is allowed.
  Trial(base::ThreadPool& pool, const TextIds& text, const train::Settings& settings);

  /// Steps until `step` steps are made in all.
  void train_to(std::int64_t step);
  /// Trains to settings.steps and measures the loss over every training pair at about `points`
  /// steps, evenly spread, the first at step 0.
  Line train_with_curve(const std::string& name, std::int64_t points);

  /// Mean loss over every training pair, under the weights as they are, in nats.
  double loss();
  /// The same over another text of the same tokenizer, such as a part held out.
  double loss_of(const TextIds& other);

  const model::ModelConfig& config() const { return folder_.config; }
  model::Parameters<float>& parameters() { return folder_.parameters; }
  const rows::Ledger& ledger() const { return folder_.ledger; }
  const text::TokenStream& stream() const { return *stream_; }
  const text::WindowPlan& plan() const { return plan_; }
  Entropies entropies() const { return count_entropies(*stream_, plan_, config().vocab_size); }
  std::int64_t step() { return trainer_->state().step; }

  /// The same with everything behind a position hidden when its label is scored, as in use. For a
  /// causal mixer it is loss(); the cost is T times that.
  double prefix_loss();

  // Of some ids as one sequence:
  std::vector<float> logits(const std::vector<Id>& ids);  ///< [T, V]
  std::vector<float> rows(const std::vector<Id>& ids);    ///< [T, D] of the table
  /// The row that the last id picks, and the hidden state there that the head reads, [D].
  std::vector<float> last_row(const std::vector<Id>& ids);
  std::vector<float> last_hidden(const std::vector<Id>& ids);

 private:
  loss::LossSum prefix_loss_at(const text::Batch& whole, std::int64_t t);

  base::ThreadPool& pool_;
  train::Settings settings_;
  std::unique_ptr<text::MemoryTokenStream> stream_;
  text::WindowPlan plan_;
  store::ModelFolder folder_;
  std::unique_ptr<train::Trainer> trainer_;
};

/// Settings of a trial in one line: preset plain with mixer, T, D, windows a step, steps and seed.
train::Settings trial_settings(const std::string& mixer, std::int64_t length, std::int64_t dim,
                               std::int64_t batch, std::int64_t steps, std::uint64_t seed);

}  // namespace lexirow::experiment
