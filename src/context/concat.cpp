#include "context/concat.h"

#include "context/tiles.h"

namespace lexirow::context {

template <Real T>
void concat_forward(base::ThreadPool& pool, std::int64_t window, base::View3<const T> hidden,
                    base::View2<const std::uint8_t> mask, const Columns<T>& out) {
  assert_shapes(hidden, mask, out, window);
  const std::int64_t rows = hidden.extent(1);
  const std::int64_t steps = out.steps();
  const std::int64_t dim = hidden.extent(2);
  const auto copy_windows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t sequence = i / steps;
      const std::int64_t t = rows - steps + i % steps;
      const std::int64_t first = t - window + 1;
      const std::int64_t missing = std::max<std::int64_t>(0, -first);
      T* slices = out.row(i);
      std::fill_n(slices, missing * dim, T{0});
      std::copy_n(hidden.data() + (sequence * rows + first + missing) * dim,
                  (window - missing) * dim, slices + missing * dim);
      if (!mask.present()) continue;
      for (std::int64_t w = missing; w < window; ++w) {
        if (!is_visible(mask, sequence, first + w)) std::fill_n(slices + w * dim, dim, T{0});
      }
    }
  };
  pool.parallel_ranges(out.sequences() * steps, rows_per_tile(window * dim), copy_windows);
}

template <Real T>
void concat_backward(base::ThreadPool& pool, std::int64_t window,
                     base::View2<const std::uint8_t> mask, const Columns<const T>& d_out,
                     base::View3<T> d_hidden) {
  assert_shapes(d_hidden, mask, d_out, window);
  const std::int64_t rows = d_hidden.extent(1);
  const std::int64_t steps = d_out.steps();
  const std::int64_t earlier = rows - steps;
  const std::int64_t dim = d_hidden.extent(2);
  const auto add_slices = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t sequence = i / rows;
      const std::int64_t s = i % rows;
      if (!is_visible(mask, sequence, s)) continue;
      T* d_row = d_hidden.data() + i * dim;
      const std::int64_t last = std::min(s + window, rows);
      for (std::int64_t t = std::max(s, earlier); t < last; ++t) {
        const T* slice = d_out.row(sequence * steps + t - earlier) + (window - 1 - (t - s)) * dim;
        for (std::int64_t c = 0; c < dim; ++c) d_row[c] += slice[c];
      }
    }
  };
  pool.parallel_ranges(d_hidden.extent(0) * rows, rows_per_tile(window * dim), add_slices);
}

template void concat_forward<float>(base::ThreadPool&, std::int64_t, base::View3<const float>,
                                    base::View2<const std::uint8_t>, const Columns<float>&);
template void concat_backward<float>(base::ThreadPool&, std::int64_t,
                                     base::View2<const std::uint8_t>, const Columns<const float>&,
                                     base::View3<float>);
template void concat_forward<double>(base::ThreadPool&, std::int64_t, base::View3<const double>,
                                     base::View2<const std::uint8_t>, const Columns<double>&);
template void concat_backward<double>(base::ThreadPool&, std::int64_t,
                                      base::View2<const std::uint8_t>, const Columns<const double>&,
                                      base::View3<double>);

}  // namespace lexirow::context
