#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/random.h"
#include "optim/optimizer.h"

namespace lexirow::optim::testing {

/// A table with touched rows, the same gradient in dense form, and two other parameters.
template <Real T>
struct Subject {
  Subject(std::int64_t vocab_size, std::int64_t dim)
      : vocab_size_(vocab_size),
        dim_(dim),
        table(vocab_size * dim),
        dense_gradient(vocab_size * dim),
        weight(23 * dim),
        bias(5),
        d_weight(23 * dim),
        d_bias(5) {
    base::SplitMix random(17);
    for (base::Array<T>* array : {&table, &weight, &bias}) fill(random, *array);
    touched.dim = dim;
  }

  static void fill(base::SplitMix& random, base::Array<T>& array) {
    for (T& value : array) value = static_cast<T>(2 * random.uniform() - 1);
  }

  /// New gradients, for the table only in `ids`.
  void draw_gradients(std::uint64_t seed, const std::set<Id>& ids) {
    base::SplitMix random(seed);
    fill(random, d_weight);
    fill(random, d_bias);
    touched.ids.assign(ids.begin(), ids.end());
    touched.values.zeroed(touched.count() * dim_);
    fill(random, touched.values);
    dense_gradient.fill(0);
    for (std::int64_t u = 0; u < touched.count(); ++u) {
      std::copy_n(touched.row(u), dim_,
                  dense_gradient.data() + touched.ids[static_cast<std::size_t>(u)] * dim_);
    }
  }

  /// The table as touched rows (untied).
  Slots<T> untied(Id pad_id = kNoId) {
    Slots<T> slots;
    slots.tables = {{"table", table.view(vocab_size_, dim_), &touched}};
    slots.dense = {{"weight", weight.view(), d_weight.view(), 0},
                   {"bias", bias.view(), d_bias.view(), 0}};
    slots.pad_id = pad_id;
    slots.pad_slot = pad_id == kNoId ? "" : "table";
    slots.dim = dim_;
    return slots;
  }

  /// The table as a dense parameter (tied).
  Slots<T> tied(Id pad_id = kNoId) {
    Slots<T> slots;
    slots.dense = {{"table", table.view(), dense_gradient.view(), dim_},
                   {"weight", weight.view(), d_weight.view(), 0},
                   {"bias", bias.view(), d_bias.view(), 0}};
    slots.pad_id = pad_id;
    slots.pad_slot = pad_id == kNoId ? "" : "table";
    slots.dim = dim_;
    return slots;
  }

  std::vector<T> row(std::int64_t id) const {
    return {table.data() + id * dim_, table.data() + (id + 1) * dim_};
  }
  std::vector<T> parameters() const {
    std::vector<T> all;
    for (const base::Array<T>* array : {&table, &weight, &bias}) {
      all.insert(all.end(), array->begin(), array->end());
    }
    return all;
  }

  std::int64_t vocab_size_;
  std::int64_t dim_;
  base::Array<T> table, dense_gradient, weight, bias, d_weight, d_bias;
  rows::TouchedRows<T> touched;
};

/// Every tensor of an optimizer's state, end to end.
template <Real T>
std::vector<T> state_values(Optimizer<T>& optimizer) {
  std::vector<T> all;
  for (const auto& tensor : optimizer.state()) {
    all.insert(all.end(), tensor.values.begin(), tensor.values.end());
  }
  return all;
}

/// Every kind of optimizer, with and without momentum and decay.
inline std::vector<OptimizerConfig> all_configs(RowUpdates row_updates) {
  std::vector<OptimizerConfig> configs;
  for (OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::sgd, OptimizerKind::adagrad,
                             OptimizerKind::adagrad_row}) {
    for (double decay : {0.0, 0.1}) {
      for (double momentum : {0.0, 0.9}) {
        if (momentum != 0 && kind != OptimizerKind::sgd) continue;
        OptimizerConfig config;
        config.kind = kind;
        config.row_updates = row_updates;
        config.momentum = momentum;
        config.weight_decay = decay;
        configs.push_back(config);
      }
    }
  }
  return configs;
}

inline std::string describe(const OptimizerConfig& config) {
  return optimizer_name(config.kind) + " " + row_updates_name(config.row_updates) + " momentum " +
         std::to_string(config.momentum) + " decay " + std::to_string(config.weight_decay);
}

}  // namespace lexirow::optim::testing
