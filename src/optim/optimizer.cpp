#include "optim/optimizer.h"

#include <fmt/format.h>

#include <cmath>

#include "lexirow/error.h"

namespace lexirow::optim {
namespace {

void require(bool holds, const std::string& what, double got, const char* expected) {
  if (holds) return;
  throw Error(ErrorKind::argument, fmt::format("{}: got {}, expected {}", what, got, expected));
}

/// Rows u, u+1, ... that follow one another in the table, before `end` and before the pad row.
std::int64_t run_length(const std::vector<Id>& ids, std::int64_t u, std::int64_t end, Id pad_id) {
  const Id first = ids[static_cast<std::size_t>(u)];
  std::int64_t length = 1;
  while (u + length < end && ids[static_cast<std::size_t>(u + length)] == first + length &&
         first + length != pad_id) {
    ++length;
  }
  return length;
}

/// The rows that have a gradient, ascending.
template <Real T>
const std::vector<Id>& touched_ids(const TableSlot<T>& table) {
  static const std::vector<Id> kNone;
  if (table.unsummed.plan != nullptr) return table.unsummed.plan->ids;
  return table.gradient == nullptr ? kNone : table.gradient->ids;
}

template <Real T>
void check_touched_rows(const TableSlot<T>& table) {
  const std::vector<Id>& ids = touched_ids(table);
  if (ids.empty()) return;
  const bool unsummed = table.unsummed.plan != nullptr;
  const auto count = static_cast<std::int64_t>(ids.size());
  const std::int64_t dim = unsummed ? table.unsummed.d_out.extent(1) : table.gradient->dim;
  const std::int64_t values =
      unsummed ? table.unsummed.d_out.size() : table.gradient->values.size();
  if (dim != table.value.extent(1) || values < count * dim) {
    throw Error(ErrorKind::shape,
                fmt::format("optimizer, {}: the gradient holds {} values for {} rows of width {}, "
                            "expected rows of width {}",
                            table.name, values, count, dim, table.value.extent(1)));
  }
  if (ids.front() < 0 || ids.back() >= table.value.extent(0)) {
    throw Error(ErrorKind::index,
                fmt::format("optimizer, {}: the gradient's rows go from {} to {}, expected 0 to {}",
                            table.name, ids.front(), ids.back(), table.value.extent(0) - 1));
  }
}

/// The pad row must be in the slot that is named, or it would be moved.
template <Real T>
void check_pad(const Slots<T>& slots) {
  if (slots.pad_id == kNoId) return;
  std::int64_t rows = 0;
  for (const TableSlot<T>& table : slots.tables) {
    if (table.name == slots.pad_slot) rows = table.value.extent(0);
  }
  for (const DenseSlot<T>& slot : slots.dense) {
    if (slot.name == slots.pad_slot && slots.dim > 0) rows = slot.value.size() / slots.dim;
  }
  if (slots.pad_id >= 0 && slots.pad_id < rows) return;
  throw Error(
      ErrorKind::argument,
      fmt::format("optimizer: the pad row is {}, expected a row of the slot named by pad_slot "
                  "(\"{}\", {} rows)",
                  slots.pad_id, slots.pad_slot, rows));
}

}  // namespace

OptimizerKind parse_optimizer(std::string_view text) {
  for (OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::sgd, OptimizerKind::adagrad,
                             OptimizerKind::adagrad_row}) {
    if (text == optimizer_name(kind)) return kind;
  }
  throw Error(
      ErrorKind::argument,
      fmt::format("optimizer: got \"{}\", expected adamw, sgd, adagrad or adagrad-row", text));
}

std::string optimizer_name(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adamw:
      return "adamw";
    case OptimizerKind::sgd:
      return "sgd";
    case OptimizerKind::adagrad:
      return "adagrad";
    case OptimizerKind::adagrad_row:
      return "adagrad-row";
  }
  return "";
}

RowUpdates parse_row_updates(std::string_view text) {
  if (text == "dense") return RowUpdates::dense;
  if (text == "lazy") return RowUpdates::lazy;
  throw Error(ErrorKind::argument,
              fmt::format("row updates: got \"{}\", expected dense or lazy", text));
}

