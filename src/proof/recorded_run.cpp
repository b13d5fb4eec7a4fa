#include "proof/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "context/mixer.h"
#include "lexirow/error.h"
#include "proof/recorded_fields.h"

namespace lexirow::proof {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostRows = std::numeric_limits<Id>::max();
constexpr std::int64_t kMostSize = std::int64_t{1} << 31;

/// `current` is what PyTorch users call a model that reads the current token only.
constexpr const char* kModels =
    "current (or none), mean, window, concat (the last two with the field window, or as "
    "window:W), full-mean or centred";

context::Mixer read_mixer(RecordedFields& fields) {
  const std::string model = fields.text("model");
  std::string form = model == "current" ? "none" : model;
  if (fields.has("window")) {
    const std::int64_t window = fields.integer("window", 1, 65536);
    if (model != "window" && model != "concat") {
      fields.refuse(
          "window", std::to_string(window),
          fmt::format("no window: the model is {}, and only window and concat have one", model));
    }
    form += fmt::format(":{}", window);
  } else if (model == "window" || model == "concat") {
    fields.at("window");
    fields.refuse("window", json(), "how many positions the model sees");
  }
  try {
    return context::parse_mixer(form);
  } catch (const Error&) {
    fields.refuse("model", json(model), kModels);
  }
}

model::ModelConfig read_config(RecordedFields& fields) {
  model::ModelConfig config;
  config.mixer = read_mixer(fields);
  config.vocab_size = fields.integer("vocab_size", 1, kMostRows);
  config.dim = fields.integer("dim", 1, kMostSize);
  const bool current = config.mixer.is(context::MixerKind::none);
  config.hidden =
      fields.has("hidden") ? fields.integer("hidden", 0, kMostSize) : (current ? 0 : config.dim);
  config.tied = fields.boolean("tied");
  config.bias = fields.has("bias") ? fields.boolean("bias") : !config.tied;
  fields.at("padding_idx");
  if (fields.has("padding_idx")) {
    config.pad_id = static_cast<Id>(fields.integer("padding_idx", 0, config.vocab_size - 1));
  }
  if (config.tied && config.pad_id != kNoId) {
    fields.refuse(
        "a tied head together with padding_idx cannot be replayed: PyTorch scores the pad row as a "
        "token that could follow, and here a tied pad row is left out of the softmax; record it "
        "untied, or without padding_idx");
  }
  return config;
}

optim::OptimizerConfig read_optimizer(RecordedFields& fields) {
  const std::string name = fields.text("optimizer");
  optim::OptimizerConfig config;
  if (name == "sgd") {
    config.kind = optim::OptimizerKind::sgd;
  } else if (name == "adagrad") {
    config.kind = optim::OptimizerKind::adagrad;
  } else if (name != "adamw") {
    fields.refuse("optimizer", json(name), "sgd, adamw or adagrad");
  }
  const bool adamw = config.kind == optim::OptimizerKind::adamw;
  if (fields.has("momentum")) config.momentum = fields.number("momentum");
  if (fields.has("betas")) {
    const std::vector<double> betas = fields.numbers("betas", 2, "beta 1 and beta 2");
    if (!adamw) fields.refuse("betas", fields.at("betas"), "none: only adamw has betas");
    config.beta1 = betas[0];
    config.beta2 = betas[1];
  }
  if (fields.has("eps")) {
    const double eps = fields.number("eps");
    if (adamw) {
      config.eps = eps;
    } else if (config.kind == optim::OptimizerKind::sgd || eps != optim::kAdagradEps) {
      fields.refuse("eps", fields.at("eps"),
                    fmt::format("none with sgd, and {} with adagrad", optim::kAdagradEps));
    }
  }
  config.weight_decay =
      fields.has("weight_decay") ? fields.number("weight_decay") : (adamw ? 0.01 : 0.0);
  return config;
}

std::vector<Id> as_ids(const std::vector<std::int64_t>& values) {
  std::vector<Id> ids;
  for (const std::int64_t value : values) ids.push_back(static_cast<Id>(value));
  return ids;
}

RecordedFields::Range id_range(std::int64_t vocab_size) {
  const std::int64_t last = vocab_size - 1;
  return {.most = last, .expected = fmt::format("an id from 0 to {}", last)};
}

RecordedFields::Range label_range(std::int64_t vocab_size) {
  RecordedFields::Range range = id_range(vocab_size);
  range.other = kIgnoredLabel;
  range.expected += fmt::format(", or {} for none", kIgnoredLabel);
  return range;
}

text::Batch read_batch(RecordedFields& fields, std::int64_t vocab_size) {
  text::Batch batch;
  batch.rows = fields.integer("batch", 1, kMostSize);
  batch.length = fields.integer("length", 1, kMostSize);
  batch.ids = as_ids(fields.matrix("input_ids", batch.rows, batch.length, id_range(vocab_size)));
  batch.labels = as_ids(fields.matrix("labels", batch.rows, batch.length, label_range(vocab_size)));
  fields.at("attention_mask");
  batch.mask.assign(batch.ids.size(), 1);
  if (fields.has("attention_mask")) {
    const std::vector<std::int64_t> mask = fields.matrix(
        "attention_mask", batch.rows, batch.length,
        {.most = 1, .booleans = true, .expected = "1 for a visible position or 0 for padding"});
    std::transform(mask.begin(), mask.end(), batch.mask.begin(),
                   [](std::int64_t value) { return static_cast<std::uint8_t>(value); });
  }
  batch.counted = static_cast<std::int64_t>(batch.labels.size()) -
                  std::count(batch.labels.begin(), batch.labels.end(), kIgnoredLabel);
  if (batch.counted == 0) {
    fields.refuse("labels", fmt::format("only {}", kIgnoredLabel),
                  "a label that counts: a mean over none is not a number");
  }
  return batch;
}

void read_losses(RecordedFields& fields, RecordedRun& run) {
  const std::int64_t steps = fields.integer("steps", 1, kMostSize);
  run.losses = fields.numbers("losses", steps, "steps");
  if (!fields.has("losses_float64")) return;
  run.losses_float64 = fields.numbers("losses_float64", steps, "steps");
  std::size_t at = 0;
  for (std::size_t step = 0; step < run.losses.size(); ++step) {
    const double gap = relative_difference(run.losses[step], run.losses_float64[step]);
    if (gap <= run.float64_gap) continue;
    run.float64_gap = gap;
    at = step;
  }
  if (run.float64_gap > kLargestFloat64Gap) {
    fields.refuse(
        "losses_float64",
        fmt::format("{} at step {} beside a loss of {}", run.losses_float64[at], at,
                    run.losses[at]),
        fmt::format("a relative difference of {} at most: beyond it rounding alone decides "
                    "where a run goes; record fewer steps or a lower rate",
                    kLargestFloat64Gap));
  }
}

FirstStep read_first_step(RecordedFields fields, std::int64_t vocab_size) {
  FirstStep facts;
  facts.rows_with_gradient =
      as_ids(fields.integers("embedding_rows_with_gradient", id_range(vocab_size)));
  std::sort(facts.rows_with_gradient.begin(), facts.rows_with_gradient.end());
  facts.embedding_grad_norm = fields.number("embedding_grad_norm");
  const json& logits = fields.at("logits_0_0");
  const auto count = static_cast<std::int64_t>(logits.size());
  if (!logits.is_array() || count < 1 || count > vocab_size) {
    fields.refuse("logits_0_0", logits, fmt::format("a list of 1 to {} logits", vocab_size));
  }
  facts.logits = fields.numbers("logits_0_0", count, "logits");
  return facts;
}

RecordedRun read_run(RecordedFields fields) {
  RecordedRun run;
  run.name = fields.text("name");
  run.config = read_config(fields);
  run.optimizer = read_optimizer(fields);
  const json& seed = fields.at("seed");
  if (!seed.is_number_unsigned()) fields.refuse("seed", seed, "a whole number of 0 or more");
  run.seed = seed.get<std::uint64_t>();
  run.learning_rate = fields.number("lr");
  if (run.learning_rate < 0) fields.refuse("lr", fields.at("lr"), "a rate of 0 or more");
  run.batch = read_batch(fields, run.config.vocab_size);
  read_losses(fields, run);
  run.first_step = read_first_step(fields.object("first_step"), run.config.vocab_size);
  run.final_row_sums =
      fields.numbers("final_embedding_row_sum", run.config.vocab_size, "vocab_size");
  try {
    model::validate(run.config);
    optim::validate(run.optimizer);
  } catch (const Error& error) {
    fields.refuse(error.what());
  }
  run.unknown_fields = fields.unread();
  return run;
}

/// How messages call a case: by its name, or by its place where it has none.
std::string case_name(const json& record, std::size_t place) {
  const auto name = record.is_object() ? record.find("name") : record.end();
  if (!record.is_object() || name == record.end() || !name->is_string()) {
    return fmt::format("cases[{}]", place);
  }
  return fmt::format("case \"{}\"", name->get<std::string>());
}

}  // namespace

double relative_difference(double a, double b) {
  if (a == b) return 0;
  return std::abs(a - b) / std::max(std::abs(a), std::abs(b));
}

Recording parse_recording(const std::string& text, const std::string& name) {
  const json root = parse_recorded_json(text, name);
  RecordedFields fields(root, name);
  Recording recording;
  if (fields.has("source")) recording.source = fields.text("source");
  const json& cases = fields.at("cases");
  if (!cases.is_array() || cases.empty()) {
    fields.refuse("cases", cases, "a list of at least one recorded run");
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string where = name + ": " + case_name(cases[i], i);
    recording.runs.push_back(read_run(RecordedFields(cases[i], where)));
    if (!names.insert(recording.runs.back().name).second) {
      throw Error(
          ErrorKind::file,
          fmt::format("{}: stands in the file twice; give each case a name of its own", where));
    }
  }
  return recording;
}

}  // namespace lexirow::proof
