#include "context/none.h"

#include "context/tiles.h"

namespace lexirow::context {

template <Real T>
void none_forward(base::ThreadPool& pool, base::View3<const T> hidden,
                  base::View2<const std::uint8_t> mask, const Columns<T>& out) {
  assert_shapes(hidden, mask, out, 1);
  const std::int64_t steps = out.steps();
  const std::int64_t dim = hidden.extent(2);
  const std::int64_t earlier = hidden.extent(1) - steps;
  const auto copy_rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t sequence = i / steps;
      const std::int64_t t = earlier + i % steps;
      T* out_row = out.row(i);
      if (is_visible(mask, sequence, t)) {
        std::copy_n(hidden.data() + (sequence * hidden.extent(1) + t) * dim, dim, out_row);
      } else {
        std::fill_n(out_row, dim, T{0});
      }
    }
  };
  pool.parallel_ranges(out.sequences() * steps, rows_per_tile(dim), copy_rows);
}

template <Real T>
void none_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                   const Columns<const T>& d_out, base::View3<T> d_hidden) {
  assert_shapes(d_hidden, mask, d_out, 1);
  const std::int64_t steps = d_out.steps();
  const std::int64_t dim = d_hidden.extent(2);
  const std::int64_t earlier = d_hidden.extent(1) - steps;
  const auto add_rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t sequence = i / steps;
      const std::int64_t t = earlier + i % steps;
      if (!is_visible(mask, sequence, t)) continue;
      const T* d_out_row = d_out.row(i);
      T* d_row = d_hidden.data() + (sequence * d_hidden.extent(1) + t) * dim;
      for (std::int64_t c = 0; c < dim; ++c) d_row[c] += d_out_row[c];
    }
  };
  pool.parallel_ranges(d_out.sequences() * steps, rows_per_tile(dim), add_rows);
}

template void none_forward<float>(base::ThreadPool&, base::View3<const float>,
                                  base::View2<const std::uint8_t>, const Columns<float>&);
template void none_backward<float>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                   const Columns<const float>&, base::View3<float>);
template void none_forward<double>(base::ThreadPool&, base::View3<const double>,
                                   base::View2<const std::uint8_t>, const Columns<double>&);
template void none_backward<double>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                    const Columns<const double>&, base::View3<double>);

}  // namespace lexirow::context