std::string row_updates_name(RowUpdates updates) {
  return updates == RowUpdates::dense ? "dense" : "lazy";
}

bool sums_rows(const OptimizerConfig& config) {
  return config.kind != OptimizerKind::adagrad_row;
}

void validate(const OptimizerConfig& config) {
  require(config.weight_decay >= 0 && std::isfinite(config.weight_decay), "weight decay",
          config.weight_decay, "a number of 0 or more");
  require(config.momentum >= 0 && config.momentum < 1, "momentum", config.momentum,
          "a number from 0 to below 1");
  if (config.kind == OptimizerKind::adamw) {
    require(config.beta1 >= 0 && config.beta1 < 1, "beta 1", config.beta1,
            "a number from 0 to below 1");
    require(config.beta2 >= 0 && config.beta2 < 1, "beta 2", config.beta2,
            "a number from 0 to below 1");
    require(config.eps > 0 && std::isfinite(config.eps), "eps", config.eps, "a number above 0");
  }
  require(config.momentum == 0 || config.kind == OptimizerKind::sgd,
          fmt::format("momentum with {}", optimizer_name(config.kind)), config.momentum,
          "0; only sgd has a momentum");
}

template <Real T>
Optimizer<T>::Optimizer(const OptimizerConfig& config, const Slots<T>& slots) : config_(config) {
  validate(config);
  if (config.row_updates == RowUpdates::lazy && slots.tables.empty()) {
    throw Error(ErrorKind::argument,
                "--row-updates lazy needs an untied head: a tied table is also the head and gets a "
                "gradient in every row at every step; use --row-updates dense or leave --tied out");
  }
  check_pad(slots);
  for (const TableSlot<T>& table : slots.tables) {
    tables_.push_back(
        make_state(table.name, table.value.size(), table.value.extent(1), config.weight_decay));
  }
  for (const DenseSlot<T>& slot : slots.dense) {
    if (slot.row_width > 0 && slot.value.size() % slot.row_width != 0) {
      throw Error(ErrorKind::shape, fmt::format("optimizer, {}: {} values, expected a multiple of "
                                                "the row width {}",
                                                slot.name, slot.value.size(), slot.row_width));
    }
    const bool decays = config.decay_vectors || !slot.is_vector;
    dense_.push_back(
        make_state(slot.name, slot.value.size(), slot.row_width, decays ? config.weight_decay : 0));
  }
  check_slots(slots);
}

template <Real T>
typename Optimizer<T>::SlotState Optimizer<T>::make_state(const std::string& name,
                                                          std::int64_t size, std::int64_t row_width,
                                                          double decay) const {
  SlotState state;
  state.decay = decay;
  state.name = name;
  state.size = size;
  const bool by_row = config_.kind == OptimizerKind::adagrad_row && row_width > 0;
  if (by_row) state.row_width = row_width;
  if (config_.kind != OptimizerKind::sgd || config_.momentum != 0) {
    state.first.zeroed(by_row ? size / row_width : size);
  }
  if (config_.kind == OptimizerKind::adamw) state.second.zeroed(size);
  return state;
}

template <Real T>
void Optimizer<T>::check_slots(const Slots<T>& slots) const {
  const auto check = [](const SlotState& state, const std::string& name, std::int64_t size,
                        std::int64_t gradient_size) {
    if (state.name == name && state.size == size && gradient_size == size) return;
    throw Error(ErrorKind::shape,
                fmt::format("optimizer: slot {} has {} values and {} gradients, expected slot {} "
                            "with {} of each",
                            name, size, gradient_size, state.name, state.size));
  };
  if (slots.dense.size() != dense_.size()) {
    throw Error(ErrorKind::shape, fmt::format("optimizer: got {} dense slots, expected {}",
                                              slots.dense.size(), dense_.size()));
  }
  if (slots.tables.size() != tables_.size()) {
    throw Error(ErrorKind::shape, fmt::format("optimizer: got {} tables, expected {}",
                                              slots.tables.size(), tables_.size()));
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const TableSlot<T>& table = slots.tables[i];
    check(tables_[i], table.name, table.value.size(), table.value.size());
    check_touched_rows(table);
    if (table.unsummed.plan != nullptr && !sums_rows(config_)) {
      throw Error(ErrorKind::argument,
                  fmt::format("optimizer, {}: got a gradient that is not summed, expected touched "
                              "rows: {} needs whole rows",
                              table.name, optimizer_name(config_.kind)));
    }
  }
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    const DenseSlot<T>& slot = slots.dense[i];
    check(dense_[i], slot.name, slot.value.size(), slot.gradient.size());
  }
}

