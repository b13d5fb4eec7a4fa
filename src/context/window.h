#pragma once

#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"

namespace lexirow::context {

/// Mean of the visible ones of the last `window` rows. Sums are joined from blocks, never taken
/// apart: nothing is subtracted, so nothing cancels and no row outside the window leaves a trace.
///   window               in   W >= 1, the current row included
///   hidden  [B, P+T, D]  in
///   mask    [B, P+T]     in   1 visible, 0 padding; absent: all visible; a position that sees
///                             nothing gives zeros
///   out     [B, T, D]    out  the last T positions
/// Pair: window_backward. Cost: 3*B*(P+T)*D adds for any W. Throws: nothing.
/// Source: van Herk (1992), "A fast algorithm for local minimum and maximum filters";
/// docs/shapes.md.
template <Real T>
void window_forward(base::ThreadPool& pool, std::int64_t window, base::View3<const T> hidden,
                    base::View2<const std::uint8_t> mask, const Columns<T>& out);

/// Gradient of window_forward: a row gets its share of the `window` means from its own on.
///   window                 in
///   mask      [B, P+T]     in
///   d_out     [B, T, D]    in
///   d_hidden  [B, P+T, D]  accum
/// Cost: 3*B*(P+T)*D adds for any W. Throws: nothing.
template <Real T>
void window_backward(base::ThreadPool& pool, std::int64_t window,
                     base::View2<const std::uint8_t> mask, const Columns<const T>& d_out,
                     base::View3<T> d_hidden);

}  // namespace lexirow::context
