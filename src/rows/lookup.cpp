#include "rows/lookup.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>

namespace lexirow::rows {

namespace {

constexpr std::int64_t kPiece = 256;
constexpr int kDigitBits = 11;
constexpr std::int64_t kTileValues = 16384;

/// Columns whose sums stay in registers while the positions of a row go by: one cache line.
template <Real T>
inline constexpr std::int64_t kColumns = 64 / static_cast<std::int64_t>(sizeof(T));

std::int64_t rows_per_tile(std::int64_t dim) {
  return std::max<std::int64_t>(1, kTileValues / std::max<std::int64_t>(1, dim));
}

/// Sorts keys (id in the high half, position in the low) by id. Least significant digit first and
/// stable, so positions of one id keep their order.
void sort_by_id(std::int64_t vocab_size, std::vector<std::uint64_t>& keys,
                std::vector<std::uint64_t>& sorted) {
  constexpr std::uint64_t kDigitMask = (1U << kDigitBits) - 1;
  sorted.resize(keys.size());
  const auto id_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vocab_size - 1)));
  for (int shift = 32; shift < 32 + id_bits; shift += kDigitBits) {
    std::array<std::uint32_t, kDigitMask + 1> next{};
    for (std::uint64_t key : keys) ++next[(key >> shift) & kDigitMask];
    std::uint32_t place = 0;
    for (std::uint32_t& start : next) {
      const std::uint32_t count = start;
      start = place;
      place += count;
    }
    for (std::uint64_t key : keys) sorted[next[(key >> shift) & kDigitMask]++] = key;
    keys.swap(sorted);
  }
}

/// sums[j] = sum over the positions of d_out[position, column + j], in order.
template <Real T>
inline void sum_piece(const std::int32_t* positions, std::int64_t count, const T* d_out,
                      std::int64_t dim, std::int64_t width, T* sums) {
  for (std::int64_t j = 0; j < width; ++j) sums[j] = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const T* values = d_out + positions[k] * dim;
    for (std::int64_t j = 0; j < width; ++j) sums[j] += values[j];
  }
}

/// Adds one block of columns over all positions of a row: pieces of 256 positions, joined in order.
template <Real T>
void add_columns(const std::int32_t* positions, std::int64_t count, const T* d_out,
                 std::int64_t dim, std::int64_t width, bool overwrite, T* d_row) {
  std::array<T, kColumns<T>> sums;
  for (std::int64_t first = 0; first < count; first += kPiece) {
    const std::int64_t length = std::min(kPiece, count - first);
    if (width == kColumns<T>) {
      sum_piece(positions + first, length, d_out, dim, kColumns<T>, sums.data());
    } else {
      sum_piece(positions + first, length, d_out, dim, width, sums.data());
    }
    if (overwrite && first == 0) {
      std::copy_n(sums.data(), width, d_row);
    } else {
      for (std::int64_t j = 0; j < width; ++j) d_row[j] += sums[static_cast<std::size_t>(j)];
    }
  }
}

/// The scatter-add of both backwards. `row_of(u)` is where the sum of the plan's u-th row goes.
/// Tiles are cut by sizes alone: rows of one piece go by equal shares of positions, a row of more
/// is shared out by blocks of columns, so that a frequent token does not hold up the others.
template <Real T, typename RowOf>
void scatter_add(base::ThreadPool& pool, const ScatterPlan& plan, base::View2<const T> d_out,
                 bool overwrite, const RowOf& row_of) {
  const std::int64_t dim = d_out.extent(1);
  const std::int64_t blocks = (dim + kColumns<T> - 1) / kColumns<T>;
  const auto long_rows = static_cast<std::int64_t>(plan.long_rows.size());
  const auto positions = static_cast<std::int64_t>(plan.positions.size());
  const std::int64_t share = rows_per_tile(dim);
  const std::int64_t shares = (positions + share - 1) / share;

  const auto add_block = [&](std::int64_t u, std::int64_t block) {
    const std::int64_t column = block * kColumns<T>;
    const std::int64_t begin = plan.begin[static_cast<std::size_t>(u)];
    const std::int64_t end = plan.begin[static_cast<std::size_t>(u) + 1];
    add_columns(plan.positions.data() + begin, end - begin, d_out.data() + column, dim,
                std::min(kColumns<T>, dim - column), overwrite, row_of(u) + column);
  };
  const auto add_share = [&](std::int64_t i) {
    const auto first = std::lower_bound(plan.begin.begin(), plan.begin.end() - 1, i * share);
    const auto last = std::lower_bound(first, plan.begin.end() - 1, (i + 1) * share);
    for (auto begin = first; begin != last; ++begin) {
      if (begin[1] - begin[0] > kPiece) continue;
      for (std::int64_t block = 0; block < blocks; ++block) {
        add_block(begin - plan.begin.begin(), block);
      }
    }
  };
  pool.parallel_for(long_rows * blocks + shares, [&](std::int64_t i) {
    if (i < long_rows * blocks) {
      add_block(plan.long_rows[static_cast<std::size_t>(i / blocks)], i % blocks);
    } else {
      add_share(i - long_rows * blocks);
    }
  });
}

}  // namespace