template <Real T>
void Optimizer<T>::cut_tiles(const Slots<T>& slots) {
  tiles_.clear();
  for (std::size_t i = 0; i < slots.tables.size(); ++i) {
    const TableSlot<T>& table = slots.tables[i];
    const std::int64_t touched = table.gradient == nullptr ? 0 : table.gradient->count();
    // Lazy and unsummed: no tile, the rows are moved while they are summed.
    const std::int64_t rows =
        config_.row_updates == RowUpdates::lazy ? touched : table.value.extent(0);
    cut_range(table_number(static_cast<std::int64_t>(i)), 0, rows,
              rows_per_tile(table.value.extent(1)), tiles_);
  }
  cut_dense_slots(slots, tiles_);
}

template <Real T>
void Optimizer<T>::step(base::ThreadPool& pool, const Slots<T>& slots, double lr,
                        T gradient_scale) {
  require(lr >= 0 && std::isfinite(lr), "learning rate", lr, "a number of 0 or more");
  check_slots(slots);
  ++steps_;
  Step step;
  step.lr = lr;
  step.gradient_scale = gradient_scale;
  step.adamw.lr = lr;
  step.adamw.beta1 = config_.beta1;
  step.adamw.beta2 = config_.beta2;
  step.adamw.eps = config_.eps;
  step.adamw.bias_correction1 = 1 - std::pow(config_.beta1, static_cast<double>(steps_));
  step.adamw.bias_correction2 = 1 - std::pow(config_.beta2, static_cast<double>(steps_));
  cut_tiles(slots);
  for (std::size_t i = 0; i < slots.tables.size(); ++i) {
    const TableSlot<T>& table = slots.tables[i];
    move_unsummed_rows(pool, step, table, tables_[i], pad_of(slots, table.name));
  }
  pool.parallel_for(static_cast<std::int64_t>(tiles_.size()), [&](std::int64_t i) {
    move_tile(step, slots, tiles_[static_cast<std::size_t>(i)]);
  });
}

template <Real T>
void Optimizer<T>::move_tile(const Step& step, const Slots<T>& slots, const Tile& tile) {
  if (tile.slot >= 0) {
    const auto number = static_cast<std::size_t>(tile.slot);
    const DenseSlot<T>& slot = slots.dense[number];
    move_values(step, dense_[number], tile.begin, tile.end - tile.begin,
                slot.gradient.data() + tile.begin, slot.value.data() + tile.begin);
    return;
  }
  const auto number = static_cast<std::size_t>(table_number(tile.slot));
  const TableSlot<T>& table = slots.tables[number];
  const Id pad = pad_of(slots, table.name);
  if (config_.row_updates == RowUpdates::lazy) {
    move_touched_rows(step, table, tables_[number], pad, tile);
  } else {
    move_all_rows(step, table, tables_[number], pad, tile);
  }
}

/// Moves values [begin, begin + size) of one slot; `gradient` (null: zeros) and `value` point at
/// the first of them.
template <Real T>
void Optimizer<T>::move_values(const Step& step, SlotState& state, std::int64_t begin,
                               std::int64_t size, const T* gradient, T* value) const {
  const double decay = state.decay;
  const T scale = step.gradient_scale;
  T* first = state.first.data();
  if (config_.kind == OptimizerKind::adamw) {
    kernels::AdamWStep adamw = step.adamw;
    adamw.weight_decay = decay;
    kernels::adamw(size, adamw, scale, gradient, value, first + begin, state.second.data() + begin);
  } else if (config_.kind == OptimizerKind::sgd) {
    T* buffer = config_.momentum == 0 ? nullptr : first + begin;
    kernels::sgd(size, step.lr, config_.momentum, decay, scale, gradient, value, buffer);
  } else if (state.row_width == 0) {
    kernels::adagrad(size, step.lr, kAdagradEps, decay, scale, gradient, value, first + begin);
  } else {
    const std::int64_t width = state.row_width;
    for (std::int64_t at = 0; at < size; at += width) {
      kernels::adagrad_row(width, step.lr, kAdagradEps, decay, scale,
                           gradient == nullptr ? nullptr : gradient + at, value + at,
                           first + (begin + at) / width);
    }
  }
}

