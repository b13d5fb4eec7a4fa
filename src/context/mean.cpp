#include "context/mean.h"

#include <array>

#include "context/tiles.h"

namespace lexirow::context {

template <Real T>
void mean_forward(base::ThreadPool& pool, base::View3<const T> hidden,
                  base::View2<const std::uint8_t> mask, base::View3<T> out) {
  assert_shapes(hidden, mask, out, 1);
  const std::int64_t rows = hidden.extent(1);
  const std::int64_t earlier = rows - out.extent(1);
  for_each_column_block(pool, hidden.extent(0), hidden.extent(2), [&](const ColumnBlock& block) {
    std::array<double, kBlockColumns> sum{};
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < rows; ++t) {
      if (is_visible(mask, block.sequence, t)) {
        add_row(block.width, columns_of(hidden, block, t), sum.data());
        ++count;
      }
      if (t < earlier) continue;
      write_mean(block.width, sum.data(), count, columns_of(out, block, t - earlier));
    }
  });
}

template <Real T>
void mean_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                   base::View3<const T> d_out, base::View3<T> d_hidden) {
  assert_shapes(d_hidden, mask, d_out, 1);
  const std::int64_t rows = d_hidden.extent(1);
  const std::int64_t earlier = rows - d_out.extent(1);
  for_each_column_block(
      pool, d_hidden.extent(0), d_hidden.extent(2), [&](const ColumnBlock& block) {
        std::array<double, kBlockColumns> sum{};
        std::int64_t count = count_visible(mask, block.sequence, 0, rows);
        for (std::int64_t t = rows - 1; t >= 0 && count > 0; --t) {
          if (t >= earlier) {
            add_share(block.width, columns_of(d_out, block, t - earlier), count, sum.data());
          }
          if (!is_visible(mask, block.sequence, t)) continue;
          add_sum(block.width, sum.data(), columns_of(d_hidden, block, t));
          --count;
        }
      });
}

template void mean_forward<float>(base::ThreadPool&, base::View3<const float>,
                                  base::View2<const std::uint8_t>, base::View3<float>);
template void mean_backward<float>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                   base::View3<const float>, base::View3<float>);
template void mean_forward<double>(base::ThreadPool&, base::View3<const double>,
                                   base::View2<const std::uint8_t>, base::View3<double>);
template void mean_backward<double>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                    base::View3<const double>, base::View3<double>);

}  // namespace lexirow::context
