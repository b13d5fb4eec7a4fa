#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"
#include "kernels/mean_ops.h"

namespace lexirow::context {

// What the mixers share: how the work is cut. Sums of rows over a block of columns are in double,
// kernels/mean_ops.h.

/// Columns of one tile at most. A tile's running sum is on the stack; a row's share of it is
/// contiguous, and the longer it is, the less the processor waits for it.
inline constexpr std::int64_t kMostColumns = 128;

/// Columns of one tile: many where the sequences alone are work enough for the threads.
inline std::int64_t columns_per_tile(std::int64_t sequences) {
  return sequences >= 16 ? kMostColumns : 32;
}

/// Columns first_column ... first_column + width - 1 of all rows of one sequence.
struct ColumnBlock {
  std::int64_t sequence = 0;
  std::int64_t first_column = 0;
  std::int64_t width = 0;
};

/// Calls `tile(block)` for every sequence and block of columns. The cut depends on sizes alone.
template <typename Tile>
void for_each_column_block(base::ThreadPool& pool, std::int64_t sequences, std::int64_t dim,
                           const Tile& tile) {
  const std::int64_t columns = columns_per_tile(sequences);
  const std::int64_t blocks = (dim + columns - 1) / columns;
  pool.parallel_for(sequences * blocks, [&](std::int64_t i) {
    const std::int64_t first_column = i % blocks * columns;
    tile(ColumnBlock{i / blocks, first_column, std::min(columns, dim - first_column)});
  });
}

/// Rows that make a tile of a copying loop.
inline std::int64_t rows_per_tile(std::int64_t width) {
  constexpr std::int64_t kTileValues = 16384;
  return std::max<std::int64_t>(1, kTileValues / std::max<std::int64_t>(1, width));
}

/// The block's values of row t.
template <typename T>
T* columns_of(base::View3<T> rows, const ColumnBlock& block, std::int64_t t) {
  return rows.data() + (block.sequence * rows.extent(1) + t) * rows.extent(2) + block.first_column;
}

/// The block's values of position t; the block counts columns within `rows`.
template <typename T>
T* columns_of(const Columns<T>& rows, const ColumnBlock& block, std::int64_t t) {
  return rows.row(block.sequence * rows.steps() + t) + block.first_column;
}

inline bool is_visible(base::View2<const std::uint8_t> mask, std::int64_t sequence,
                       std::int64_t t) {
  return !mask.present() || mask.data()[sequence * mask.extent(1) + t] != 0;
}

/// Visible rows in [begin, end); rows before the start do not exist.
inline std::int64_t count_visible(base::View2<const std::uint8_t> mask, std::int64_t sequence,
                                  std::int64_t begin, std::int64_t end) {
  std::int64_t count = 0;
  for (std::int64_t t = std::max<std::int64_t>(begin, 0); t < end; ++t) {
    count += is_visible(mask, sequence, t) ? 1 : 0;
  }
  return count;
}

/// Programming errors: every mixer's shapes, forward and backward.
template <typename T, typename U>
void assert_shapes([[maybe_unused]] base::View3<T> hidden,
                   [[maybe_unused]] base::View2<const std::uint8_t> mask,
                   [[maybe_unused]] const Columns<U>& out, [[maybe_unused]] std::int64_t width) {
  assert(hidden.extent(0) == out.sequences());
  assert(hidden.extent(1) >= out.steps());
  assert(out.width() == width * hidden.extent(2));
  assert(!mask.present() ||
         (mask.extent(0) == hidden.extent(0) && mask.extent(1) == hidden.extent(1)));
}

}  // namespace lexirow::context
