#include "context/full_mean.h"

#include <array>

#include "context/tiles.h"

namespace lexirow::context {

template <Real T>
void full_mean_forward(base::ThreadPool& pool, base::View3<const T> hidden,
                       base::View2<const std::uint8_t> mask, const Columns<T>& out) {
  assert_shapes(hidden, mask, out, 1);
  const std::int64_t rows = hidden.extent(1);
  for_each_column_block(pool, hidden.extent(0), hidden.extent(2), [&](const ColumnBlock& block) {
    std::array<double, kMostColumns> sum{};
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < rows; ++t) {
      if (!is_visible(mask, block.sequence, t)) continue;
      kernels::add_row(block.width, columns_of(hidden, block, t), sum.data());
      ++count;
    }
    for (std::int64_t t = 0; t < out.steps(); ++t) {
      kernels::write_mean(block.width, sum.data(), static_cast<double>(count),
                          columns_of(out, block, t));
    }
  });
}

template <Real T>
void full_mean_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                        const Columns<const T>& d_out, base::View3<T> d_hidden) {
  assert_shapes(d_hidden, mask, d_out, 1);
  const std::int64_t rows = d_hidden.extent(1);
  for_each_column_block(
      pool, d_hidden.extent(0), d_hidden.extent(2), [&](const ColumnBlock& block) {
        const std::int64_t count = count_visible(mask, block.sequence, 0, rows);
        if (count == 0) return;
        std::array<double, kMostColumns> sum{};
        for (std::int64_t t = 0; t < d_out.steps(); ++t) {
          kernels::add_share(block.width, columns_of(d_out, block, t), static_cast<double>(count),
                             sum.data());
        }
        for (std::int64_t t = 0; t < rows; ++t) {
          if (!is_visible(mask, block.sequence, t)) continue;
          kernels::add_sum(block.width, sum.data(), columns_of(d_hidden, block, t));
        }
      });
}

template void full_mean_forward<float>(base::ThreadPool&, base::View3<const float>,
                                       base::View2<const std::uint8_t>, const Columns<float>&);
template void full_mean_backward<float>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                        const Columns<const float>&, base::View3<float>);
template void full_mean_forward<double>(base::ThreadPool&, base::View3<const double>,
                                        base::View2<const std::uint8_t>, const Columns<double>&);
template void full_mean_backward<double>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                         const Columns<const double>&, base::View3<double>);

}  // namespace lexirow::context
