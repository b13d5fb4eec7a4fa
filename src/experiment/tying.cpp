#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiment/batch_model.h"
#include "experiment/experiments.h"
#include "experiment/statistics.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"
#include "lexirow/error.h"
#include "proof/examination.h"
#include "train/derive.h"
#include "train/evaluate.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kTyingLength = 8;
constexpr std::int64_t kTyingDim = 32;
constexpr std::int64_t kShare = 10;  // one token of so many is held out
constexpr std::int64_t kTyingEvaluationRows = 256;
constexpr double kTyingMebibyte = 1024.0 * 1024.0;

/// Takes the last tenth away from the text, two tokens at least.
std::vector<Id> hold_out(TextIds& text) {
  const std::int64_t held = std::max<std::int64_t>(2, text.size() / kShare);
  if (text.size() < held + 2) {
    throw Error(
        ErrorKind::file,
        fmt::format("tying: the text has {} tokens; 4 at least are needed, 2 to train on and "
                    "2 to hold out: give a longer --text",
                    text.size()));
  }
  const std::vector<Id> last(text.ids.end() - held, text.ids.end());
  text.ids.resize(text.ids.size() - static_cast<std::size_t>(held));
  return last;
}

train::Settings settings_of(bool tied, std::int64_t steps, std::uint64_t seed) {
  train::Settings settings = trial_settings("mean", kTyingLength, kTyingDim, 64, steps, seed);
  settings.tied = tied;
  settings.bias = false;
  settings.init = "auto";
  return settings;
}

/// What training of both kinds gave, a value a seed.
struct TyingLosses {
  std::vector<double> training, held_out;
};

TyingLosses train_seeds(const Setting& setting, const TextIds& text, const std::vector<Id>& last,
                        bool tied, std::int64_t steps, int seeds) {
  TyingLosses losses;
  const auto size = static_cast<std::int64_t>(last.size());
  const text::MemoryTokenStream stream(last, {0, size});
  for (int i = 0; i < seeds; ++i) {
    const train::Settings settings =
        settings_of(tied, steps, setting.seed + static_cast<std::uint64_t>(i));
    Trial trial(setting.pool, text, settings);
    trial.train_to(steps);
    losses.training.push_back(trial.loss());
    const text::WindowPlan plan(stream, 0, size, train::window_options(settings, false));
    model::Workspace<float> workspace;
    losses.held_out.push_back(train::evaluate_windows(setting.pool, settings, trial.config(),
                                                      trial.parameters(), stream, plan,
                                                      kTyingEvaluationRows, workspace)
                                  .loss.mean());
  }
  return losses;
}

/// Values of weights, of dense gradients and of AdamW's moments, from the arrays of a model.
struct Values {
  std::int64_t weights = 0, gradients = 0, moments = 0;
  std::int64_t sum() const { return weights + gradients + moments; }
};

Values count_values(base::ThreadPool& pool, const model::ModelConfig& config) {
  BatchModel<float> model(pool, config);
  Values values;
  values.weights = model.parameters().count();
  values.gradients = model::Parameters<float>(config).count();
  for (const auto& tensor : model.optimizer().state()) values.moments += tensor.values.size();
  return values;
}

/// The model without mixer and MLP: a table and its head.
model::ModelConfig table_and_head(std::int64_t vocab_size, std::int64_t dim, bool tied) {
  model::ModelConfig config;
  config.vocab_size = vocab_size;
  config.dim = dim;
  config.mixer = {context::MixerKind::none, 0};
  config.tied = tied;
  config.bias = false;
  return config;
}

void require_sizes(Outcome& outcome, base::ThreadPool& pool) {
  constexpr std::int64_t kRows = 4096;
  constexpr std::int64_t kWidth = 256;
  const Values tied = count_values(pool, table_and_head(kRows, kWidth, true));
  const Values untied = count_values(pool, table_and_head(kRows, kWidth, false));
  Table table{"memory",
              "A table of 4096x256 and its head under AdamW, float32, counted from the arrays",
              {"head", "parameters", "weights, MiB", "dense gradients, MiB", "moments, MiB",
               "together, MiB"},
              {}};
  const auto mebibytes = [](std::int64_t values) {
    return static_cast<double>(values) * sizeof(float) / kTyingMebibyte;
  };
  const auto add = [&](const char* name, const Values& values) {
    table.rows.push_back({name, values.weights, mebibytes(values.weights),
                          mebibytes(values.gradients), mebibytes(values.moments),
                          mebibytes(values.sum())});
  };
  add("tied", tied);
  add("untied", untied);
  outcome.tables.push_back(std::move(table));
  outcome.require("4096x256: parameters that tying saves, against V times D",
                  static_cast<double>(untied.weights - tied.weights), Relation::equal,
                  static_cast<double>(kRows * kWidth));
  outcome.require("4096x256: values kept in training, untied over tied",
                  static_cast<double>(untied.sum()) / static_cast<double>(tied.sum()),
                  Relation::equal, 2);
}

