#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "experiment/batch_model.h"
#include "experiment/experiments.h"
#include "experiment/statistics.h"
#include "experiment/tiny_text.h"
#include "proof/examination.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kIdsRows = 32;
constexpr std::int64_t kIdsLength = 8;
constexpr std::int64_t kIdsDim = 16;
constexpr double kIdsRate = 0.1;
// Sums over V run in another order, and the steps carry their rounding on.
constexpr double kIdsRounding = 1e-12;

/// new id = order[old id].
using Order = std::vector<Id>;

Order reversed(std::int64_t size) {
  Order order(static_cast<std::size_t>(size));
  std::iota(order.rbegin(), order.rend(), Id{0});
  return order;
}

Order shuffled(std::int64_t size, std::uint64_t seed) {
  Order order;
  for (std::size_t id : random_order(static_cast<std::size_t>(size), seed)) {
    order.push_back(static_cast<Id>(id));
  }
  return order;
}

text::Batch relabelled(const text::Batch& batch, const Order& order) {
  text::Batch result = batch;
  for (Id& id : result.ids) id = order[static_cast<std::size_t>(id)];
  for (Id& label : result.labels) {
    if (label != kIgnoredLabel) label = order[static_cast<std::size_t>(label)];
  }
  return result;
}

/// Moves row i of everything that has a row a token (table, head, bias) to row order[i].
void permute_rows(model::Parameters<double>& parameters, const Order& order) {
  for (const auto& tensor : parameters.tensors()) {
    if (tensor.name != "token_embedding.weight" && !tensor.name.starts_with("lm_head")) continue;
    const std::int64_t width = tensor.values.size() / static_cast<std::int64_t>(order.size());
    const std::vector<double> old(tensor.values.begin(), tensor.values.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::copy_n(old.data() + static_cast<std::int64_t>(i) * width, width,
                  tensor.values.data() + order[i] * width);
    }
  }
}

struct Subject {
  std::string name;
  model::ModelConfig config;
};

std::vector<Subject> subjects(std::int64_t vocab_size) {
  model::ModelConfig config;
  config.vocab_size = vocab_size;
  config.dim = kIdsDim;
  config.hidden = kIdsDim;
  Subject mean{"mean, untied", config};
  config.mixer = {context::MixerKind::none, 0};
  config.hidden = 0;
  config.tied = true;
  config.bias = false;
  return {mean, {"none, tied", config}};
}

/// The loss before each step of a training run on one batch.
Line train(base::ThreadPool& pool, const Subject& subject, const text::Batch& batch,
           const Order* rows, std::uint64_t seed, int steps, const std::string& name) {
  // Plain and slow: AdamW divides rounding by rounding where a gradient is nearly 0, and steps at
  // the edge of stability let any difference grow.
  optim::OptimizerConfig optimizer;
  optimizer.kind = optim::OptimizerKind::sgd;
  optimizer.weight_decay = 0;
  BatchModel<double> model(pool, subject.config, optimizer);
  model.draw(seed);
  if (rows != nullptr) permute_rows(model.parameters(), *rows);
  Line line{name, {}, {}};
  for (int step = 0; step < steps; ++step) {
    line.x.push_back(step);
    line.y.push_back(model.step(proof::view_of(batch), kIdsRate));
  }
  return line;
}

double largest_difference(const Line& a, const Line& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.y.size(); ++i) {
    largest = std::max(largest, std::abs(a.y[i] - b.y[i]));
  }
  return largest;
}

}  // namespace

Outcome run_ids(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const text::Batch batch = first_windows(text, kIdsRows, kIdsLength);
  const int steps = setting.quick ? 60 : 300;
  const Order backwards = reversed(text.vocab_size());
  const Order mixed = shuffled(text.vocab_size(), setting.seed);
  Table table{"losses",
              "Loss by step and labelling, nats a token",
              {"model", "labelling", "first loss", "last loss", "largest difference"},
              {}};
  for (const Subject& subject : subjects(text.vocab_size())) {
    const auto run = [&](const text::Batch& ids, const Order* rows, const std::string& name) {
      return train(setting.pool, subject, ids, rows, setting.seed, steps, name);
    };
    LineChart chart{subject.name, "step", "loss, nats a token", false, false, {}, {}};
    chart.lines = {run(batch, nullptr, "ids of the text"),
                   run(relabelled(batch, backwards), &backwards, "reversed, rows moved along"),
                   run(relabelled(batch, mixed), &mixed, "shuffled, rows moved along"),
                   run(relabelled(batch, mixed), nullptr, "shuffled, rows left where they are")};
    for (const Line& line : chart.lines) {
      table.rows.push_back({subject.name, line.name, line.y.front(), line.y.back(),
                            largest_difference(chart.lines.front(), line)});
    }
    for (std::size_t i : {1U, 2U}) {
      outcome.require(
          fmt::format("{}, {}: largest difference of a loss", subject.name, chart.lines[i].name),
          largest_difference(chart.lines[0], chart.lines[i]), Relation::at_most, kIdsRounding);
    }
    outcome.require(
        fmt::format("{}, {}: largest difference of a loss", subject.name, chart.lines[3].name),
        largest_difference(chart.lines[0], chart.lines[3]), Relation::greater, kIdsRounding);
    outcome.pictures.emplace_back(std::move(chart));
  }
  outcome.tables.push_back(std::move(table));
  outcome.method = fmt::format(
      "The first {} labels of the text, by characters, train two models in float64 (D {}, SGD, "
      "rate {}, {} steps, seed {}). Then every id is given another number, and the rows of table, "
      "head and bias move along; the losses of all steps are compared. The control gives new "
      "numbers and leaves the rows where they are.{}",
      batch.counted, kIdsDim, kIdsRate, steps, setting.seed, text.note);
  outcome.reading =
      outcome.holds()
          ? "An id is only the number of a row: that 7 is larger than 3 means nothing to the "
            "model. "
            "Only rounding tells the labellings apart, because a sum over the vocabulary runs in "
            "another order."
          : "The claim needs a text of several different characters: where there is only one, "
            "every "
            "order of the rows is the same.";
  return outcome;
}

}  // namespace lexirow::experiment