void make_scatter_plan(base::View1<const Id> ids, base::View1<const std::uint8_t> mask,
                       std::int64_t vocab_size, Id pad_id, ScatterPlan& plan) {
  assert(ids.size() <= std::numeric_limits<std::int32_t>::max());
  assert(!mask.present() || mask.size() == ids.size());
  plan.keys.clear();
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == pad_id || (mask.present() && mask[i] == 0)) continue;
    assert(ids[i] >= 0 && ids[i] < vocab_size);
    plan.keys.push_back(static_cast<std::uint64_t>(ids[i]) << 32 | static_cast<std::uint64_t>(i));
  }
  sort_by_id(vocab_size, plan.keys, plan.sorted);

  plan.ids.clear();
  plan.begin.clear();
  plan.positions.clear();
  plan.long_rows.clear();
  for (std::uint64_t key : plan.keys) {
    const Id id = static_cast<Id>(key >> 32);
    if (plan.ids.empty() || plan.ids.back() != id) {
      plan.ids.push_back(id);
      plan.begin.push_back(static_cast<std::int64_t>(plan.positions.size()));
    }
    plan.positions.push_back(static_cast<std::int32_t>(key & 0xFFFFFFFFU));
  }
  plan.begin.push_back(static_cast<std::int64_t>(plan.positions.size()));
  for (std::size_t u = 0; u < plan.ids.size(); ++u) {
    if (plan.begin[u + 1] - plan.begin[u] > kPiece) {
      plan.long_rows.push_back(static_cast<std::int32_t>(u));
    }
  }
}

template <Real T>
void lookup_forward(base::ThreadPool& pool, base::View2<const T> table, base::View1<const Id> ids,
                    base::View2<T> out) {
  const std::int64_t dim = table.extent(1);
  assert(out.extent(0) == ids.size() && out.extent(1) == dim);
  pool.parallel_ranges(ids.size(), rows_per_tile(dim), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      assert(ids[i] >= 0 && ids[i] < table.extent(0));
      std::copy_n(table.data() + ids[i] * dim, dim, out.data() + i * dim);
    }
  });
}

template <Real T>
void lookup_backward(base::ThreadPool& pool, const ScatterPlan& plan, base::View2<const T> d_out,
                     TouchedRows<T>& d_rows) {
  const std::int64_t dim = d_out.extent(1);
  const bool accumulate = d_rows.dim == dim && d_rows.ids == plan.ids;
  if (!accumulate) {
    d_rows.dim = dim;
    d_rows.ids = plan.ids;
    d_rows.values.resize(d_rows.count() * dim);
  }
  scatter_add(pool, plan, d_out, !accumulate, [&](std::int64_t u) { return d_rows.row(u); });
}

template <Real T>
void lookup_backward_dense(base::ThreadPool& pool, const ScatterPlan& plan,
                           base::View2<const T> d_out, base::View2<T> d_table) {
  const std::int64_t dim = d_out.extent(1);
  assert(d_table.extent(1) == dim);
  assert(plan.ids.empty() || plan.ids.back() < d_table.extent(0));
  scatter_add(pool, plan, d_out, false, [&](std::int64_t u) {
    return d_table.data() + plan.ids[static_cast<std::size_t>(u)] * dim;
  });
}

template void lookup_forward<float>(base::ThreadPool&, base::View2<const float>,
                                    base::View1<const Id>, base::View2<float>);
template void lookup_forward<double>(base::ThreadPool&, base::View2<const double>,
                                     base::View1<const Id>, base::View2<double>);
template void lookup_backward<float>(base::ThreadPool&, const ScatterPlan&,
                                     base::View2<const float>, TouchedRows<float>&);
template void lookup_backward<double>(base::ThreadPool&, const ScatterPlan&,
                                      base::View2<const double>, TouchedRows<double>&);
template void lookup_backward_dense<float>(base::ThreadPool&, const ScatterPlan&,
                                           base::View2<const float>, base::View2<float>);
template void lookup_backward_dense<double>(base::ThreadPool&, const ScatterPlan&,
                                            base::View2<const double>, base::View2<double>);

}  // namespace lexirow::rows
