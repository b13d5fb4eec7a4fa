#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "rows/touched_rows.h"

namespace lexirow::rows {

/// The positions of a batch sorted by id, stably: made once, used by every scatter-add of it.
/// Positions with mask 0 and positions of the pad id are left out: they get no gradient.
struct ScatterPlan {
  std::vector<Id> ids;                      ///< [U] ascending, distinct
  std::vector<std::int64_t> begin;          ///< [U + 1] places in `positions`
  std::vector<std::int32_t> positions;      ///< positions grouped by id, ascending in each group
  std::vector<std::int32_t> long_rows;      ///< places in `ids` of rows with more than one piece
  std::vector<std::uint64_t> keys, sorted;  ///< memory of the sort, kept from batch to batch
};

/// Sorts the positions of a batch by id.
///   ids   [N]  in   checked: 0 <= id < vocab_size
///   mask  [N]  in   1 visible, 0 padding; absent: all visible
///   plan       out  its memory is reused from batch to batch
/// `pad_id` kNoId when the table has no pad row. Cost: a radix sort of 11 bits a pass: N per pass,
/// one pass up to V = 2048, two up to 4 million; no memory or time of size V. Throws: nothing.
void make_scatter_plan(base::View1<const Id> ids, base::View1<const std::uint8_t> mask,
                       std::int64_t vocab_size, Id pad_id, ScatterPlan& plan);

/// Copies the rows that the ids name.
///   table  [V, D]  in
///   ids    [N]     in   checked
///   out    [N, D]  out
/// Pair: lookup_backward. Cost: N*D copies. Throws: nothing. Source: PyTorch's nn.Embedding.
template <Real T>
void lookup_forward(base::ThreadPool& pool, base::View2<const T> table, base::View1<const Id> ids,
                    base::View2<T> out);

/// Scatter-add into touched rows: each row gets the sum over the positions that read it, positions
/// in order in pieces of 256, pieces joined in order: the same bytes for any number of threads.
///   plan    in      of the ids of lookup_forward
///   d_out   [N, D]  in
///   d_rows  [U, D]  accum when d_rows.ids already equals plan.ids, else set to the plan's rows
/// Cost: N*D adds; nothing of size V. Throws: nothing.
template <Real T>
void lookup_backward(base::ThreadPool& pool, const ScatterPlan& plan, base::View2<const T> d_out,
                     TouchedRows<T>& d_rows);

/// The same into a dense gradient, for a table that is also the head.
///   plan     in      of the ids of lookup_forward
///   d_out    [N, D]  in
///   d_table  [V, D]  accum
/// Cost: N*D adds. Throws: nothing.
template <Real T>
void lookup_backward_dense(base::ThreadPool& pool, const ScatterPlan& plan,
                           base::View2<const T> d_out, base::View2<T> d_table);

/// Takes columns [column, column + width) of the sum of the plan's u-th row; `sums` is gone after
/// the call. Rows of one piece come whole, longer ones a few columns at a time.
template <Real T>
using RowSumVisitor =
    std::function<void(std::int64_t u, std::int64_t column, std::int64_t width, const T* sums)>;

/// The sums of lookup_backward, each handed to `visit` as soon as it is made instead of being
/// stored, so that an optimizer moves the row while its gradient is in the cache. Bit-equal to
/// lookup_backward. Calls come from several threads, each value once.
///   plan    in
///   d_out   [N, D]  in
///   visit   in
/// Cost: N*D adds; no memory but a row a thread. Throws: what `visit` throws.
template <Real T>
void visit_row_sums(base::ThreadPool& pool, const ScatterPlan& plan, base::View2<const T> d_out,
                    const RowSumVisitor<T>& visit);

}  // namespace lexirow::rows
