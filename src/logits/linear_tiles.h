#pragma once

#include <algorithm>
#include <cstdint>

#include "base/real.h"
#include "base/view.h"

// The single-threaded pieces that linear, mlp and loss::head_loss are made of. Tiles are cut by
// sizes alone, so that the results do not depend on the number of threads.
// no backward: these are parts of the pairs in linear.h and mlp.h.

namespace lexirow::logits {

/// Products whose inner dimension is N are cut in pieces of this many rows, joined in order.
inline constexpr std::int64_t kRowPiece = 512;

/// Rows of one tile of an [N, *] output: 256, where oneDNN's float products run at full speed
/// (128 rows: two thirds of it for some strides), fewer where that leaves threads without work.
inline std::int64_t rows_per_tile(std::int64_t n) {
  return n >= 1024 ? 256 : 128;
}

/// out = x W^T + b for the rows and columns that the views name.
///   x       [N, I]  in
///   weight  [O, I]  in
///   bias    [O]     in   may be absent
///   out     [N, O]  out  rows `stride` apart
template <Real T>
void linear_tile(base::View2<const T> x, base::View2<const T> weight, base::View1<const T> bias,
                 T* out, std::int64_t stride);

/// d_x = d_out W, or d_x += d_out W.
///   weight  [O, I]  in
///   d_out   [N, O]  in   rows `stride` apart
///   d_x     [N, I]  out  (accum when add)
template <Real T>
void input_gradient_tile(base::View2<const T> weight, const T* d_out, std::int64_t stride, bool add,
                         base::View2<T> d_x);

/// How the rows of a weight gradient are shared out: 16 to 64 rows a tile, in nearly equal parts.
inline std::int64_t weight_rows_per_tile(std::int64_t outputs) {
  const std::int64_t tiles =
      std::max(std::clamp<std::int64_t>(outputs / 16, 1, 8), (outputs + 63) / 64);
  return (outputs + tiles - 1) / tiles;
}
inline std::int64_t weight_tiles(std::int64_t outputs) {
  const std::int64_t rows = weight_rows_per_tile(outputs);
  return rows == 0 ? 0 : (outputs + rows - 1) / rows;
}

/// d_weight += d_out^T x and d_bias += column sums of d_out, in the rows of one tile, over N in
/// pieces of kRowPiece in order: the tile owns its rows, so it needs no memory and no joining.
///   x         [N, I]  in
///   d_out     [N, O]  in     rows `stride` apart
///   d_weight  [O, I]  accum
///   d_bias    [O]     accum  may be absent
template <Real T>
void weight_gradient_tile(std::int64_t tile, base::View2<const T> x, const T* d_out,
                          std::int64_t stride, base::View2<T> d_weight, base::View1<T> d_bias);

/// Rows [begin, end) of a view.
template <typename T>
base::View2<T> row_range(base::View2<T> view, std::int64_t begin, std::int64_t end) {
  return base::View2<T>(view.data() + begin * view.extent(1), {end - begin, view.extent(1)});
}

}  // namespace lexirow::logits
