#include "optim/gradient_norm.h"

#include <cmath>
#include <vector>

#include "kernels/vector_ops.h"

namespace lexirow::optim {
namespace {

template <Real T>
double tile_sum(const Slots<T>& slots, const Tile& tile) {
  if (tile.slot >= 0) {
    const base::View1<const T> gradient = slots.dense[static_cast<std::size_t>(tile.slot)].gradient;
    return kernels::sum_of_squares(tile.end - tile.begin, gradient.data() + tile.begin);
  }
  const TableSlot<T>& table = slots.tables[static_cast<std::size_t>(table_number(tile.slot))];
  const rows::TouchedRows<T>& touched = *table.gradient;
  const Id pad = pad_of(slots, table.name);
  double sum = 0;
  for (std::int64_t u = tile.begin; u < tile.end; ++u) {
    if (touched.ids[static_cast<std::size_t>(u)] == pad) continue;
    sum += kernels::sum_of_squares(touched.dim, touched.row(u));
  }
  return sum;
}

}  // namespace

template <Real T>
double gradient_norm(base::ThreadPool& pool, const Slots<T>& slots) {
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < slots.tables.size(); ++i) {
    const rows::TouchedRows<T>* touched = slots.tables[i].gradient;
    if (touched == nullptr) continue;
    cut_range(table_number(static_cast<std::int64_t>(i)), 0, touched->count(),
              rows_per_tile(touched->dim), tiles);
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