/// The shared gradient against both roles apart, and how many rows each of them touches.
void require_roles(Outcome& outcome, base::ThreadPool& pool, const TextIds& text,
                   std::uint64_t seed) {
  model::ModelConfig config = table_and_head(text.vocab_size(), kTyingDim, true);
  config.mixer = {context::MixerKind::mean, 0};
  config.hidden = kTyingDim;
  model::Parameters<float> parameters(config);
  model::initialize<float>(config, seed, model::Init::automatic, parameters);
  proof::CheckSubject subject;
  subject.config = config;
  subject.parameters = &parameters;
  subject.ids = text.ids;
  subject.seed = seed;
  subject.length = kTyingLength;
  const proof::Parts parts;
  const proof::Verdict verdict = proof::check_tied_head({pool, subject, parts, ""});
  outcome.require(
      "gradient of the shared table less those of both roles, share of the largest value",
      verdict.figure, Relation::at_most, verdict.limit);
  const text::Batch batch = first_windows(text, 4, kTyingLength);
  for (bool tied : {false, true}) {
    config.tied = tied;
    BatchModel<double> model(pool, config);
    model.draw(seed);
    model.find_gradients(proof::view_of(batch));
    const base::Array<double> gradient = model.table_gradient();
    double rows = 0;
    for (std::int64_t id = 0; id < config.vocab_size; ++id) {
      const double* row = gradient.data() + id * kTyingDim;
      rows += std::any_of(row, row + kTyingDim, [](double value) { return value != 0; });
    }
    outcome.figures.push_back({fmt::format("{}: rows of the table with gradient, of {}",
                                           tied ? "tied" : "untied", config.vocab_size),
                               rows});
  }
}

void require_losses(Outcome& outcome, const Setting& setting, TextIds& text, std::int64_t steps,
                    int seeds) {
  const std::vector<Id> last = hold_out(text);
  const train::Settings settings = settings_of(true, steps, setting.seed);
  const auto stream = text.stream();
  const double unigram = count_entropies(*stream,
                                         text::WindowPlan(*stream, 0, stream->size(),
                                                          train::window_options(settings, true)),
                                         text.vocab_size())
                             .unigram;
  Table table{
      "losses", "Loss after training, nats a token", {"seed", "head", "training", "held out"}, {}};
  BarChart chart{"Loss after training, mean over the seeds",
                 "nats a token",
                 {"training", "held out"},
                 {"tied", "untied"},
                 {},
                 {{"unigram entropy", unigram}}};
  const TyingLosses both[] = {train_seeds(setting, text, last, true, steps, seeds),
                              train_seeds(setting, text, last, false, steps, seeds)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(seeds); ++i) {
    for (std::size_t kind : {0U, 1U}) {
      table.rows.push_back({static_cast<std::int64_t>(setting.seed + i),
                            kind == 0 ? "tied" : "untied", both[kind].training[i],
                            both[kind].held_out[i]});
    }
  }
  for (std::size_t kind : {0U, 1U}) {
    const std::string name = kind == 0 ? "tied" : "untied";
    outcome.figures.push_back({name + ": held-out loss", mean_of(both[kind].held_out)});
    outcome.require(name + ": largest training loss of the seeds, below the unigram entropy",
                    *std::max_element(both[kind].training.begin(), both[kind].training.end()),
                    Relation::less, unigram);
  }
  chart.values = {mean_of(both[0].training), mean_of(both[1].training), mean_of(both[0].held_out),
                  mean_of(both[1].held_out)};
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(chart));
  const double gap = mean_of(both[0].held_out) - mean_of(both[1].held_out);
  outcome.reading = fmt::format(
      "A tied head is the table itself: it costs no parameters, and the table gets gradient from "
      "both uses, as head in every row. On this text the held-out loss of the tied model is {:.3f} "
      "nats {} that of the untied one.",
      std::abs(gap), gap > 0 ? "above" : "below");
}

}  // namespace

Outcome run_tying(const Setting& setting) {
  Outcome outcome;
  TextIds text = encode_readably(setting.text);
  const std::int64_t steps = setting.quick ? 300 : 1500;
  const int seeds = setting.quick ? 2 : 3;
  require_losses(outcome, setting, text, steps, seeds);
  require_sizes(outcome, setting.pool);
  require_roles(outcome, setting.pool, text, setting.seed);
  outcome.method = fmt::format(
      "Models of mixer mean (D {}, T {}, no bias, {} steps, seeds {} to {}) are trained on the "
      "text, "
      "by {}, without its last tenth, which is held out; the tied one begins with a table scaled "
      "to "
      "deviation D^-0.5. Memory is counted from the arrays of a table of 4096x256. The gradient of "
      "the tied table is compared in float64 with those of an untied copy, rows and head apart.{}",
      kTyingDim, kTyingLength, steps, setting.seed,
      setting.seed + static_cast<std::uint64_t>(seeds) - 1, text.unit(), text.note);
  return outcome;
}

}  // namespace lexirow::experiment
