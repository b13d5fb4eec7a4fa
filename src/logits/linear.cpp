#include "logits/linear.h"

#include <algorithm>
#include <cassert>

#include "logits/linear_tiles.h"

namespace lexirow::logits {
namespace {

/// Columns of one tile of the output: all of them, unless there are few rows and much work (one
/// token against a large vocabulary). A tile below 2^18 multiply-adds is not worth a wake-up.
std::int64_t columns_per_tile(std::int64_t n, std::int64_t outputs, std::int64_t inputs) {
  const std::int64_t row_tiles = (n + rows_per_tile(n) - 1) / rows_per_tile(n);
  const std::int64_t wanted = std::min(8 / row_tiles, (n * outputs * inputs) >> 18);
  const std::int64_t tiles = std::clamp<std::int64_t>(wanted, 1, (outputs + 63) / 64);
  return (outputs + tiles - 1) / tiles;
}

}  // namespace

template <Real T>
void linear_forward(base::ThreadPool& pool, base::View2<const T> x, base::View2<const T> weight,
                    base::View1<const T> bias, base::View2<T> out) {
  const std::int64_t n = x.extent(0);
  const std::int64_t inputs = x.extent(1);
  const std::int64_t outputs = weight.extent(0);
  assert(weight.extent(1) == inputs && out.extent(0) == n && out.extent(1) == outputs);
  if (n == 0 || outputs == 0) return;
  const std::int64_t rows = rows_per_tile(n);
  const std::int64_t columns = columns_per_tile(n, outputs, inputs);
  const std::int64_t column_tiles = (outputs + columns - 1) / columns;
  pool.parallel_for((n + rows - 1) / rows * column_tiles, [&](std::int64_t tile) {
    const std::int64_t row = tile / column_tiles * rows;
    const std::int64_t column = tile % column_tiles * columns;
    const std::int64_t width = std::min(columns, outputs - column);
    base::View1<const T> tile_bias;
    if (bias.present()) tile_bias = base::View1<const T>(bias.data() + column, {width});
    linear_tile<T>(row_range(x, row, std::min(n, row + rows)),
                   row_range(weight, column, column + width), tile_bias,
                   out.data() + row * outputs + column, outputs);
  });
}

template <Real T>
void linear_backward(base::ThreadPool& pool, base::View2<const T> x, base::View2<const T> weight,
                     base::View2<const T> d_out, base::View2<T> d_x, base::View2<T> d_weight,
                     base::View1<T> d_bias) {
  const std::int64_t n = x.extent(0);
  const std::int64_t outputs = weight.extent(0);
  assert(d_out.extent(0) == n && d_out.extent(1) == outputs);
  const std::int64_t rows = rows_per_tile(n);
  const std::int64_t row_tiles = d_x.present() ? (n + rows - 1) / rows : 0;
  const std::int64_t tiles_of_weight = weight_tiles(outputs);
  pool.parallel_for(tiles_of_weight + row_tiles, [&](std::int64_t tile) {
    if (tile < tiles_of_weight) {
      weight_gradient_tile<T>(tile, x, d_out.data(), outputs, d_weight, d_bias);
      return;
    }
    const std::int64_t row = (tile - tiles_of_weight) * rows;
    input_gradient_tile<T>(weight, d_out.data() + row * outputs, outputs, true,
                           row_range(d_x, row, std::min(n, row + rows)));
  });
}

template void linear_forward<float>(base::ThreadPool&, base::View2<const float>,
                                    base::View2<const float>, base::View1<const float>,
                                    base::View2<float>);
template void linear_forward<double>(base::ThreadPool&, base::View2<const double>,
                                     base::View2<const double>, base::View1<const double>,
                                     base::View2<double>);
template void linear_backward<float>(base::ThreadPool&, base::View2<const float>,
                                     base::View2<const float>, base::View2<const float>,
                                     base::View2<float>, base::View2<float>, base::View1<float>);
template void linear_backward<double>(base::ThreadPool&, base::View2<const double>,
                                      base::View2<const double>, base::View2<const double>,
                                      base::View2<double>, base::View2<double>,
                                      base::View1<double>);

}  // namespace lexirow::logits
