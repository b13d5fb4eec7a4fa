#include "experiment/trial.h"

#include <algorithm>
#include <utility>

#include "model/parameters.h"
#include "rows/lookup.h"
#include "train/derive.h"
#include "train/evaluate.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kTrialEvaluationRows = 256;

}  // namespace

Trial::Trial(base::ThreadPool& pool, const TextIds& text, const train::Settings& settings)
    : pool_(pool),
      settings_(settings),
      stream_(text.stream()),
      plan_(*stream_, 0, stream_->size(), train::window_options(settings, true)) {
  folder_.config = train::model_config(settings_, *text.tokenizer);
  folder_.parameters = model::Parameters<float>(folder_.config);
  trainer_ = std::make_unique<train::Trainer>(pool_, settings_, folder_, *stream_, plan_);
  trainer_->draw();
  trainer_->state().steps = settings_.steps;
  trainer_->state().schedule_steps = settings_.steps;
}

void Trial::train_to(std::int64_t step) {
  while (trainer_->state().step < step) trainer_->step();
}

Line Trial::train_with_curve(const std::string& name, std::int64_t points) {
  Line line{name, {}, {}};
  for (std::int64_t i = 0; i <= points; ++i) {
    const std::int64_t step = settings_.steps * i / points;
    train_to(step);
    line.x.push_back(static_cast<double>(step));
    line.y.push_back(loss());
  }
  return line;
}

double Trial::loss() {
  return train::evaluate_windows(pool_, settings_, folder_.config, folder_.parameters, *stream_,
                                 plan_, kTrialEvaluationRows, trainer_->workspace())
      .loss.mean();
}

double Trial::loss_of(const TextIds& other) {
  const auto stream = other.stream();
  const text::WindowPlan plan(*stream, 0, stream->size(), train::window_options(settings_, false));
  return train::evaluate_windows(pool_, settings_, folder_.config, folder_.parameters, *stream,
                                 plan, kTrialEvaluationRows, trainer_->workspace())
      .loss.mean();
}

std::vector<float> Trial::logits(const std::vector<Id>& ids) {
  const auto length = static_cast<std::int64_t>(ids.size());
  std::vector<float> out(static_cast<std::size_t>(length * config().vocab_size));
  model::BatchView view;
  view.ids = {ids.data(), {1, length}};
  model::all_logits<float>(pool_, folder_.config, folder_.parameters, view, trainer_->workspace(),
                           {out.data(), {length, config().vocab_size}});
  return out;
}

loss::LossSum Trial::prefix_loss_at(const text::Batch& whole, std::int64_t t) {
  text::Batch batch = whole;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    for (std::int64_t other = 0; other < batch.length; ++other) {
      const auto at = static_cast<std::size_t>(row * batch.length + other);
      if (other > t) batch.mask[at] = 0;
      if (other != t) batch.labels[at] = kIgnoredLabel;
    }
  }
  return model::evaluate<float>(pool_, folder_.config, folder_.parameters,
                                {batch.ids_view(), batch.mask_view(), batch.labels_view()},
                                trainer_->workspace(), {});
}

double Trial::prefix_loss() {
  loss::LossSum total;
  std::vector<std::int64_t> windows;
  text::Batch batch;
  for (std::int64_t first = 0; first < plan_.size(); first += kTrialEvaluationRows) {
    windows.clear();
    for (std::int64_t i = first; i < std::min(first + kTrialEvaluationRows, plan_.size()); ++i) {
      windows.push_back(i);
    }
    text::fill_batch(*stream_, plan_, windows, batch);
    for (std::int64_t t = 0; t < batch.length; ++t) {
      const loss::LossSum part = prefix_loss_at(batch, t);
      total.sum += part.sum;
      total.counted += part.counted;
    }
  }
  return total.mean();
}

std::vector<float> Trial::rows(const std::vector<Id>& ids) {
  const auto length = static_cast<std::int64_t>(ids.size());
  std::vector<float> out(static_cast<std::size_t>(length * config().dim));
  rows::lookup_forward<float>(pool_, std::as_const(folder_.parameters).token_embedding(),
                              {ids.data(), {length}}, {out.data(), {length, config().dim}});
  return out;
}

std::vector<float> Trial::last_row(const std::vector<Id>& ids) {
  const std::vector<float> all = rows(ids);
  return {all.end() - config().dim, all.end()};
}

std::vector<float> Trial::last_hidden(const std::vector<Id>& ids) {
  const auto length = static_cast<std::int64_t>(ids.size());
  std::vector<float> out(static_cast<std::size_t>(length * config().dim));
  model::BatchView view;
  view.ids = {ids.data(), {1, length}};
  model::hidden_states<float>(pool_, folder_.config, folder_.parameters, view, false,
                              trainer_->workspace(), {out.data(), {length, config().dim}});
  return {out.end() - config().dim, out.end()};
}

train::Settings trial_settings(const std::string& mixer, std::int64_t length, std::int64_t dim,
                               std::int64_t batch, std::int64_t steps, std::uint64_t seed) {
  train::Settings settings;
  settings.preset = "plain";
  settings.mixer = mixer;
  settings.allow_leak = true;
  settings.context = length;
  settings.dim = dim;
  settings.hidden = mixer == "none" ? 0 : dim;
  settings.batch = batch;
  settings.steps = steps;
  settings.seed = static_cast<std::int64_t>(seed);
  return settings;
}

}  // namespace lexirow::experiment
