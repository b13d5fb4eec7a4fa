#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/real.h"
#include "base/types.h"
#include "base/view.h"
#include "rows/lookup.h"
#include "rows/touched_rows.h"

namespace lexirow::optim {

/// One dense parameter with its gradient.
template <Real T>
struct DenseSlot {
  std::string name;
  base::View1<T> value;
  base::View1<const T> gradient;
  /// adagrad_row: width of the rows that share one accumulator (D of a tied table), a divisor of
  /// the size; 0: one accumulator a value, as Adagrad.
  std::int64_t row_width = 0;
  bool is_vector = false;  ///< a bias, a norm, learned rates: OptimizerConfig::decay_vectors
};

/// The gradient of a table before its scatter-add: the optimizer sums a row and moves it at once.
template <Real T>
struct UnsummedRows {
  const rows::ScatterPlan* plan = nullptr;  ///< null: there is no such gradient
  base::View2<const T> d_out;               ///< [N, D]
};

/// A table of which a step reads some rows (the embedding of an untied model, the head under a
/// sampled loss): its gradient is touched rows, or rows yet to be summed.
template <Real T>
struct TableSlot {
  std::string name;
  base::View2<T> value;                            ///< [V, D]
  const rows::TouchedRows<T>* gradient = nullptr;  ///< null: no row was read, or `unsummed` has it
  UnsummedRows<T> unsummed = {};                   ///< in place of `gradient`
};

/// What an optimizer moves. Views stay valid as long as the parameters and gradients live, so one
/// Slots serves every step.
template <Real T>
struct Slots {
  std::vector<TableSlot<T>> tables;
  std::vector<DenseSlot<T>> dense;
  /// The pad row, kNoId if none. In the slot named `pad_slot`, a table or (tied) a dense one, it is
  /// never moved: not by gradient, decay or momentum.
  Id pad_id = kNoId;
  std::string pad_slot;
  std::int64_t dim = 0;  ///< D, width of the pad row in `pad_slot`
};

/// A piece of work of one thread: values of a dense slot, or rows of a table.
struct Tile {
  std::int64_t slot = 0;  ///< a dense slot's number, or table_number()
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A table as the slot of a tile: -1 for the first, -2 for the second. Its own inverse.
inline std::int64_t table_number(std::int64_t table_or_slot) {
  return -1 - table_or_slot;
}

/// Values a tile holds at most (a row stays whole). Fixed: sums over tiles depend on it.
inline constexpr std::int64_t kTileValues = 16384;

/// Cuts [begin, end) in tiles of `grain`.
inline void cut_range(std::int64_t slot, std::int64_t begin, std::int64_t end, std::int64_t grain,
                      std::vector<Tile>& tiles) {
  for (std::int64_t at = begin; at < end; at += grain) {
    tiles.push_back({slot, at, std::min(end, at + grain)});
  }
}

/// Rows of width `dim` in one tile.
inline std::int64_t rows_per_tile(std::int64_t dim) {
  return std::max<std::int64_t>(1, kTileValues / std::max<std::int64_t>(1, dim));
}

/// The row of the slot of this name that never moves, or kNoId.
template <Real T>
Id pad_of(const Slots<T>& slots, const std::string& name) {
  return name == slots.pad_slot ? slots.pad_id : kNoId;
}

/// Cuts every dense slot in tiles, the pad row left out.
template <Real T>
void cut_dense_slots(const Slots<T>& slots, std::vector<Tile>& tiles) {
  for (std::size_t i = 0; i < slots.dense.size(); ++i) {
    const DenseSlot<T>& slot = slots.dense[i];
    const auto number = static_cast<std::int64_t>(i);
    const std::int64_t grain =
        slot.row_width > 0 ? rows_per_tile(slot.row_width) * slot.row_width : kTileValues;
    if (pad_of(slots, slot.name) != kNoId) {
      const std::int64_t pad = slots.pad_id * slots.dim;
      cut_range(number, 0, pad, grain, tiles);
      cut_range(number, pad + slots.dim, slot.value.size(), grain, tiles);
    } else {
      cut_range(number, 0, slot.value.size(), grain, tiles);
    }
  }
}

}  // namespace lexirow::optim
