#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "experiment/batch_model.h"
#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "proof/examination.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kPaddingRows = 8;
constexpr std::int64_t kPaddingLength = 8;
constexpr std::int64_t kPaddingDim = 16;
constexpr int kPaddingSteps = 50;
constexpr double kPaddingRate = 0.01;
constexpr double kDecay = 0.1;

/// How padding is declared, and what became of the pad row.
struct Case {
  bool attention_mask = false;
  bool label_mask = false;
  bool pad_id = false;
  bool left = false;
  context::MixerKind mixer = context::MixerKind::none;

  double gradient = 0;         // norm of its first gradient
  double length = 0;           // its norm before training
  double moved = 0;            // distance from where it began, with weight decay
  double moved_undecayed = 0;  // the same without weight decay

  bool undeclared() const { return !attention_mask && !label_mask && !pad_id; }
  std::string mixer_name() const { return context::mixer_name({mixer, 0}); }
  std::string side() const { return left ? "left" : "right"; }
};

/// Sequences of a text cut to unequal lengths and filled up with the pad token.
text::Batch padded_batch(const text::Batch& whole, Id pad, const Case& each) {
  text::Batch batch;
  batch.rows = whole.rows;
  batch.length = whole.length;
  for (std::int64_t b = 0; b < whole.rows; ++b) {
    // A window of n labels is a sequence of n + 1 tokens: its inputs and the last label.
    std::vector<Id> tokens = {whole.ids_view()[b][0]};
    for (Id label : whole.labels_view()[b]) {
      if (label != kIgnoredLabel) tokens.push_back(label);
    }
    const auto full = static_cast<std::size_t>(whole.length + 1);
    const auto most = full - 1 - static_cast<std::size_t>(b) % 4;
    tokens.resize(std::max<std::size_t>(2, std::min(tokens.size(), most)));
    tokens.insert(each.left ? tokens.begin() : tokens.end(), full - tokens.size(), pad);
    for (std::size_t t = 0; t + 1 < full; ++t) {
      const bool padding = tokens[t] == pad || tokens[t + 1] == pad;
      batch.ids.push_back(tokens[t]);
      batch.mask.push_back(tokens[t] != pad);
      batch.labels.push_back(each.label_mask && padding ? kIgnoredLabel : tokens[t + 1]);
    }
  }
  return batch;
}

/// Trains a fresh model on the batch; how far its pad row moved.
double train(base::ThreadPool& pool, const model::ModelConfig& config,
             const model::BatchView& batch, Id pad, double decay, std::uint64_t seed, Case& each) {
  optim::OptimizerConfig optimizer;
  optimizer.weight_decay = decay;
  BatchModel<float> model(pool, config, optimizer);
  model.draw(seed);
  const base::View1<float> row = model.parameters().token_embedding()[pad];
  const std::vector<double> before(row.begin(), row.end());
  double square = 0;
  for (double value : before) square += value * value;
  each.length = std::sqrt(square);
  model.find_gradients(batch);
  square = 0;
  const base::Array<float> gradient = model.table_gradient();
  for (std::int64_t c = 0; c < kPaddingDim; ++c) {
    const auto value = static_cast<double>(gradient[pad * kPaddingDim + c]);
    square += value * value;
  }
  each.gradient = std::sqrt(square);
  for (int step = 0; step < kPaddingSteps; ++step) model.step(batch, kPaddingRate);
  square = 0;
  for (std::size_t c = 0; c < before.size(); ++c) {
    const double change = static_cast<double>(row[static_cast<std::int64_t>(c)]) - before[c];
    square += change * change;
  }
  return std::sqrt(square);
}

void run_case(base::ThreadPool& pool, const text::Batch& whole, std::int64_t vocab_size,
              std::uint64_t seed, Case& each) {
  const auto pad = static_cast<Id>(vocab_size);
  const text::Batch batch = padded_batch(whole, pad, each);
  model::BatchView view = proof::view_of(batch);
  if (!each.attention_mask) view.mask = {};
  model::ModelConfig config;
  config.vocab_size = vocab_size + 1;
  config.dim = kPaddingDim;
  config.mixer = {each.mixer, 0};
  config.hidden = each.mixer == context::MixerKind::none ? 0 : kPaddingDim;
  if (each.pad_id) config.pad_id = pad;
  each.moved_undecayed = train(pool, config, view, pad, 0, seed, each);
  each.moved = train(pool, config, view, pad, kDecay, seed, each);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (int setting = 0; setting < 8; ++setting) {
    for (bool left : {false, true}) {
      for (context::MixerKind mixer : {context::MixerKind::none, context::MixerKind::mean}) {
        Case each;
        each.attention_mask = (setting & 4) != 0;
        each.label_mask = (setting & 2) != 0;
        each.pad_id = (setting & 1) != 0;
        each.left = left;
        each.mixer = mixer;
        cases.push_back(each);
      }
    }
  }
  return cases;
}

/// Smallest and largest of a value over the cases of one kind.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
};

Range range_of(const std::vector<Case>& cases, const std::function<bool(const Case&)>& chosen,
               double Case::*value) {
  Range range;
  for (const Case& each : cases) {
    if (!chosen(each)) continue;
    range.least = std::min(range.least, each.*value);
    range.most = std::max(range.most, each.*value);
  }
  return range;
}

