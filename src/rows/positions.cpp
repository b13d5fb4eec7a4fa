#include "rows/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <iterator>

#include "lexirow/error.h"

namespace lexirow::rows {

namespace {

/// In the order of the enumeration.
constexpr const char* kPositionsNames[] = {"none", "learned", "sinusoidal"};

/// Columns whose sums stand in memory of the stack.
constexpr std::int64_t kSummedColumns = 64;

constexpr std::int64_t kValuesATile = 16384;

bool stands_in(base::View2<const std::uint8_t> mask, std::int64_t place) {
  return !mask.present() || mask.data()[place] != 0;
}

}  // namespace

Positions parse_positions(std::string_view text) {
  const auto* const found = std::find(std::begin(kPositionsNames), std::end(kPositionsNames), text);
  if (found == std::end(kPositionsNames)) {
    throw Error(ErrorKind::argument, fmt::format("positions: got \"{}\", expected one of {}", text,
                                                 fmt::join(kPositionsNames, ", ")));
  }
  return static_cast<Positions>(found - std::begin(kPositionsNames));
}

std::string positions_name(Positions positions) {
  return kPositionsNames[static_cast<std::size_t>(positions)];
}

std::int64_t position_of(std::int64_t index, std::int64_t count) {
  const std::int64_t rest = index % count;
  return rest < 0 ? rest + count : rest;
}

template <Real T>
void fill_sinusoidal(base::View2<T> table) {
  const std::int64_t dim = table.extent(1);
  for (std::int64_t column = 0; column < dim; ++column) {
    const std::int64_t pair = column - column % 2;
    const double length = std::pow(10000.0, static_cast<double>(pair) / static_cast<double>(dim));
    for (std::int64_t t = 0; t < table.extent(0); ++t) {
      const double angle = static_cast<double>(t) / length;
      table.data()[t * dim + column] =
          static_cast<T>(column == pair ? std::sin(angle) : std::cos(angle));
    }
  }
}

template <Real T>
void add_positions_forward(base::ThreadPool& pool, base::View2<const T> positions,
                           std::int64_t earlier, base::View2<const std::uint8_t> mask,
                           base::View3<const T> hidden, base::View3<T> out) {
  const std::int64_t count = positions.extent(0);
  const std::int64_t columns = hidden.extent(1);
  const std::int64_t dim = hidden.extent(2);
  assert(positions.extent(1) == dim && count >= 1 && out.extents() == hidden.extents());
  assert(earlier >= 0 && earlier <= columns);
  assert(!mask.present() || mask.size() == hidden.extent(0) * columns);
  const std::int64_t places_a_tile = std::max<std::int64_t>(1, kValuesATile / dim);
  pool.parallel_ranges(hidden.extent(0) * columns, places_a_tile,
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t i = begin; i < end; ++i) {
                           const T* const row = hidden.data() + i * dim;
                           T* const out_row = out.data() + i * dim;
                           if (!stands_in(mask, i)) {
                             if (out_row != row) std::copy_n(row, dim, out_row);
                             continue;
                           }
                           const T* const position =
                               positions.data() + position_of(i % columns - earlier, count) * dim;
                           for (std::int64_t c = 0; c < dim; ++c) out_row[c] = row[c] + position[c];
                         }
                       });
}

template <Real T>
void add_positions_backward(base::ThreadPool& pool, std::int64_t earlier,
                            base::View2<const std::uint8_t> mask, base::View3<const T> d_out,
                            base::View2<T> d_positions) {
  const std::int64_t count = d_positions.extent(0);
  const std::int64_t columns = d_out.extent(1);
  const std::int64_t dim = d_out.extent(2);
  assert(d_positions.extent(1) == dim && count >= 1);
  assert(!mask.present() || mask.size() == d_out.extent(0) * columns);
  const std::int64_t blocks = (dim + kSummedColumns - 1) / kSummedColumns;
  pool.parallel_for(count * blocks, [&](std::int64_t tile) {
    const std::int64_t position = tile / blocks;
    const std::int64_t first = tile % blocks * kSummedColumns;
    const std::int64_t width = std::min(kSummedColumns, dim - first);
    std::array<double, kSummedColumns> sums{};
    for (std::int64_t b = 0; b < d_out.extent(0); ++b) {
      for (std::int64_t t = position_of(position + earlier, count); t < columns; t += count) {
        const std::int64_t place = b * columns + t;
        if (!stands_in(mask, place)) continue;
        const T* const values = d_out.data() + place * dim + first;
        for (std::int64_t c = 0; c < width; ++c) {
          sums[static_cast<std::size_t>(c)] += static_cast<double>(values[c]);
        }
      }
    }
    T* const d_row = d_positions.data() + position * dim + first;
    for (std::int64_t c = 0; c < width; ++c) {
      d_row[c] += static_cast<T>(sums[static_cast<std::size_t>(c)]);
    }
  });
}

template void fill_sinusoidal<float>(base::View2<float>);
template void fill_sinusoidal<double>(base::View2<double>);
template void add_positions_forward<float>(base::ThreadPool&, base::View2<const float>,
                                           std::int64_t, base::View2<const std::uint8_t>,
                                           base::View3<const float>, base::View3<float>);
template void add_positions_forward<double>(base::ThreadPool&, base::View2<const double>,
                                            std::int64_t, base::View2<const std::uint8_t>,
                                            base::View3<const double>, base::View3<double>);
template void add_positions_backward<float>(base::ThreadPool&, std::int64_t,
                                            base::View2<const std::uint8_t>,
                                            base::View3<const float>, base::View2<float>);
template void add_positions_backward<double>(base::ThreadPool&, std::int64_t,
                                             base::View2<const std::uint8_t>,
                                             base::View3<const double>, base::View2<double>);

}  // namespace lexirow::rows
