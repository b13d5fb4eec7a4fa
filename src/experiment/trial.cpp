#include "experiment/trial.h"

#include "model/parameters.h"
#include "train/derive.h"
#include "train/evaluate.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kEvaluationRows = 256;

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
  return train::evaluate_windows(pool_, folder_.config, folder_.parameters, *stream_, plan_,
                                 kEvaluationRows, trainer_->workspace())
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
