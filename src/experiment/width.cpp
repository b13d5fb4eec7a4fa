#include <fmt/format.h>

#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kWidthLength = 8;
constexpr std::int64_t kWidthBatch = 64;

}  // namespace

Outcome run_width(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const std::int64_t steps = setting.quick ? 500 : 2000;
  Table table{"losses",
              "Loss over every training pair",
              {"width D", "parameters", "loss, nats a character"},
              {}};
  Line line{"causal mean", {}, {}};
  Entropies entropies;
  for (std::int64_t dim : {1, 2, 4, 8, 16, 32, 64, 128}) {
    Trial trial(setting.pool, text,
                trial_settings("mean", kWidthLength, dim, kWidthBatch, steps, setting.seed));
    trial.train_to(steps);
    entropies = trial.entropies();
    table.rows.push_back({dim, trial.parameters().count(), trial.loss()});
    line.x.push_back(static_cast<double>(dim));
    line.y.push_back(trial.loss());
  }
  outcome.require("D 1: loss", line.y.front(), Relation::greater, entropies.bigram);
  outcome.require("D 128: loss", line.y.back(), Relation::less, entropies.bigram);
  outcome.figures = {{"bigram entropy", entropies.bigram}, {"unigram entropy", entropies.unigram}};
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(LineChart{"Wider rows",
                                          "width D",
                                          "loss, nats a character",
                                          true,
                                          false,
                                          {line},
                                          {{"bigram entropy", entropies.bigram}}});
  outcome.method = fmt::format(
      "Characters, causal mean, T {}, {} steps of {} windows for rows of 1 to 128 values; the "
      "hidden layer is as wide as a row. The loss over every training pair is compared with the "
      "bigram entropy counted from the same pairs.{}",
      kWidthLength, steps, kWidthBatch, text.note);
  outcome.reading =
      "A row of one value puts all tokens on a line, and the head can only order them along it: "
      "even a tiny text cannot be learned by heart. Enough values give each token a direction.";
  return outcome;
}

}  // namespace lexirow::experiment
