#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kCapacityLength = 8;
constexpr std::int64_t kCapacityDim = 32;
constexpr std::int64_t kCapacityBatch = 64;
/// What rounding in float32 can take from a mean of some thousand losses.
constexpr double kCapacityRounding = 1e-5;

}  // namespace

Outcome run_capacity(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const std::int64_t steps = setting.quick ? 400 : 2000;
  Table table{"losses",
              "Loss over every training pair",
              {"mixer", "hidden units H", "parameters", "loss, nats a character"},
              {}};
  LineChart chart{
      "More hidden units", "hidden units H", "loss, nats a character", true, false, {}, {}};
  Entropies entropies;
  double least_none = std::numeric_limits<double>::infinity();
  double least_mean = std::numeric_limits<double>::infinity();
  for (const char* mixer : {"none", "mean"}) {
    Line line{mixer, {}, {}};
    for (std::int64_t hidden : {8, 32, 128, 512}) {
      train::Settings settings =
          trial_settings(mixer, kCapacityLength, kCapacityDim, kCapacityBatch, steps, setting.seed);
      settings.hidden = hidden;
      Trial trial(setting.pool, text, settings);
      trial.train_to(steps);
      const double loss = trial.loss();
      entropies = trial.entropies();
      double& least = line.name == "none" ? least_none : least_mean;
      least = std::min(least, loss);
      table.rows.push_back({line.name, hidden, trial.parameters().count(), loss});
      line.x.push_back(static_cast<double>(hidden));
      line.y.push_back(loss);
    }
    chart.lines.push_back(std::move(line));
  }
  chart.levels = {{"bigram entropy", entropies.bigram}};
  outcome.figures = {{"bigram entropy", entropies.bigram}, {"unigram entropy", entropies.unigram}};
  outcome.require("none with an MLP of up to 512 units: least loss less the bigram entropy",
                  least_none - entropies.bigram, Relation::at_least, -kCapacityRounding);
  outcome.require("mean with the same MLP: least loss", least_mean, Relation::less,
                  entropies.bigram);
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(chart));
  outcome.method = fmt::format(
      "Characters, T {}, D {}, {} steps of {} windows, an MLP of 8 to 512 hidden units behind the "
      "mixer; the loss over every training pair is compared with the bigram entropy counted from "
      "the same pairs.{}",
      kCapacityLength, kCapacityDim, steps, kCapacityBatch, text.note);
  outcome.reading =
      "Units behind the row of one token can only learn what follows that token: the bigram "
      "entropy is a floor that no number of them passes. What is missing is context, not capacity.";
  return outcome;
}

}  // namespace lexirow::experiment
