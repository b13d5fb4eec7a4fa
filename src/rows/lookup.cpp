#include "rows/lookup.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/vector_ops.h"

namespace lexirow::rows {

namespace {

constexpr std::int64_t kPiece = 256;
constexpr int kDigitBits = 11;
constexpr std::int64_t kTileValues = 16384;

/// Columns of a row that are summed at a time: the sums stay in the first-level cache, and what is
/// read of a position is long enough for the processor to run ahead.
constexpr std::int64_t kColumns = 256;
/// The share of a row of more than one piece that is a tile of its own.
constexpr std::int64_t kLongColumns = 128;
/// Positions ahead of the one being added whose values are asked for. They lie anywhere, so the
/// processor cannot guess them.
constexpr std::size_t kAhead = 4;

std::int64_t rows_per_tile(std::int64_t dim) {
  return std::max<std::int64_t>(1, kTileValues / std::max<std::int64_t>(1, dim));
}

/// Sorts keys (id in the high half, position in the low) by id. Least significant digit first and
/// stable, so positions of one id keep their order. Digits are as short as the number of passes
/// allows: fewer places to write to at a time.
void sort_by_id(std::int64_t vocab_size, std::vector<std::uint64_t>& keys,
                std::vector<std::uint64_t>& sorted) {
  sorted.resize(keys.size());
  const auto id_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vocab_size - 1)));
  const int passes = (id_bits + kDigitBits - 1) / kDigitBits;
  const int bits = passes == 0 ? 0 : (id_bits + passes - 1) / passes;
  const std::uint64_t digit_mask = (std::uint64_t{1} << bits) - 1;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = 32 + pass * bits;
    std::array<std::uint32_t, std::size_t{1} << kDigitBits> next{};
    for (const std::uint64_t key : keys) ++next[(key >> shift) & digit_mask];
    std::uint32_t place = 0;
    for (std::uint64_t digit = 0; digit <= digit_mask; ++digit) {
      place += std::exchange(next[digit], place);
    }
    for (const std::uint64_t key : keys) sorted[next[(key >> shift) & digit_mask]++] = key;
    keys.swap(sorted);
  }
}

/// Asks for the values of the plan's position `at`, where there is one.
template <Real T>
inline void prefetch(const ScatterPlan& plan, base::View2<const T> d_out, std::size_t at,
                     std::int64_t column, std::int64_t width) {
  if (at >= plan.positions.size()) return;
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  const T* const values = d_out.data() + plan.positions[at] * d_out.extent(1) + column;
  for (std::int64_t j = 0; j < width; j += kLine) __builtin_prefetch(values + j);
}

/// sums[j] = sum over the plan's positions [begin, end) of d_out[position, column + j], in order.
template <Real T>
void sum_piece(const ScatterPlan& plan, base::View2<const T> d_out, std::int64_t begin,
               std::int64_t end, std::int64_t column, std::int64_t width, T* sums) {
  const T* const values = d_out.data() + column;
  for (std::int64_t k = begin; k < end; ++k) {
    const auto at = static_cast<std::size_t>(k);
    prefetch(plan, d_out, at + kAhead, column, width);
    const T* const here = values + plan.positions[at] * d_out.extent(1);
    if (k == begin) {
      std::copy_n(here, width, sums);
    } else {
      kernels::add<T>(width, here, sums);
    }
  }
}

/// The sum of the plan's u-th row in columns [column, column + width), at most kColumns, set or
/// added to `sums`: pieces of 256 positions, joined in order.
template <Real T>
void add_columns(const ScatterPlan& plan, base::View2<const T> d_out, std::int64_t u,
                 std::int64_t column, std::int64_t width, bool overwrite, T* sums) {
  const std::int64_t begin = plan.begin[static_cast<std::size_t>(u)];
  const std::int64_t end = plan.begin[static_cast<std::size_t>(u) + 1];
  std::array<T, kColumns> piece;
  for (std::int64_t first = begin; first < end; first += kPiece) {
    const std::int64_t last = std::min(end, first + kPiece);
    if (overwrite && first == begin) {
      sum_piece(plan, d_out, first, last, column, width, sums);
    } else {
      sum_piece(plan, d_out, first, last, column, width, piece.data());
      kernels::add<T>(width, piece.data(), sums);
    }
  }
}

bool is_long(const ScatterPlan& plan, std::int64_t u) {
  const auto at = static_cast<std::size_t>(u);
  return plan.begin[at + 1] - plan.begin[at] > kPiece;
}

