#include "experiment/batch_model.h"

#include <utility>

#include "proof/examination.h"
#include "train/model_slots.h"

namespace lexirow::experiment {
namespace {

// Above this many parameters threads pay.
constexpr std::int64_t kManyParameters = std::int64_t{1} << 17;

}  // namespace

template <Real T>
BatchModel<T>::BatchModel(base::ThreadPool& pool, const model::ModelConfig& config,
                          const optim::OptimizerConfig& optimizer)
    : pool_(pool), config_(config), parameters_(config), gradients_(config) {
  model::validate(config_);
  optimizer_ = std::make_unique<optim::Optimizer<T>>(
      optimizer, train::model_slots(config_, parameters_, gradients_));
}

template <Real T>
base::ThreadPool& BatchModel<T>::pool() {
  return parameters_.count() < kManyParameters ? single_ : pool_;
}

template <Real T>
void BatchModel<T>::draw(std::uint64_t seed) {
  model::initialize<T>(config_, seed, model::Init::torch, parameters_);
}

template <Real T>
double BatchModel<T>::loss(const model::BatchView& batch) {
  return model::evaluate<T>(pool(), config_, parameters_, batch, workspace_, {}).mean();
}

template <Real T>
double BatchModel<T>::find_gradients(const model::BatchView& batch) {
  gradients_.clear();
  return model::evaluate_with_gradients<T>(pool(), config_, parameters_, batch, workspace_,
                                           gradients_)
      .mean();
}

template <Real T>
double BatchModel<T>::step(const model::BatchView& batch, double lr) {
  const double before = find_gradients(batch);
  // The slots are made anew: drawing or replacing parameters moves their arrays.
  optimizer_->step(pool(), train::model_slots(config_, parameters_, gradients_), lr, T{1});
  return before;
}

template <Real T>
std::vector<T> BatchModel<T>::logits(const model::BatchView& batch) {
  const std::int64_t positions = batch.ids.size();
  std::vector<T> out(static_cast<std::size_t>(positions * config_.vocab_size));
  model::all_logits<T>(pool(), config_, parameters_, batch, workspace_,
                       {out.data(), {positions, config_.vocab_size}});
  return out;
}

template <Real T>
base::Array<T> BatchModel<T>::table_gradient() const {
  return std::move(proof::flat_gradients(parameters_, gradients_).front());
}

template class BatchModel<float>;
template class BatchModel<double>;

}  // namespace lexirow::experiment
