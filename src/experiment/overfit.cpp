#include <fmt/format.h>

#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kDim = 64;
constexpr std::int64_t kPoints = 25;

/// Losses of one kind of token, for T 4 to 64.
struct Part {
  std::string name;
  text::TokenizerKind kind;
  std::int64_t batch;
  std::int64_t steps;
};

}  // namespace

Outcome run_overfit(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const std::int64_t steps = setting.quick ? 400 : 1500;
  LineChart chart{"Characters, T 8", "step", "loss, nats a token", false, false, {}, {}};
  for (const char* mixer : {"none", "mean"}) {
    Trial trial(setting.pool, text, trial_settings(mixer, 8, kDim, 64, steps, setting.seed));
    chart.lines.push_back(trial.train_with_curve(mixer, kPoints));
    const Entropies entropies = trial.entropies();
    if (std::string(mixer) == "mean") {
      chart.levels = {{"unigram entropy", entropies.unigram}, {"bigram entropy", entropies.bigram}};
      outcome.require("mean, characters, T 8: loss", trial.loss(), Relation::less,
                      entropies.bigram);
    }
  }
  outcome.pictures.emplace_back(chart);
  return outcome;
}

}  // namespace lexirow::experiment
