#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/array.h"
#include "experiment/batch_model.h"
#include "experiment/experiments.h"
#include "experiment/tiny_text.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kRowGradientsRows = 2;
constexpr std::int64_t kRowGradientsLength = 8;
constexpr std::int64_t kRowGradientsDim = 16;
constexpr std::size_t kRowGradientsShown = 24;

/// What the batch did to one row.
struct RowFacts {
  Id id = kNoId;
  std::int64_t positions = 0;  ///< that read it
  double gradient_norm = 0;
  double moved = 0;  ///< Euclidean, by one lazy step
};

double distance(const float* a, const float* b) {
  double sum = 0;
  for (std::int64_t d = 0; d < kRowGradientsDim; ++d) {
    const double difference = static_cast<double>(a[d]) - (b == nullptr ? 0.0 : double{b[d]});
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

std::vector<RowFacts> try_one_step(const Setting& setting, const TextIds& text,
                                   const text::Batch& batch, const std::string& mixer) {
  model::ModelConfig config;
  config.vocab_size = text.vocab_size();
  config.dim = kRowGradientsDim;
  config.hidden = mixer == "none" ? 0 : kRowGradientsDim;
  config.mixer = context::parse_mixer(mixer);
  optim::OptimizerConfig optimizer;
  optimizer.row_updates = optim::RowUpdates::lazy;
  BatchModel<float> model(setting.pool, config, optimizer);
  model.draw(setting.seed);
  const model::Parameters<float> before = model.parameters();
  const model::BatchView view{batch.ids_view(), batch.mask_view(), batch.labels_view()};
  model.step(view, 3e-3);
  const base::Array<float> gradient = model.table_gradient();
  std::vector<RowFacts> facts(static_cast<std::size_t>(config.vocab_size));
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    if (batch.mask[i] != 0) ++facts[static_cast<std::size_t>(batch.ids[i])].positions;
  }
  for (Id id = 0; id < config.vocab_size; ++id) {
    RowFacts& row = facts[static_cast<std::size_t>(id)];
    row.id = id;
    row.gradient_norm = distance(gradient.data() + id * kRowGradientsDim, nullptr);
    row.moved = distance(model.parameters().token_embedding()[id].data(),
                         before.token_embedding()[id].data());
  }
  return facts;
}

void judge(Outcome& outcome, const std::string& mixer, const std::vector<RowFacts>& facts) {
  double absent_gradient = 0;
  std::int64_t read = 0, without_gradient = 0, moved_wrongly = 0;
  for (const RowFacts& row : facts) {
    if (row.positions == 0) {
      absent_gradient = std::max(absent_gradient, row.gradient_norm);
    } else {
      ++read;
      without_gradient += row.gradient_norm == 0;
    }
    moved_wrongly += (row.moved > 0) != (row.positions > 0);
  }
  const auto count = static_cast<double>(facts.size());
  outcome.figures.push_back({mixer + ": rows read", static_cast<double>(read)});
  outcome.figures.push_back({mixer + ": rows not read", count - static_cast<double>(read)});
  outcome.require(mixer + ": largest gradient norm of a row that no position read", absent_gradient,
                  Relation::equal, 0);
  outcome.require(mixer + ": rows that were read and got no gradient",
                  static_cast<double>(without_gradient), Relation::equal, 0);
  outcome.require(mixer + ": rows read that one lazy step left, and rows not read that it moved",
                  static_cast<double>(moved_wrongly), Relation::equal, 0);
}

void show(Outcome& outcome, const TextIds& text, std::vector<RowFacts> facts) {
  std::stable_sort(facts.begin(), facts.end(), [](const RowFacts& a, const RowFacts& b) {
    return a.gradient_norm > b.gradient_norm;
  });
  Table table{"rows",
              "Mixer mean: what the batch did to each row",
              {"token", "id", "positions that read it", "gradient norm", "moved by one step"},
              {}};
  BarChart chart{"Mixer mean: gradient norm of each row", "norm", {}, {"gradient norm"}, {}, {}};
  for (const RowFacts& row : facts) {
    table.rows.push_back(
        {text.spelling(row.id), std::int64_t{row.id}, row.positions, row.gradient_norm, row.moved});
    if (chart.groups.size() == kRowGradientsShown) continue;
    chart.groups.push_back(text.spelling(row.id));
    chart.values.push_back(row.gradient_norm);
  }
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(chart));
}

}  // namespace

Outcome run_row_gradients(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_readably(setting.text);
  const text::Batch batch = first_windows(text, kRowGradientsRows, kRowGradientsLength);
  for (const char* mixer : {"none", "mean"}) {
    const std::vector<RowFacts> facts = try_one_step(setting, text, batch, mixer);
    judge(outcome, mixer, facts);
    if (std::string_view(mixer) == "mean") show(outcome, text, facts);
  }
  outcome.method = fmt::format(
      "The first {} windows of {} {} go through an untied model with freshly drawn parameters "
      "(D {}); the gradient of every row of the table is taken, then one AdamW step with lazy row "
      "updates.{}",
      batch.rows, batch.length, text.unit(), kRowGradientsDim, text.note);
  outcome.reading =
      "A batch teaches only the rows it reads. Every other row has a gradient of exactly zero, so "
      "a table of a large vocabulary is learned a few rows at a time.";
  return outcome;
}

}  // namespace lexirow::experiment
