#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "model/network.h"
#include "model/parameters.h"
#include "optim/optimizer.h"

namespace lexirow::experiment {

/// One model with its gradients and an optimizer, on batches that the caller makes: for experiments
/// that set masks, labels or weights themselves. A Trial is for whole texts.
template <Real T>
class BatchModel {
 public:
  /// All parameters zero. Borrows the pool.
  BatchModel(base::ThreadPool& pool, const model::ModelConfig& config,
             const optim::OptimizerConfig& optimizer = {});
  BatchModel(const BatchModel&) = delete;
  BatchModel& operator=(const BatchModel&) = delete;

  /// Draws the parameters as PyTorch does for the seed.
  void draw(std::uint64_t seed);

  /// Mean loss over the counted labels, in nats.
  double loss(const model::BatchView& batch);
  /// The same, and the gradient of the batch in place of the last one.
  double find_gradients(const model::BatchView& batch);
  /// One step of rate `lr` along the gradient of the batch; the loss before it.
  double step(const model::BatchView& batch, double lr);
  /// Scores of every position, [B*T, V].
  std::vector<T> logits(const model::BatchView& batch);

  const model::ModelConfig& config() const { return config_; }
  model::Parameters<T>& parameters() { return parameters_; }
  const model::Gradients<T>& gradients() const { return gradients_; }
  optim::Optimizer<T>& optimizer() { return *optimizer_; }
  const model::Workspace<T>& workspace() const { return workspace_; }
  /// The last gradient of the table, rows that no position read as zeros, [V, D].
  base::Array<T> table_gradient() const;

 private:
  /// Waking threads takes longer than running a small model.
  base::ThreadPool& pool();

  base::ThreadPool& pool_;
  base::ThreadPool single_{1};
  model::ModelConfig config_;
  model::Parameters<T> parameters_;
  model::Gradients<T> gradients_;
  model::Workspace<T> workspace_;
  std::unique_ptr<optim::Optimizer<T>> optimizer_;
};

}  // namespace lexirow::experiment
