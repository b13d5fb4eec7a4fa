#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"

namespace lexirow::context {

// What the mixers share: how the work is cut, and sums of rows in double over a block of columns.

/// Columns of one tile. A tile's running sum is on the stack; a row's share of it is contiguous.
inline constexpr std::int64_t kBlockColumns = 32;

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
  const std::int64_t blocks = (dim + kBlockColumns - 1) / kBlockColumns;
  pool.parallel_for(sequences * blocks, [&](std::int64_t i) {
    const std::int64_t first_column = i % blocks * kBlockColumns;
    tile(ColumnBlock{i / blocks, first_column, std::min(kBlockColumns, dim - first_column)});
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

/// sum[c] += row[c].
template <Real T>
void add_row(std::int64_t width, const T* row, double* sum) {
  for (std::int64_t c = 0; c < width; ++c) sum[c] += static_cast<double>(row[c]);
}

/// sum[c] = rate sum[c] + row[c].
template <Real T>
void decay_and_add(std::int64_t width, double rate, const T* row, double* sum) {
  for (std::int64_t c = 0; c < width; ++c) sum[c] = rate * sum[c] + static_cast<double>(row[c]);
}

/// out[c] = sum[c] / weight, rounded once here; zeros when nothing was seen.
///   weight  in  of the rows in the sum: their number, or the sum of their weights
template <Real T>
void write_mean(std::int64_t width, const double* sum, double weight, T* out) {
  if (weight == 0) {
    std::fill_n(out, width, T{0});
    return;
  }
  for (std::int64_t c = 0; c < width; ++c) out[c] = static_cast<T>(sum[c] / weight);
}

/// sum[c] += d_out[c] / weight: what each row of that mean gets.
template <Real T>
void add_share(std::int64_t width, const T* d_out, double weight, double* sum) {
  for (std::int64_t c = 0; c < width; ++c) sum[c] += static_cast<double>(d_out[c]) / weight;
}

/// d_row[c] += sum[c].
template <Real T>
void add_sum(std::int64_t width, const double* sum, T* d_row) {
  for (std::int64_t c = 0; c < width; ++c) d_row[c] += static_cast<T>(sum[c]);
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
