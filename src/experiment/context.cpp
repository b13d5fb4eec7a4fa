#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "experiment/context_features.h"
#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kContextDim = 64;
constexpr std::int64_t kContextLabels = 512;  ///< of a step, whatever T is
constexpr const char* kWindow = "window:4";

}  // namespace

Outcome run_context(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const std::int64_t steps = setting.quick ? 400 : 1500;
  Table table{"losses",
              "Loss over every training pair",
              {"mixer", "piece length T", "loss, nats a character", "bigram entropy, nats"},
              {}};
  LineChart chart{"Longer pieces", "piece length T", "loss, nats a character", true, false, {}, {}};
  std::map<std::string, std::map<std::int64_t, double>> losses;
  for (const std::string mixer : {"mean", kWindow}) {
    Line line{mixer, {}, {}};
    for (std::int64_t length : {1, 2, 4, 8, 16, 32, 64}) {
      Trial trial(
          setting.pool, text,
          trial_settings(mixer, length, kContextDim, kContextLabels / length, steps, setting.seed));
      trial.train_to(steps);
      const double loss = trial.loss();
      losses[mixer][length] = loss;
      table.rows.push_back({mixer, length, loss, trial.entropies().bigram});
      line.x.push_back(static_cast<double>(length));
      line.y.push_back(loss);
      if (length == 8 && chart.levels.empty()) {
        chart.levels = {{"bigram entropy", trial.entropies().bigram}};
      }
    }
    chart.lines.push_back(std::move(line));
  }
  const std::map<std::int64_t, double>& mean = losses["mean"];
  const auto best = std::min_element(
      mean.begin(), mean.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  outcome.figures.push_back({"mean: best T", static_cast<double>(best->first)});
  outcome.require("mean: loss at T 64 less its best", mean.at(64) - best->second, Relation::greater,
                  0);
  outcome.require("mean: its best T", static_cast<double>(best->first), Relation::less, 64);
  outcome.require(fmt::format("{}: loss at T 64", kWindow), losses[kWindow].at(64), Relation::less,
                  mean.at(64));
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(chart));
  measure_features(setting, outcome);
  outcome.method = fmt::format(
      "Characters in pieces of T, D {}, {} steps of {} labels each, once with the mean of the "
      "whole piece so far and once with the mean of the last 4 rows ({}). Loss over every training "
      "pair. Then several features side by side, each left out in turn.{}",
      kContextDim, steps, kContextLabels, kWindow, text.note);
  outcome.reading =
      "A mean over more and more rows says less and less about the last one: past a few "
      "characters, longer pieces make it worse. A window keeps its sharpness however long the "
      "piece is. Side by side each feature is worth what no other holds; whose interval reaches "
      "zero has not shown to be worth anything here.";
  return outcome;
}

}  // namespace lexirow::experiment
