#pragma once

#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"

namespace lexirow::context {

/// Mean of the visible rows up to each position, from a running sum in double: the average of
/// decay.h with rate 1.
///   carried               in   how many rows were before the first, and their sum
///   hidden   [B, P+T, D]  in
///   mask     [B, P+T]     in   1 visible, 0 padding; absent: all visible; a masked position has
///                              the mean of the rows before it, one that sees nothing gives zeros
///   out      [B, T, D]    out  the last T positions
/// Pair: mean_backward. Cost: B*(P+T)*D adds. Throws: nothing.
/// Source: docs/shapes.md, running mean.
template <Real T>
void mean_forward(base::ThreadPool& pool, const Carried& carried, base::View3<const T> hidden,
                  base::View2<const std::uint8_t> mask, const Columns<T>& out);

/// Gradient of mean_forward, with nothing carried: a row gets its share of every mean at or after
/// it, a running sum in double from the last position backwards.
///   mask      [B, P+T]     in
///   d_out     [B, T, D]    in
///   d_hidden  [B, P+T, D]  accum
/// Cost: B*(P+T)*D adds. Throws: nothing.
template <Real T>
void mean_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                   const Columns<const T>& d_out, base::View3<T> d_hidden);

}  // namespace lexirow::context