/// Rows [tile.begin, tile.end): those of the gradient with it (unsummed: move_unsummed_rows moves
/// them), the others with zeros.
template <Real T>
void Optimizer<T>::move_all_rows(const Step& step, const TableSlot<T>& table, SlotState& state,
                                 Id pad, const Tile& tile) const {
  const std::vector<Id>& ids = touched_ids(table);
  const auto count = static_cast<std::int64_t>(ids.size());
  const std::int64_t dim = table.value.extent(1);
  T* const values = table.value.data();
  std::int64_t u = std::lower_bound(ids.begin(), ids.end(), tile.begin) - ids.begin();
  for (std::int64_t row = tile.begin; row < tile.end;) {
    const std::int64_t next = u < count ? ids[static_cast<std::size_t>(u)] : tile.end;
    std::int64_t length = 1;
    if (row == pad) {
      if (next == row) ++u;
    } else if (next == row) {
      length = run_length(ids, u, std::min(count, u + tile.end - row), pad);
      if (table.unsummed.plan == nullptr) {
        move_values(step, state, row * dim, length * dim, table.gradient->row(u),
                    values + row * dim);
      }
      u += length;
    } else {
      length = std::min(next, tile.end) - row;
      if (row < pad && pad < row + length) length = pad - row;
      move_values(step, state, row * dim, length * dim, nullptr, values + row * dim);
    }
    row += length;
  }
}

/// Sums the rows of an unsummed gradient and moves each at once.
template <Real T>
void Optimizer<T>::move_unsummed_rows(base::ThreadPool& pool, const Step& step,
                                      const TableSlot<T>& table, SlotState& state, Id pad) const {
  const UnsummedRows<T>& unsummed = table.unsummed;
  if (unsummed.plan == nullptr) return;
  const std::int64_t dim = table.value.extent(1);
  T* const values = table.value.data();
  rows::visit_row_sums<T>(
      pool, *unsummed.plan, unsummed.d_out,
      [&](std::int64_t u, std::int64_t column, std::int64_t width, const T* sums) {
        const Id row = unsummed.plan->ids[static_cast<std::size_t>(u)];
        if (row == pad) return;
        const std::int64_t begin = row * dim + column;
        move_values(step, state, begin, width, sums, values + begin);
      });
}

/// Touched rows [tile.begin, tile.end) of the gradient.
template <Real T>
void Optimizer<T>::move_touched_rows(const Step& step, const TableSlot<T>& table, SlotState& state,
                                     Id pad, const Tile& tile) const {
  const rows::TouchedRows<T>& touched = *table.gradient;
  const std::int64_t dim = touched.dim;
  for (std::int64_t u = tile.begin; u < tile.end;) {
    const Id row = touched.ids[static_cast<std::size_t>(u)];
    std::int64_t length = 1;
    if (row != pad) {
      length = run_length(touched.ids, u, tile.end, pad);
      move_values(step, state, row * dim, length * dim, touched.row(u),
                  table.value.data() + row * dim);
    }
    u += length;
  }
}

template <Real T>
std::vector<typename Optimizer<T>::StateTensor> Optimizer<T>::state() {
  const char* first = config_.kind == OptimizerKind::adamw ? ".moment1"
                      : config_.kind == OptimizerKind::sgd ? ".momentum"
                                                           : ".sum_of_squares";
  std::vector<StateTensor> tensors;
  const auto append = [&](SlotState& state) {
    if (state.first.size() > 0) tensors.push_back({state.name + first, state.first.view()});
    if (state.second.size() > 0) tensors.push_back({state.name + ".moment2", state.second.view()});
  };
  for (SlotState& state : tables_) append(state);
  for (SlotState& state : dense_) append(state);
  return tensors;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace lexirow::optim
