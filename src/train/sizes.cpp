#include "train/sizes.h"

#include <algorithm>

#include "base/checked.h"
#include "context/mixer.h"
#include "train/derive.h"
#include "train/presets.h"

namespace lexirow::train {

namespace {

constexpr std::int64_t kFloat = 4;

// Values that the optimizer keeps for each value of a parameter.
std::int64_t states_per_value(const Settings& settings) {
  if (settings.optimizer == "adamw") return 2;
  if (settings.optimizer == "sgd") return settings.momentum > 0 ? 1 : 0;
  return 1;
}

}  // namespace

Sizes model_sizes(const model::ModelConfig& config, const Settings& settings) {
  const std::int64_t v = config.vocab_size;
  const std::int64_t d = config.dim;
  const std::int64_t h = config.hidden;
  const std::int64_t f = context::feature_width(config.mixer, d);
  const std::int64_t n = base::checked_product({settings.batch, settings.context}, "batch");
  const std::int64_t table =
      base::checked_product({v, d, kFloat}, "token_embedding.weight") / kFloat;
  std::int64_t dense = (config.bias ? v : 0) + context::learned_rates(config.mixer);
  if (!config.tied) dense += table;
  const std::int64_t positions = base::checked_product({config.max_positions, d}, "positions");
  if (config.positions == rows::Positions::learned) dense += positions;
  const logits::MlpForm& mlp = config.mlp;
  if (h > 0) {
    dense += base::checked_product({h, f}, "mixer.0.weight") + h + d * h + d;
    dense += (mlp.layers - 1) * (base::checked_product({h, h}, "mixer.2.weight") + h);
    dense += mlp.norms() * 2 * h;
  }

  Sizes sizes;
  sizes.parameters = table + dense;
  sizes.weight_bytes = base::checked_product({sizes.parameters, kFloat}, "weights");
  // Under a sampled loss the head is a table too, of which a batch reads some rows.
  const std::int64_t negatives = negatives_of(settings);
  const bool head_is_table = negatives > 0 && !config.tied;
  std::int64_t touched = config.tied ? table : std::min(v, n) * d;
  if (head_is_table) touched += std::min(v, n + negatives) * d - table;
  sizes.gradient_bytes = base::checked_product({dense + touched, kFloat}, "gradients");
  // adagrad-row keeps one value for each row of a table, tied or not.
  const std::int64_t row_values =
      settings.optimizer == "adagrad-row" ? (head_is_table ? 2 : 1) * (table - v) : 0;
  sizes.moment_bytes = base::checked_product(
      {states_per_value(settings), sizes.parameters - row_values, kFloat}, "optimizer state");
  // Rows, context and the head's input, each with its gradient; of a hidden layer its sums, their
  // gradient and its output; the norms. The logits are held for a few chunks of tokens only.
  const std::int64_t of_layers = h == 0 ? 0 : (3 * mlp.layers + mlp.norms()) * h;
  const std::int64_t of_gradients = (mlp.residual ? h : 0) + (mlp.norms() > 0 ? h : 0);
  const std::int64_t width = 2 * (d + f + d) + of_layers + of_gradients;
  sizes.activation_bytes = base::checked_product({n, width, kFloat}, "activations");
  if (config.positions == rows::Positions::sinusoidal) sizes.activation_bytes += positions * kFloat;
  if (negatives > 0) {  // the head's rows that are read and their gradient; the scores
    sizes.activation_bytes +=
        base::checked_product({n + negatives, 2 * d, kFloat}, "rows of the head") +
        base::checked_product({n, negatives, kFloat}, "scores of the negatives");
  }
  sizes.training_bytes =
      sizes.weight_bytes + sizes.gradient_bytes + sizes.moment_bytes + sizes.activation_bytes;
  return sizes;
}

Settings stored_settings(const store::ModelFolder& folder) {
  Settings settings;
  if (!folder.settings.contains("train")) return settings;
  for (const auto& [name, text] :
       given_from_json(folder.settings.at("train"), folder.path + "/" + store::kConfigFile)) {
    set_setting(settings, name, text);
  }
  return settings;
}

std::vector<std::string> stored_corpus(const store::ModelFolder& folder) {
  if (!folder.settings.contains("corpus")) return {};
  return folder.settings.at("corpus").get<std::vector<std::string>>();
}

std::string kept_stdin(const std::string& folder) {
  return folder + "/" + store::kTrainingFolder + "/" + store::kStdinFile;
}

std::vector<std::string> readable_corpus(std::vector<std::string> corpus,
                                         const std::string& folder) {
  std::replace(corpus.begin(), corpus.end(), std::string("-"), kept_stdin(folder));
  return corpus;
}

}  // namespace lexirow::train
