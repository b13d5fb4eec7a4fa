#include "context/centred.h"

#include <array>

#include "context/tiles.h"

namespace lexirow::context {

namespace {

struct Neighbourhood {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Positions t - 1, t and t + 1, as far as they exist.
Neighbourhood neighbourhood(std::int64_t t, std::int64_t rows) {
  return {std::max<std::int64_t>(t - 1, 0), std::min(t + 2, rows)};
}

}  // namespace

template <Real T>
void centred_forward(base::ThreadPool& pool, base::View3<const T> hidden,
                     base::View2<const std::uint8_t> mask, const Columns<T>& out) {
  assert_shapes(hidden, mask, out, 1);
  const std::int64_t rows = hidden.extent(1);
  const std::int64_t earlier = rows - out.steps();
  for_each_column_block(pool, hidden.extent(0), hidden.extent(2), [&](const ColumnBlock& block) {
    for (std::int64_t t = earlier; t < rows; ++t) {
      std::array<double, kMostColumns> sum{};
      const Neighbourhood near = neighbourhood(t, rows);
      for (std::int64_t s = near.begin; s < near.end; ++s) {
        if (!is_visible(mask, block.sequence, s)) continue;
        kernels::add_row(block.width, columns_of(hidden, block, s), sum.data());
      }
      const std::int64_t count = count_visible(mask, block.sequence, near.begin, near.end);
      kernels::write_mean(block.width, sum.data(), static_cast<double>(count),
                          columns_of(out, block, t - earlier));
    }
  });
}

template <Real T>
void centred_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                      const Columns<const T>& d_out, base::View3<T> d_hidden) {
  assert_shapes(d_hidden, mask, d_out, 1);
  const std::int64_t rows = d_hidden.extent(1);
  const std::int64_t earlier = rows - d_out.steps();
  for_each_column_block(
      pool, d_hidden.extent(0), d_hidden.extent(2), [&](const ColumnBlock& block) {
        for (std::int64_t s = 0; s < rows; ++s) {
          if (!is_visible(mask, block.sequence, s)) continue;
          std::array<double, kMostColumns> sum{};
          const Neighbourhood means = neighbourhood(s, rows);
          for (std::int64_t t = std::max(means.begin, earlier); t < means.end; ++t) {
            const Neighbourhood near = neighbourhood(t, rows);
            const std::int64_t count = count_visible(mask, block.sequence, near.begin, near.end);
            kernels::add_share(block.width, columns_of(d_out, block, t - earlier),
                               static_cast<double>(count), sum.data());
          }
          kernels::add_sum(block.width, sum.data(), columns_of(d_hidden, block, s));
        }
      });
}

template void centred_forward<float>(base::ThreadPool&, base::View3<const float>,
                                     base::View2<const std::uint8_t>, const Columns<float>&);
template void centred_backward<float>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                      const Columns<const float>&, base::View3<float>);
template void centred_forward<double>(base::ThreadPool&, base::View3<const double>,
                                      base::View2<const std::uint8_t>, const Columns<double>&);
template void centred_backward<double>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                       const Columns<const double>&, base::View3<double>);

}  // namespace lexirow::context
