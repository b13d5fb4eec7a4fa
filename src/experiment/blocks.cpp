#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiment/batch_model.h"
#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "proof/examination.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kBlocksRows = 4;
constexpr std::int64_t kBlocksLength = 8;
constexpr std::int64_t kBlocksDim = 8;
constexpr std::int64_t kHidden = 16;

/// One stage of the way: what the definitions say about its shape, and the values that are there.
struct Stage {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t values;
};

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? "one number" : fmt::format("[{}]", fmt::join(shape, ", "));
}

void require_shapes(Outcome& outcome, const std::vector<Stage>& stages) {
  Table table{"shapes",
              "Shapes all the way",
              {"stage", "shape", "values by the shape", "values counted"},
              {}};
  std::int64_t different = 0;
  for (const Stage& stage : stages) {
    std::int64_t product = 1;
    for (std::int64_t extent : stage.shape) product *= extent;
    table.rows.push_back({stage.name, shape_text(stage.shape), product, stage.values});
    different += product != stage.values;
  }
  outcome.require("stages whose number of values is not that of their shape",
                  static_cast<double>(different), Relation::equal, 0);
  outcome.tables.push_back(std::move(table));
}

/// Each row of the block with its labels, and how many labels are not the token behind.
void require_labels(Outcome& outcome, const TextIds& text, const text::Batch& batch) {
  Table table{
      "block", "The block", {"row", "tokens read", "ids", "tokens to predict", "labels"}, {}};
  std::int64_t wrong = 0;
  for (std::int64_t b = 0; b < batch.rows; ++b) {
    std::string read;
    std::string predicted;
    std::vector<Id> ids;
    std::vector<Id> labels;
    for (std::int64_t t = 0; t < batch.length; ++t) {
      const Id label = batch.labels_view()[b][t];
      if (label == kIgnoredLabel) continue;
      ids.push_back(batch.ids_view()[b][t]);
      labels.push_back(label);
      read += text.spelling(ids.back());
      predicted += text.spelling(label);
      const std::int64_t place = batch.begins[static_cast<std::size_t>(b)] + t;
      wrong += label != text.ids[static_cast<std::size_t>(place + 1)];
      wrong += ids.back() != text.ids[static_cast<std::size_t>(place)];
    }
    table.rows.push_back({b, read, fmt::format("{}", fmt::join(ids, " ")), predicted,
                          fmt::format("{}", fmt::join(labels, " "))});
  }
  outcome.require("ids that are not the text's, and labels that are not the token behind",
                  static_cast<double>(wrong), Relation::equal, 0);
  outcome.tables.push_back(std::move(table));
}

/// Values of the looked up rows that are not, bit for bit, those of the table's row.
std::int64_t wrong_rows(const text::Batch& batch, base::View2<const float> table,
                        const base::Array<float>& hidden) {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    wrong += proof::differing_bits(table[batch.ids[i]].data(),
                                   hidden.data() + static_cast<std::int64_t>(i) * kBlocksDim,
                                   kBlocksDim);
  }
  return wrong;
}

HeatMap block_picture(const TextIds& text, const text::Batch& batch, BatchModel<float>& model) {
  HeatMap map{"Row 0 of the block: the rows its tokens picked",
              "value of the row",
              "",
              {},
              {},
              {},
              -3,
              3,
              "value"};
  for (std::int64_t c = 0; c < kBlocksDim; ++c) map.columns.push_back(std::to_string(c));
  for (std::int64_t t = 0; t < batch.length; ++t) {
    if (batch.mask_view()[0][t] == 0) continue;
    const Id id = batch.ids_view()[0][t];
    map.rows.push_back(fmt::format("{} (id {})", text.spelling(id), id));
    for (float value : model.parameters().token_embedding()[id]) {
      map.values.push_back(static_cast<double>(value));
    }
  }
  return map;
}

}  // namespace

Outcome run_blocks(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const text::Batch batch = first_windows(text, kBlocksRows, kBlocksLength);
  model::ModelConfig config;
  config.vocab_size = text.vocab_size();
  config.dim = kBlocksDim;
  config.hidden = kHidden;
  BatchModel<float> model(setting.pool, config);
  model.draw(setting.seed);
  const model::BatchView view = proof::view_of(batch);
  const double loss = model.find_gradients(view);
  const std::int64_t wrong =
      wrong_rows(batch, model.parameters().token_embedding(), model.workspace().hidden);
  const std::int64_t b = batch.rows;
  const std::int64_t t = batch.length;
  const std::int64_t v = config.vocab_size;
  std::vector<Stage> stages = {
      {"ids [B, T]", {b, t}, static_cast<std::int64_t>(batch.ids.size())},
      {"table [V, D]", {v, kBlocksDim}, model.parameters().token_embedding().size()},
      {"rows [B, T, D]", {b, t, kBlocksDim}, model.workspace().hidden.size()},
      {"context [B, T, D]", {b, t, kBlocksDim}, model.workspace().context.size()},
      {"hidden layer [B, T, H]", {b, t, kHidden}, model.workspace().mlp.activated.size()},
      {"what the head reads [B, T, D]", {b, t, kBlocksDim}, model.workspace().out.size()},
      {"labels [B, T]", {b, t}, static_cast<std::int64_t>(batch.labels.size())},
      {"gradient of the rows [B, T, D]", {b, t, kBlocksDim}, model.workspace().d_hidden.size()},
      {"gradient of the table [V, D]", {v, kBlocksDim}, model.table_gradient().size()}};
  const Stage logits{
      "logits [B, T, V]", {b, t, v}, static_cast<std::int64_t>(model.logits(view).size())};
  stages.insert(stages.begin() + 6, logits);
  require_shapes(outcome, stages);
  require_labels(outcome, text, batch);
  outcome.require("values of the rows that differ from the table's rows in any bit",
                  static_cast<double>(wrong), Relation::equal, 0);
  outcome.pictures.emplace_back(block_picture(text, batch, model));
  outcome.figures = {{"B, rows of the block", static_cast<double>(b)},
                     {"T, positions of a row", static_cast<double>(t)},
                     {"V, rows of the table", static_cast<double>(v)},
                     {"D, width of a row", static_cast<double>(kBlocksDim)},
                     {"labels that count", static_cast<double>(batch.counted)},
                     {"loss, nats a token", loss}};
  outcome.method = fmt::format(
      "The first {} tokens of the text, by characters, are cut in a block of {} rows of {} and run "
      "through a model of mixer mean with {} hidden units, seed {}: forward to the loss, and back "
      "to "
      "the table. The values of every array on the way are counted.{}",
      batch.counted + 1, b, t, kHidden, setting.seed, text.note);
  outcome.reading =
      "An id has no width of its own: the lookup gives each id of [B, T] the D values of its row, "
      "and the gradient of any block, however large, is added into the [V, D] of the one table.";
  return outcome;
}

}  // namespace lexirow::experiment
