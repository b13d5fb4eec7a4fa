#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lexirow/error.h"
#include "train/derive.h"
#include "train/model_slots.h"

namespace lexirow::train {

namespace {

// A loss this many times that of guessing evenly, and of the first step, does not come back.
constexpr double kDiverged = 20;

}  // namespace

Trainer::Trainer(base::ThreadPool& pool, const Settings& settings, store::ModelFolder& folder,
                 const text::TokenStream& stream, const text::WindowPlan& plan)
    : pool_(pool),
      settings_(settings),
      folder_(folder),
      stream_(stream),
      plan_(plan),
      gradients_(folder.config, negatives_of(settings) > 0) {
  const optim::OptimizerConfig config = optimizer_config(settings_);
  optimizer_ = std::make_unique<optim::Optimizer<float>>(config, slots());
  // The norm that clips needs all rows before the first one moves.
  gradients_.leave_rows = !folder.config.tied && settings_.clip == 0 && optim::sums_rows(config);
  if (settings_.patience > 0) best_ = folder_.parameters;
  if (negatives_of(settings_) == 0) return;
  sampler_ = loss::NegativeSampler(text::count_ids(stream_, plan_, folder_.config.vocab_size),
                                   negatives_of(settings_));
}

void Trainer::draw() {
  const model::Init init = settings_.init == "torch" ? model::Init::torch : model::Init::automatic;
  model::initialize<float>(folder_.config, static_cast<std::uint64_t>(settings_.seed), init,
                           folder_.parameters);
  if (start_rows_ != nullptr) start_rows_->apply(folder_.config, folder_.parameters);
  if (init == model::Init::automatic) start_at_shares();
  folder_.ledger = rows::Ledger(folder_.config.vocab_size);
  optimizer_.reset();  // its moments first: two sets of them would be the peak of the whole run
  optimizer_ = std::make_unique<optim::Optimizer<float>>(optimizer_config(settings_), slots());
  if (settings_.patience > 0) best_ = folder_.parameters;
  learning_rate_ = 0;
  batch_ = text::Batch();
  const std::uint64_t fingerprint = state_.fingerprint;
  state_ = RunState();
  state_.fingerprint = fingerprint;
}

/// Under a sampled loss a rare token is seldom told that it is rare: its bias would take many
/// epochs to come down from zero. The biases therefore start at the log of the tokens' shares.
void Trainer::start_at_shares() {
  const base::View1<float> bias = folder_.parameters.head_bias();
  if (negatives_of(settings_) == 0 || !bias.present()) return;
  for (std::int64_t id = 0; id < bias.size(); ++id) {
    bias[id] = sampler_.log_share(static_cast<Id>(id));
  }
}

optim::Slots<float> Trainer::slots() {
  return model_slots<float>(folder_.config, folder_.parameters, gradients_);
}

std::int64_t Trainer::batches_per_epoch() const {
  return (plan_.size() + settings_.batch - 1) / settings_.batch;
}

/// The windows of the batch at the state's place in the epoch.
void Trainer::list_windows() {
  const text::EpochOrder order(static_cast<std::uint64_t>(settings_.seed), state_.epoch,
                               plan_.size());
  const std::int64_t count = std::min(settings_.batch, plan_.size() - state_.window);
  indices_.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    indices_[static_cast<std::size_t>(i)] = order.at(state_.window + i);
  }
}

void Trainer::next_batch() {
  if (state_.window >= plan_.size()) {
    ++state_.epoch;
    state_.window = 0;
  }
  list_windows();
  text::fill_batch(stream_, plan_, indices_, batch_);
  text::check_ids({batch_.ids.data(), {static_cast<std::int64_t>(batch_.ids.size())}},
                  folder_.config.vocab_size, folder_.tokenizer.get());
  state_.window += static_cast<std::int64_t>(indices_.size());
  if (state_.window < plan_.size()) {
    // The next batch comes from the disk while this one is computed.
    list_windows();
    text::prefetch_batch(stream_, plan_, indices_);
  }
}

