#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/network.h"
#include "support/gradient_check.h"

namespace lexirow::model {

/// A batch that owns its values, made from a literal seed: few ids, so they repeat.
struct OwnedBatch {
  std::int64_t batch = 2;
  std::int64_t earlier = 0;
  std::int64_t steps = 5;
  std::vector<Id> ids;
  std::vector<std::uint8_t> mask;  ///< empty: all visible
  std::vector<Id> labels;

  std::int64_t positions() const { return batch * steps; }
  BatchView view() const {
    BatchView view;
    view.ids = {ids.data(), {batch, earlier + steps}};
    if (!mask.empty()) view.mask = {mask.data(), {batch, earlier + steps}};
    if (!labels.empty()) view.labels = {labels.data(), {batch, steps}};
    return view;
  }
};

/// Ids 1 ... vocab_size - 1, every fifth label ignored. With holes about a third of the positions
/// are masked and carry id 0; their labels still count, which asks more of the layers than a text.
inline OwnedBatch make_batch(std::uint64_t seed, std::int64_t vocab_size, std::int64_t batch,
                             std::int64_t earlier, std::int64_t steps, bool with_holes) {
  base::SplitMix random(seed);
  const auto draw = [&] {
    return vocab_size == 1
               ? Id{0}
               : static_cast<Id>(1 + random.next() % static_cast<std::uint64_t>(vocab_size - 1));
  };
  OwnedBatch owned{batch, earlier, steps, {}, {}, {}};
  for (std::int64_t i = 0; i < batch * (earlier + steps); ++i) {
    const bool visible = !with_holes || random.uniform() < 0.66;
    owned.ids.push_back(visible ? draw() : 0);
    if (with_holes) owned.mask.push_back(visible ? 1 : 0);
  }
  for (std::int64_t i = 0; i < batch * steps; ++i) {
    owned.labels.push_back(i % 5 == 4 ? kIgnoredLabel : draw());
  }
  return owned;
}

inline ModelConfig make_config(const std::string& mixer, std::int64_t vocab_size, std::int64_t dim,
                               std::int64_t hidden, bool tied, bool skip) {
  ModelConfig config;
  config.vocab_size = vocab_size;
  config.dim = dim;
  config.mixer = context::parse_mixer(mixer);
  config.hidden = hidden;
  config.tied = tied;
  config.skip = skip;
  return config;
}

/// Every mixer, tied and untied, with and without MLP, bias, skip and pad row, as far as they go
/// together; deeper stacks, and positions of both kinds.
inline std::vector<ModelConfig> every_model(std::int64_t vocab_size, std::int64_t dim,
                                            std::int64_t hidden) {
  std::vector<ModelConfig> configs;
  for (const char* mixer :
       {"none", "mean", "window:3", "concat:3", "decay:0.4", "full-mean", "centred"}) {
    for (int bits = 0; bits < 16; ++bits) {
      const bool with_mlp = (bits & 1) != 0;
      const bool skip = (bits & 2) != 0;
      if (!with_mlp && (skip || std::string(mixer) == "concat:3")) continue;
      ModelConfig config =
          make_config(mixer, vocab_size, dim, with_mlp ? hidden : 0, (bits & 4) != 0, skip);
      if ((bits & 8) != 0) {
        config.bias = false;
        config.pad_id = 0;
      }
      validate(config);
      configs.push_back(config);
    }
  }
  for (int bits = 0; bits < 4; ++bits) {
    const char* joined = "none+decay:learned:2+concat:2+mean+decay:0.7";
    ModelConfig config = make_config(bits % 2 == 0 ? "concat:2" : joined, vocab_size, dim, hidden,
                                     bits == 1, bits == 2);
    config.mlp.layers = 2 + bits % 2;
    config.mlp.residual = bits > 0;
    config.mlp.layer_norm = bits > 1;
    if (bits == 3) config.mlp.activation = logits::Activation::relu;
    configs.push_back(config);
  }
  for (int bits = 0; bits < 4; ++bits) {
    const char* mixers[] = {"none", "mean", "concat:3", "none+decay:learned:2+window:3"};
    ModelConfig config =
        make_config(mixers[bits], vocab_size, dim, bits == 0 ? 0 : hidden, bits == 1, bits > 1);
    config.positions = bits == 2 ? rows::Positions::sinusoidal : rows::Positions::learned;
    config.max_positions = bits == 3 ? 40 : 4;
    if (bits == 1) config.pad_id = 0;
    configs.push_back(config);
  }
  return configs;
}

inline std::string describe(const ModelConfig& config) {
  return context::mixer_name(config.mixer) + " D " + std::to_string(config.dim) + " H " +
         std::to_string(config.hidden) + " L " + std::to_string(config.mlp.layers) +
         (config.mlp.residual ? " residual" : "") + (config.mlp.layer_norm ? " norm" : "") + " " +
         rows::positions_name(config.positions) + (config.tied ? " tied" : "") +
         (config.skip ? " skip" : "") + (config.bias ? " bias" : "") +
         (config.pad_id == kNoId ? "" : " pad");
}

template <Real T>
Parameters<T> make_parameters(const ModelConfig& config, std::uint64_t seed) {
  Parameters<T> parameters(config);
  initialize(config, seed, Init::torch, parameters);
  return parameters;
}

template <Real T>
std::vector<T> logits_of(const ModelConfig& config, const Parameters<T>& parameters,
                         const OwnedBatch& batch, base::ThreadPool& pool) {
  Workspace<T> workspace;
  std::vector<T> logits(static_cast<std::size_t>(batch.positions() * config.vocab_size),
                        std::numeric_limits<T>::quiet_NaN());
  all_logits<T>(pool, config, parameters, batch.view(), workspace,
                {logits.data(), {batch.positions(), config.vocab_size}});
  return logits;
}

template <Real T>
std::vector<T> logits_of(const ModelConfig& config, const Parameters<T>& parameters,
                         const OwnedBatch& batch) {
  base::ThreadPool pool(1);
  return logits_of(config, parameters, batch, pool);
}

/// The gradient of a parameter by name, touched rows spread over the table or the head.
template <Real T>
std::vector<T> gradient_of(const ModelConfig& config, const Gradients<T>& gradients,
                           const std::string& name) {
  for (const NamedTensor<const T>& tensor : gradients.dense.tensors()) {
    if (tensor.name == name) return {tensor.values.begin(), tensor.values.end()};
  }
  std::vector<T> table(static_cast<std::size_t>(config.vocab_size * config.dim));
  const rows::TouchedRows<T>& touched =
      name == "lm_head.weight" ? gradients.head_rows : gradients.rows;
  for (std::int64_t u = 0; u < touched.count(); ++u) {
    std::copy_n(touched.row(u), config.dim,
                table.data() + touched.ids[static_cast<std::size_t>(u)] * config.dim);
  }
  return table;
}

}  // namespace lexirow::model