/// Shares out the rows of a plan. Tiles are cut by sizes alone: rows of one piece go by equal
/// shares of positions, `rows(u, end)`, which passes over the long ones; a row of more pieces is
/// shared out by columns, `long_part(u, column, width)`, so that a frequent token does not hold
/// up the others.
template <typename LongPart, typename Rows>
void share_out(base::ThreadPool& pool, const ScatterPlan& plan, std::int64_t dim,
               const LongPart& long_part, const Rows& rows) {
  const std::int64_t parts = (dim + kLongColumns - 1) / kLongColumns;
  const auto long_rows = static_cast<std::int64_t>(plan.long_rows.size());
  const auto positions = static_cast<std::int64_t>(plan.positions.size());
  const std::int64_t share = rows_per_tile(dim);
  const std::int64_t shares = (positions + share - 1) / share;
  pool.parallel_for(long_rows * parts + shares, [&](std::int64_t i) {
    if (i < long_rows * parts) {
      const std::int64_t column = i % parts * kLongColumns;
      long_part(plan.long_rows[static_cast<std::size_t>(i / parts)], column,
                std::min(kLongColumns, dim - column));
      return;
    }
    i -= long_rows * parts;
    const auto first = std::lower_bound(plan.begin.begin(), plan.begin.end() - 1, i * share);
    const auto last = std::lower_bound(first, plan.begin.end() - 1, (i + 1) * share);
    rows(first - plan.begin.begin(), last - plan.begin.begin());
  });
}

/// All columns of the plan's u-th row.
template <Real T>
void add_row(const ScatterPlan& plan, base::View2<const T> d_out, std::int64_t u, bool overwrite,
             T* sums) {
  const std::int64_t dim = d_out.extent(1);
  for (std::int64_t column = 0; column < dim; column += kColumns) {
    add_columns(plan, d_out, u, column, std::min(kColumns, dim - column), overwrite, sums + column);
  }
}

/// The scatter-add of both backwards. `row_of(u)` is where the sum of the plan's u-th row goes.
template <Real T, typename RowOf>
void scatter_add(base::ThreadPool& pool, const ScatterPlan& plan, base::View2<const T> d_out,
                 bool overwrite, const RowOf& row_of) {
  share_out(
      pool, plan, d_out.extent(1),
      [&](std::int64_t u, std::int64_t column, std::int64_t width) {
        add_columns(plan, d_out, u, column, width, overwrite, row_of(u) + column);
      },
      [&](std::int64_t u, std::int64_t end) {
        for (; u < end; ++u) {
          if (!is_long(plan, u)) add_row(plan, d_out, u, overwrite, row_of(u));
        }
      });
}

}  // namespace

void make_scatter_plan(base::View1<const Id> ids, base::View1<const std::uint8_t> mask,
                       std::int64_t vocab_size, Id pad_id, ScatterPlan& plan) {
  assert(ids.size() <= std::numeric_limits<std::int32_t>::max());
  assert(!mask.present() || mask.size() == ids.size());
  plan.keys.resize(static_cast<std::size_t>(ids.size()));
  std::size_t count = 0;
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    assert(ids[i] == pad_id || (ids[i] >= 0 && ids[i] < vocab_size));
    plan.keys[count] = static_cast<std::uint64_t>(ids[i]) << 32 | static_cast<std::uint64_t>(i);
    count += ids[i] != pad_id && !(mask.present() && mask[i] == 0) ? 1 : 0;
  }
  plan.keys.resize(count);
  sort_by_id(vocab_size, plan.keys, plan.sorted);

  plan.ids.resize(count);
  plan.begin.resize(count + 1);
  plan.positions.resize(count);
  plan.long_rows.clear();
  std::size_t rows = 0;
  Id last = kNoId;
  for (std::size_t k = 0; k < count; ++k) {
    const Id id = static_cast<Id>(plan.keys[k] >> 32);
    plan.positions[k] = static_cast<std::int32_t>(plan.keys[k] & 0xFFFFFFFFU);
    // Written at every position and kept where a row begins: no branch to guess wrong.
    plan.ids[rows] = id;
    plan.begin[rows] = static_cast<std::int64_t>(k);
    rows += id != last ? 1 : 0;
    last = id;
  }
  plan.ids.resize(rows);
  plan.begin.resize(rows + 1);
  plan.begin[rows] = static_cast<std::int64_t>(count);
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

// no backward: these sums are the backward of lookup_forward, handed over rather than kept.
template <Real T>
void visit_row_sums(base::ThreadPool& pool, const ScatterPlan& plan, base::View2<const T> d_out,
                    const RowSumVisitor<T>& visit) {
  const std::int64_t dim = d_out.extent(1);
  share_out(
      pool, plan, dim,
      [&](std::int64_t u, std::int64_t column, std::int64_t width) {
        std::array<T, kLongColumns> sums;
        add_columns(plan, d_out, u, column, width, true, sums.data());
        visit(u, column, width, sums.data());
      },
      [&](std::int64_t u, std::int64_t end) {
        std::vector<T> sums(static_cast<std::size_t>(dim));
        for (; u < end; ++u) {
          if (is_long(plan, u)) continue;
          add_row(plan, d_out, u, true, sums.data());
          visit(u, 0, dim, sums.data());
        }
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
template void visit_row_sums<float>(base::ThreadPool&, const ScatterPlan&, base::View2<const float>,
                                    const RowSumVisitor<float>&);
template void visit_row_sums<double>(base::ThreadPool&, const ScatterPlan&,
                                     base::View2<const double>, const RowSumVisitor<double>&);

}  // namespace lexirow::rows
