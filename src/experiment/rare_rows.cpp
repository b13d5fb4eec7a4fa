#include <fmt/format.h>

#include <cmath>
#include <map>

#include "experiment/experiments.h"
#include "experiment/rank_correlation.h"
#include "experiment/statistics.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kRareRowsLength = 8;
constexpr std::int64_t kRareRowsDim = 32;
constexpr std::int64_t kRareRowsBatch = 2;
constexpr std::int64_t kRareRowsSteps = 60;
constexpr double kRareRowsSignificance = 0.01;
constexpr std::size_t kRareRowsListed = 200;

/// How far each row that was read moved from where it was drawn.
struct Journey {
  std::vector<Id> ids;
  std::vector<double> updates, distances;
};

Journey travel(const Setting& setting, const TextIds& text, const std::string& optimizer) {
  train::Settings settings = trial_settings("mean", kRareRowsLength, kRareRowsDim, kRareRowsBatch,
                                            kRareRowsSteps, setting.seed);
  settings.optimizer = optimizer;
  settings.row_updates = "lazy";
  settings.weight_decay = 0;
  if (optimizer == "sgd") settings.lr = 0.1;
  Trial trial(setting.pool, text, settings);
  const model::Parameters<float> before = trial.parameters();
  trial.train_to(kRareRowsSteps);
  Journey journey;
  for (Id id = 0; id < text.vocab_size(); ++id) {
    const std::int64_t updates = trial.ledger().updates[static_cast<std::size_t>(id)];
    if (updates == 0) continue;
    double sum = 0;
    for (std::int64_t d = 0; d < kRareRowsDim; ++d) {
      const double step = static_cast<double>(trial.parameters().token_embedding()[id][d]) -
                          static_cast<double>(before.token_embedding()[id][d]);
      sum += step * step;
    }
    journey.ids.push_back(id);
    journey.updates.push_back(static_cast<double>(updates));
    journey.distances.push_back(std::sqrt(sum));
  }
  return journey;
}

/// Mean distance of the rows with one number of updates.
Line mean_by_updates(const std::string& name, const Journey& journey) {
  std::map<double, std::vector<double>> groups;
  for (std::size_t i = 0; i < journey.ids.size(); ++i) {
    groups[journey.updates[i]].push_back(journey.distances[i]);
  }
  Line line{name, {}, {}};
  for (const auto& [updates, distances] : groups) {
    line.x.push_back(updates);
    line.y.push_back(mean_of(distances));
  }
  return line;
}

void list_rows(Outcome& outcome, const TextIds& text, const Journey& adamw, const Journey& sgd) {
  Table table{"rows",
              "Each row's way",
              {"token", "id", "updates", "distance moved under adamw", "distance moved under sgd"},
              {}};
  for (std::size_t i = 0; i < adamw.ids.size() && i < kRareRowsListed; ++i) {
    table.rows.push_back({text.spelling(adamw.ids[i]), std::int64_t{adamw.ids[i]},
                          static_cast<std::int64_t>(adamw.updates[i]), adamw.distances[i],
                          sgd.distances[i]});
  }
  outcome.tables.push_back(std::move(table));
}

}  // namespace

Outcome run_rare_rows(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_readably(setting.text);
  LineChart chart{
      "Mean distance that rows moved", "updates of the row", "distance", true, false, {}, {}};
  const int permutations = setting.quick ? 999 : 9999;
  const Journey adamw = travel(setting, text, "adamw");
  const Journey sgd = travel(setting, text, "sgd");
  for (const auto& [name, journey] : {std::pair{"adamw", &adamw}, std::pair{"sgd", &sgd}}) {
    const RankCorrelation rank =
        rank_correlation(journey->updates, journey->distances, permutations, setting.seed);
    outcome.require(fmt::format("{}: Spearman's rank correlation of updates and distance", name),
                    rank.rho, Relation::greater, 0);
    outcome.require(fmt::format("{}: share of random orders with as high a correlation", name),
                    rank.p_value, Relation::at_most, kRareRowsSignificance);
    chart.lines.push_back(mean_by_updates(name, *journey));
  }
  outcome.figures.push_back({"rows read", static_cast<double>(adamw.ids.size())});
  outcome.pictures.emplace_back(std::move(chart));
  list_rows(outcome, text, adamw, sgd);
  outcome.method = fmt::format(
      "A causal mean (T {}, D {}) is trained for {} steps of {} windows of {}, with lazy row "
      "updates and without decay, so that only gradients move a row. The ledger counts the steps "
      "that read a row; that count is compared with the Euclidean distance of the row from where "
      "it was drawn, over all rows that were read, by ranks, with a permutation test of {} random "
      "orders.{}",
      kRareRowsLength, kRareRowsDim, kRareRowsSteps, kRareRowsBatch, text.unit(), permutations,
      text.note);
  outcome.reading =
      "A row learns only in the steps that read it. Rare tokens are still near their random start "
      "when common ones have long left theirs.";
  return outcome;
}

}  // namespace lexirow::experiment