void judge(Outcome& outcome, const std::vector<Case>& cases) {
  const auto declared = [](const Case& c) { return c.pad_id; };
  const auto masked = [](const Case& c) { return !c.pad_id && c.attention_mask && c.label_mask; };
  const auto undeclared = [](const Case& c) { return c.undeclared(); };
  const auto labels_only = [](const Case& c) {
    return c.label_mask && !c.attention_mask && !c.pad_id;
  };
  const auto sees_padding = [&](const Case& c) {
    return labels_only(c) && c.left && c.mixer == context::MixerKind::mean;
  };
  const auto sees_none = [&](const Case& c) { return labels_only(c) && !sees_padding(c); };
  const auto require = [&](const std::string& text, double figure, Relation relation) {
    outcome.require(text, figure, relation, 0);
  };
  require("pad id, any masks: largest first gradient of the pad row",
          range_of(cases, declared, &Case::gradient).most, Relation::equal);
  require("pad id, any masks: largest distance that the pad row moved",
          range_of(cases, declared, &Case::moved).most, Relation::equal);
  require("no pad id, both masks: largest first gradient of the pad row",
          range_of(cases, masked, &Case::gradient).most, Relation::equal);
  require("no pad id, both masks, no decay: largest distance moved",
          range_of(cases, masked, &Case::moved_undecayed).most, Relation::equal);
  require("no pad id, both masks, decay: smallest distance moved",
          range_of(cases, masked, &Case::moved).least, Relation::greater);
  require("no pad id, no mask: smallest first gradient of the pad row",
          range_of(cases, undeclared, &Case::gradient).least, Relation::greater);
  require("label mask alone, left padding, mean: first gradient of the pad row",
          range_of(cases, sees_padding, &Case::gradient).least, Relation::greater);
  require("label mask alone, other cases: largest first gradient of the pad row",
          range_of(cases, sees_none, &Case::gradient).most, Relation::equal);
  const double expected = 1 - std::pow(1 - kPaddingRate * kDecay, kPaddingSteps);
  double difference = 0;
  for (const Case& each : cases) {
    if (!masked(each)) continue;
    difference = std::max(difference, std::abs(each.moved / each.length - expected));
  }
  outcome.figures.push_back({"share of its length that decay alone takes", expected});
  outcome.require("no pad id, both masks, decay: share of the length lost against decay alone",
                  difference, Relation::at_most, kPaddingSteps * 6e-8);
}

void show(Outcome& outcome, const std::vector<Case>& cases) {
  const auto word = [](bool on) { return std::string(on ? "yes" : "no"); };
  Table table{"settings",
              "The pad row under every setting",
              {"attention mask", "label mask", "pad id", "padding", "mixer", "first gradient, norm",
               "length before", "moved, with decay", "moved, without decay"},
              {}};
  HeatMap gradients{"First gradient of the pad row", "", "", {}, {}, {}, 0, 0, "norm"};
  HeatMap movement{"Distance the pad row moved, with decay", "", "", {}, {}, {}, 0, 0, "distance"};
  for (const Case& each : cases) {
    table.rows.push_back({word(each.attention_mask), word(each.label_mask), word(each.pad_id),
                          each.side(), each.mixer_name(), each.gradient, each.length, each.moved,
                          each.moved_undecayed});
    std::string name;
    if (each.attention_mask) name += "attention mask, ";
    if (each.label_mask) name += "label mask, ";
    if (each.pad_id) name += "pad id, ";
    name = name.empty() ? "nothing" : name.substr(0, name.size() - 2);
    const std::string column = each.side() + ", " + each.mixer_name();
    if (gradients.rows.empty() || gradients.rows.back() != name) gradients.rows.push_back(name);
    if (gradients.rows.size() == 1) gradients.columns.push_back(column);
    gradients.values.push_back(each.gradient);
    movement.values.push_back(each.moved);
    gradients.high = std::max(gradients.high, each.gradient);
    movement.high = std::max(movement.high, each.moved);
  }
  movement.rows = gradients.rows;
  movement.columns = gradients.columns;
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(gradients));
  outcome.pictures.emplace_back(std::move(movement));
}

}  // namespace

Outcome run_padding(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const text::Batch whole = first_windows(text, kPaddingRows, kPaddingLength);
  std::vector<Case> cases = all_cases();
  for (Case& each : cases) {
    run_case(setting.pool, whole, text.vocab_size(), setting.seed, each);
  }
  judge(outcome, cases);
  show(outcome, cases);
  outcome.method = fmt::format(
      "{} sequences of the text, by characters, are cut to unequal lengths and filled up to {} "
      "with "
      "a pad token that the text does not have, on the right or on the left. Attention mask "
      "(padding "
      "is no part of a context), label mask (padding is neither predicted nor predicts) and pad id "
      "(the model keeps that row at zero) are on or off: eight settings, two sides, mixers none "
      "and "
      "mean. Of the pad row: its first gradient, and how far {} steps of AdamW (rate {}) move it, "
      "with weight decay {} and without. D {}, seed {}.{}",
      whole.rows, kPaddingLength, kPaddingSteps, kPaddingRate, kDecay, kPaddingDim, setting.seed,
      text.note);
  outcome.reading =
      "Only the pad id keeps the pad row in its place. Both masks together take its gradient away "
      "and so hide that the pad id is missing, but weight decay goes on shrinking the row. A label "
      "mask alone is enough where nothing reads the padding: on the right of a causal model, not "
      "on "
      "the left of a mean.";
  return outcome;
}

}  // namespace lexirow::experiment
