#include "logits/mlp.h"

#include <cassert>

#include "kernels/vector_ops.h"
#include "logits/linear_tiles.h"

namespace lexirow::logits {

template <Real T>
void mlp_forward(base::ThreadPool& pool, base::View2<const T> x,
                 const MlpViews<const T>& parameters, base::View2<T> before,
                 base::View2<T> activated, base::View2<T> out) {
  const std::int64_t n = x.extent(0);
  const std::int64_t hidden = before.extent(1);
  assert(parameters.weight0.extent(0) == hidden && parameters.weight2.extent(1) == hidden);
  // All three steps of a tile while it is in the cache.
  pool.parallel_ranges(n, rows_per_tile(n), [&](std::int64_t begin, std::int64_t end) {
    T* const before_rows = before.data() + begin * hidden;
    linear_tile<T>(row_range(x, begin, end), parameters.weight0, parameters.bias0, before_rows,
                   hidden);
    kernels::gelu<T>((end - begin) * hidden, before_rows, activated.data() + begin * hidden);
    linear_tile<T>(row_range<const T>(activated, begin, end), parameters.weight2, parameters.bias2,
                   out.data() + begin * out.extent(1), out.extent(1));
  });
}

template <Real T>
void mlp_backward(base::ThreadPool& pool, base::View2<const T> x,
                  const MlpViews<const T>& parameters, base::View2<const T> before,
                  base::View2<const T> activated, base::View2<const T> d_out,
                  base::View2<T> d_before, base::View2<T> d_x, const MlpViews<T>& d_parameters) {
  const std::int64_t n = x.extent(0);
  const std::int64_t hidden = before.extent(1);
  const std::int64_t width = d_out.extent(1);
  assert(d_before.extent(0) == n && d_before.extent(1) == hidden);
  pool.parallel_ranges(n, rows_per_tile(n), [&](std::int64_t begin, std::int64_t end) {
    const base::View2<T> d_rows = row_range(d_before, begin, end);
    input_gradient_tile<T>(parameters.weight2, d_out.data() + begin * width, width, false, d_rows);
    kernels::gelu_gradient<T>(d_rows.size(), before.data() + begin * hidden, d_rows.data(),
                              d_rows.data());
    if (d_x.present()) {
      input_gradient_tile<T>(parameters.weight0, d_rows.data(), hidden, true,
                             row_range(d_x, begin, end));
    }
  });
  const std::int64_t tiles0 = weight_tiles(hidden);
  pool.parallel_for(tiles0 + weight_tiles(width), [&](std::int64_t tile) {
    if (tile < tiles0) {
      weight_gradient_tile<T>(tile, x, d_before.data(), hidden, d_parameters.weight0,
                              d_parameters.bias0);
    } else {
      weight_gradient_tile<T>(tile - tiles0, activated, d_out.data(), width, d_parameters.weight2,
                              d_parameters.bias2);
    }
  });
}

template void mlp_forward<float>(base::ThreadPool&, base::View2<const float>,
                                 const MlpViews<const float>&, base::View2<float>,
                                 base::View2<float>, base::View2<float>);
template void mlp_forward<double>(base::ThreadPool&, base::View2<const double>,
                                  const MlpViews<const double>&, base::View2<double>,
                                  base::View2<double>, base::View2<double>);
template void mlp_backward<float>(base::ThreadPool&, base::View2<const float>,
                                  const MlpViews<const float>&, base::View2<const float>,
                                  base::View2<const float>, base::View2<const float>,
                                  base::View2<float>, base::View2<float>, const MlpViews<float>&);
template void mlp_backward<double>(base::ThreadPool&, base::View2<const double>,
                                   const MlpViews<const double>&, base::View2<const double>,
                                   base::View2<const double>, base::View2<const double>,
                                   base::View2<double>, base::View2<double>,
                                   const MlpViews<double>&);

}  // namespace lexirow::logits
