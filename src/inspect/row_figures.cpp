#include "inspect/row_figures.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.h"
#include "inspect/sum_of_products.h"
#include "kernels/matmul.h"
#include "kernels/vector_ops.h"

namespace lexirow::inspect {

namespace {

constexpr std::int64_t kDirections = 16;
constexpr std::int64_t kTiles = 64;

// The smallest normal value and the largest one of the two dtypes of 16 bits.
struct Ends {
  float smallest = 0;
  float largest = 0;
};

bool ends_of(files::DType dtype, Ends& ends) {
  if (dtype == files::DType::f16) ends = {0x1.0p-14F, 65504.0F};
  if (dtype == files::DType::bf16) ends = {0x1.0p-126F, 0x1.FEp127F};
  return ends.largest > 0;
}

// Mixes the bits of every value, two at a time; +0 so that -0 counts as 0.
std::uint64_t fingerprint_of(std::int64_t dim, const float* row) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  std::int64_t i = 0;
  for (; i + 4 <= dim; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const auto bits =
          std::bit_cast<std::uint32_t>(row[i + static_cast<std::int64_t>(lane)] + 0.0F);
      lanes[lane] = (lanes[lane] ^ bits) * kFactor;
      lanes[lane] ^= lanes[lane] >> 29;
    }
  }
  for (; i < dim; ++i) {
    lanes[0] = (lanes[0] ^ std::bit_cast<std::uint32_t>(row[i] + 0.0F)) * kFactor;
    lanes[0] ^= lanes[0] >> 29;
  }
  std::uint64_t hash = 0;
  for (const std::uint64_t lane : lanes) hash = base::mix_bits(hash ^ lane);
  return hash;
}

bool in_bf16(const float* values, std::int64_t count) {
  std::uint32_t lost = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    lost |= std::bit_cast<std::uint32_t>(values[i]) & 0xFFFFU;
  }
  return lost == 0;
}

// A float16 has ten bits behind the point and an exponent from -14; below that it is a multiple of
// 2^-24.
bool in_f16(const float* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = std::abs(values[i]);
    if (value >= 0x1.0p-14F) {
      if (value > 65504.0F || (std::bit_cast<std::uint32_t>(value) & 0x1FFFU) != 0) return false;
    } else if (value * 0x1.0p24F != std::floor(value * 0x1.0p24F)) {
      return false;
    }
  }
  return true;
}

struct TileSums {
  std::vector<double> sums;  // [dim]
  std::int64_t usable = 0;
  bool bf16 = true;
  bool f16 = true;
};

class RowSweep {
 public:
  RowSweep(const files::RowSource& table, RowFigures& figures)
      : figures_(figures), directions_(fixed_directions(table.dim())) {
    const auto rows = static_cast<std::size_t>(table.rows());
    figures_.rows = table.rows();
    figures_.dim = table.dim();
    figures_.dtype = table.dtype();
    figures_.directions = std::min(kDirections, table.dim());
    figures_.squares.resize(rows);
    figures_.fingerprints.resize(rows);
    figures_.projections.resize(rows * static_cast<std::size_t>(figures_.directions));
    narrow_ = ends_of(table.dtype(), ends_);
    wide_ = table.dtype() == files::DType::f32 || table.dtype() == files::DType::f64;
    if (narrow_) {
      figures_.tiny.resize(rows);
      figures_.at_end.resize(rows);
    }
    tiles_.resize(static_cast<std::size_t>(kTiles));
  }

  void block(std::int64_t tile_index, std::int64_t first, std::int64_t last, const float* values) {
    const std::int64_t dim = figures_.dim;
    const std::int64_t directions = figures_.directions;
    if (directions > 0) {
      kernels::matmul<float>(false, true, last - first, directions, dim, values, dim,
                             directions_.data(), dim, false,
                             figures_.projections.data() + first * directions, directions);
    }
    TileSums& tile = tiles_[static_cast<std::size_t>(tile_index)];
    tile.sums.resize(static_cast<std::size_t>(dim));
    if (wide_ && tile.bf16) tile.bf16 = in_bf16(values, (last - first) * dim);
    if (wide_ && tile.f16) tile.f16 = in_f16(values, (last - first) * dim);
    for (std::int64_t row = first; row < last; ++row) {
      one_row(row, values + (row - first) * dim, tile);
    }
  }

