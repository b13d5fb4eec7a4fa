#include "optim/gradient_norm.h"

#include <cmath>
#include <vector>

#include "kernels/vector_ops.h"

namespace lexirow::optim {
namespace {

template <Real T>
double tile_sum(const Slots<T>& slots, const Tile& tile) {
  if (tile.slot != Tile::kTable) {
    const base::View1<const T> gradient = slots.dense[static_cast<std::size_t>(tile.slot)].gradient;
    return kernels::sum_of_squares(tile.end - tile.begin, gradient.data() + tile.begin);
  }
  const rows::TouchedRows<T>& touched = *slots.table.gradient;
  double sum = 0;
  for (std::int64_t u = tile.begin; u < tile.end; ++u) {
    if (touched.ids[static_cast<std::size_t>(u)] == slots.pad_id) continue;
    sum += kernels::sum_of_squares(touched.dim, touched.row(u));
  }
  return sum;
}

}  // namespace

template <Real T>
double gradient_norm(base::ThreadPool& pool, const Slots<T>& slots) {
  std::vector<Tile> tiles;
  if (!slots.table.name.empty() && slots.table.gradient != nullptr) {
    const rows::TouchedRows<T>& touched = *slots.table.gradient;
    cut_range(Tile::kTable, 0, touched.count(), rows_per_tile(touched.dim), tiles);
  }
  cut_dense_slots(slots, tiles);
  std::vector<double> sums(tiles.size());
  pool.parallel_for(static_cast<std::int64_t>(tiles.size()), [&](std::int64_t i) {
    sums[static_cast<std::size_t>(i)] = tile_sum(slots, tiles[static_cast<std::size_t>(i)]);
  });
  double total = 0;
  for (double sum : sums) total += sum;
  return std::sqrt(total);
}

double clip_scale(double norm, double limit) {
  if (limit == 0) return 1;
  const double scale = limit / (norm + 1e-6);
  return scale < 1 ? scale : 1;
}

template double gradient_norm<float>(base::ThreadPool&, const Slots<float>&);
template double gradient_norm<double>(base::ThreadPool&, const Slots<double>&);

}  // namespace lexirow::optim