void Trainer::check_loss(const loss::LossSum& loss) const {
  const double mean = loss.mean();
  const double even =
      std::log(static_cast<double>(std::max<std::int64_t>(2, folder_.config.vocab_size)));
  if (std::isfinite(mean) &&
      (state_.step == 0 || mean <= kDiverged * std::max(even, state_.first_loss))) {
    return;
  }
  throw Error(
      ErrorKind::numeric,
      std::isfinite(mean)
          ? fmt::format("the loss grew to {:.4g} nats where even guessing gives {:.2f}", mean, even)
          : fmt::format("the loss is {}", std::isnan(mean) ? "not a number" : "infinite"));
}

void Trainer::step() {
  next_batch();
  model::BatchView view{batch_.ids_view(), batch_.mask_view(), batch_.labels_view()};
  if (negatives_of(settings_) > 0) {
    sampler_.draw(static_cast<std::uint64_t>(settings_.seed), state_.step, negatives_);
    view.negatives = &negatives_;
  }
  view.dropout = {true, static_cast<std::uint64_t>(settings_.seed),
                  static_cast<std::uint64_t>(state_.step)};
  gradients_.clear();
  const loss::LossSum loss = model::evaluate_with_gradients<float>(
      pool_, folder_.config, folder_.parameters, view, workspace_, gradients_);
  if (loss.counted == 0) return;
  check_loss(loss);
  if (state_.step == 0) state_.first_loss = loss.mean();
  update(loss);
}

double Trainer::rate_of(std::int64_t step) const {
  return std::ldexp(optim::learning_rate(schedule(settings_, state_.schedule_steps), step),
                    -static_cast<int>(state_.halvings));
}

void Trainer::update(const loss::LossSum& loss) {
  optim::Slots<float> slots = this->slots();
  if (gradients_.leave_rows) {
    take_unsummed_rows<float>(workspace_, static_cast<std::int64_t>(batch_.ids.size()), slots);
  }
  double scale = 1;
  if (settings_.clip > 0) {
    const double norm = optim::gradient_norm<float>(pool_, slots);
    if (!std::isfinite(norm)) {
      throw Error(ErrorKind::numeric, "the norm of the gradient is not finite");
    }
    if (norm > settings_.clip) scale = settings_.clip / norm;
  }
  ++state_.step;
  learning_rate_ = rate_of(state_.step);
  optimizer_->step(pool_, slots, learning_rate_, static_cast<float>(scale));
  folder_.ledger.record({batch_.ids.data(), {static_cast<std::int64_t>(batch_.ids.size())}},
                        {batch_.mask.data(), {static_cast<std::int64_t>(batch_.mask.size())}},
                        state_.step);
  state_.tokens += loss.counted;
  state_.loss_sum += loss.sum;
  state_.loss_count += loss.counted;
}

std::vector<Trainer::Tensor> Trainer::tensors() {
  std::vector<Tensor> result;
  for (const auto& tensor : folder_.parameters.tensors()) {
    result.push_back({tensor.name, tensor.values});
  }
  for (const auto& tensor : optimizer_->state()) result.push_back({tensor.name, tensor.values});
  if (settings_.patience > 0) {
    for (const auto& tensor : best_.tensors()) {
      result.push_back({"best." + tensor.name, tensor.values});
    }
  }
  return result;
}

void Trainer::set_optimizer_steps(std::int64_t steps) {
  optimizer_->set_steps(steps);
  learning_rate_ = steps > 0 ? rate_of(steps) : 0;
}

void Trainer::check_last_batch() {
  if (batch_.counted == 0) return;
  const model::BatchView view{batch_.ids_view(), batch_.mask_view(), batch_.labels_view()};
  check_loss(
      model::evaluate<float>(pool_, folder_.config, folder_.parameters, view, workspace_, {}));
}

void Trainer::keep_best() {
  best_ = folder_.parameters;
}
void Trainer::use_best() {
  folder_.parameters = best_;
}

}  // namespace lexirow::train