  void finish() {
    std::vector<double> sums(static_cast<std::size_t>(figures_.dim), 0.0);
    figures_.all_bf16 = figures_.all_f16 = wide_;
    for (const TileSums& tile : tiles_) {
      figures_.usable += tile.usable;
      figures_.all_bf16 = figures_.all_bf16 && tile.bf16;
      figures_.all_f16 = figures_.all_f16 && tile.f16;
      for (std::size_t j = 0; j < tile.sums.size(); ++j) sums[j] += tile.sums[j];
    }
    const auto count = static_cast<double>(std::max<std::int64_t>(1, figures_.usable));
    for (double& sum : sums) sum /= count;
    figures_.mean = std::move(sums);
  }

 private:
  void one_row(std::int64_t row, const float* values, TileSums& tile) {
    const std::int64_t dim = figures_.dim;
    const auto at = static_cast<std::size_t>(row);
    const double square = kernels::sum_of_squares<float>(dim, values);
    figures_.squares[at] = square;
    figures_.fingerprints[at] = fingerprint_of(dim, values);
    if (narrow_) {
      std::int32_t tiny = 0;
      std::int32_t at_end = 0;
      for (std::int64_t j = 0; j < dim; ++j) {
        const float size = std::abs(values[j]);
        tiny += size < ends_.smallest ? 1 : 0;
        at_end += size == ends_.largest ? 1 : 0;
      }
      figures_.tiny[at] = tiny;
      figures_.at_end[at] = at_end;
    }
    if (square == 0 || !std::isfinite(square)) return;
    ++tile.usable;
    for (std::int64_t j = 0; j < dim; ++j) tile.sums[static_cast<std::size_t>(j)] += values[j];
  }

  RowFigures& figures_;
  std::vector<float> directions_;
  bool narrow_ = false;
  bool wide_ = false;
  Ends ends_;
  std::vector<TileSums> tiles_;
};

}  // namespace

bool RowFigures::is_finite(std::int64_t row) const {
  return std::isfinite(squares[static_cast<std::size_t>(row)]);
}

double RowFigures::norm(std::int64_t row) const {
  return std::sqrt(squares[static_cast<std::size_t>(row)]);
}

std::vector<float> fixed_directions(std::int64_t dim) {
  constexpr std::uint32_t kSeed = 20240617;
  base::NumpyStream stream(kSeed);
  const std::int64_t count = std::min(kDirections, dim);
  const auto size = static_cast<std::size_t>(dim);
  std::vector<std::vector<double>> made;
  std::vector<float> all;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<double> one(size);
    for (double& value : one) value = stream.normal();
    // Gram and Schmidt's way, twice, which is enough (Kahan and Parlett).
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::vector<double>& other : made) {
        const double shared = sum_of_products(dim, one.data(), other.data());
        for (std::size_t j = 0; j < size; ++j) one[j] -= shared * other[j];
      }
    }
    const double length = std::sqrt(sum_of_products(dim, one.data(), one.data()));
    for (double& value : one) value /= length;
    for (const double value : one) all.push_back(static_cast<float>(value));
    made.push_back(std::move(one));
  }
  return all;
}

void sweep_rows(base::ThreadPool& pool, const files::RowSource& table, std::int64_t tiles,
                const std::function<void(std::int64_t tile, std::int64_t first, std::int64_t last,
                                         const float* values)>& block) {
  constexpr std::int64_t kValues = std::int64_t{1} << 18;
  const std::int64_t dim = table.dim();
  const std::int64_t step = std::max<std::int64_t>(1, kValues / std::max<std::int64_t>(1, dim));
  const std::int64_t grain = std::max<std::int64_t>(1, (table.rows() + tiles - 1) / tiles);
  const base::View2<const float> in_place = table.in_place();
  pool.parallel_ranges(table.rows(), grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> buffer;
    for (std::int64_t first = begin; first < end; first += step) {
      const std::int64_t last = std::min(end, first + step);
      const float* values = nullptr;
      if (in_place.present()) {
        values = in_place.data() + first * dim;
      } else {
        buffer.resize(static_cast<std::size_t>((last - first) * dim));
        table.read(first, last, buffer.data());
        values = buffer.data();
      }
      block(begin / grain, first, last, values);
      table.release(first, last);
    }
  });
}

RowFigures measure_rows(base::ThreadPool& pool, const files::RowSource& table) {
  RowFigures figures;
  RowSweep sweep(table, figures);
  sweep_rows(pool, table, kTiles,
             [&](std::int64_t tile, std::int64_t first, std::int64_t last, const float* values) {
               sweep.block(tile, first, last, values);
             });
  sweep.finish();
  return figures;
}

}  // namespace lexirow::inspect
