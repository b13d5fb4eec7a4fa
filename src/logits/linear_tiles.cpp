#include "logits/linear_tiles.h"

#include <array>

#include "kernels/matmul.h"

namespace lexirow::logits {

template <Real T>
void linear_tile(base::View2<const T> x, base::View2<const T> weight, base::View1<const T> bias,
                 T* out, std::int64_t stride) {
  const std::int64_t n = x.extent(0);
  const std::int64_t inputs = x.extent(1);
  const std::int64_t outputs = weight.extent(0);
  if (bias.present()) {
    for (std::int64_t row = 0; row < n; ++row) {
      std::copy_n(bias.data(), outputs, out + row * stride);
    }
  }
  kernels::matmul<T>(false, true, n, outputs, inputs, x.data(), inputs, weight.data(), inputs,
                     bias.present(), out, stride);
}

template <Real T>
void input_gradient_tile(base::View2<const T> weight, const T* d_out, std::int64_t stride, bool add,
                         base::View2<T> d_x) {
  const std::int64_t inputs = weight.extent(1);
  kernels::matmul<T>(false, false, d_x.extent(0), inputs, weight.extent(0), d_out, stride,
                     weight.data(), inputs, add, d_x.data(), inputs);
}

template <Real T>
void weight_gradient_tile(std::int64_t tile, base::View2<const T> x, const T* d_out,
                          std::int64_t stride, base::View2<T> d_weight, base::View1<T> d_bias) {
  const std::int64_t outputs = d_weight.extent(0);
  const std::int64_t inputs = d_weight.extent(1);
  const std::int64_t first = tile * weight_rows_per_tile(outputs);
  const std::int64_t rows = std::min(weight_rows_per_tile(outputs), outputs - first);
  for (std::int64_t begin = 0; begin < x.extent(0); begin += kRowPiece) {
    const std::int64_t size = std::min(kRowPiece, x.extent(0) - begin);
    const T* piece = d_out + begin * stride + first;
    kernels::matmul<T>(true, false, rows, inputs, size, piece, stride, x.data() + begin * inputs,
                       inputs, true, d_weight.data() + first * inputs, inputs);
    if (!d_bias.present()) continue;
    std::array<T, 64> sums{};
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t i = 0; i < rows; ++i) {
        sums[static_cast<std::size_t>(i)] += piece[row * stride + i];
      }
    }
    for (std::int64_t i = 0; i < rows; ++i) d_bias[first + i] += sums[static_cast<std::size_t>(i)];
  }
}

template void linear_tile<float>(base::View2<const float>, base::View2<const float>,
                                 base::View1<const float>, float*, std::int64_t);
template void linear_tile<double>(base::View2<const double>, base::View2<const double>,
                                  base::View1<const double>, double*, std::int64_t);
template void input_gradient_tile<float>(base::View2<const float>, const float*, std::int64_t, bool,
                                         base::View2<float>);
template void input_gradient_tile<double>(base::View2<const double>, const double*, std::int64_t,
                                          bool, base::View2<double>);
template void weight_gradient_tile<float>(std::int64_t, base::View2<const float>, const float*,
                                          std::int64_t, base::View2<float>, base::View1<float>);
template void weight_gradient_tile<double>(std::int64_t, base::View2<const double>, const double*,
                                           std::int64_t, base::View2<double>, base::View1<double>);

}  // namespace lexirow::logits
