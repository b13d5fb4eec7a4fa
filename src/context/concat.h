#pragma once

#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"

namespace lexirow::context {

/// The last `window` rows side by side, the oldest first and the current row last, so that T rows
/// of W*D values are slices of the text in its order.
///   window                 in   W >= 1, the current row included
///   hidden  [B, P+T, D]    in
///   mask    [B, P+T]       in   1 visible, 0 padding; absent: all visible
///   out     [B, T, W*D]    out  the last T positions; masked rows and rows before the start are
///                               zeros
/// Pair: concat_backward. Cost: B*T*W*D copies. Throws: nothing.
/// Source: Bengio et al. (2003), "A neural probabilistic language model".
template <Real T>
void concat_forward(base::ThreadPool& pool, std::int64_t window, base::View3<const T> hidden,
                    base::View2<const std::uint8_t> mask, const Columns<T>& out);

/// Gradient of concat_forward: a row gets its slice of the `window` outputs from its own on.
///   window                 in
///   mask      [B, P+T]     in
///   d_out     [B, T, W*D]  in
///   d_hidden  [B, P+T, D]  accum
/// Cost: B*T*W*D adds. Throws: nothing.
template <Real T>
void concat_backward(base::ThreadPool& pool, std::int64_t window,
                     base::View2<const std::uint8_t> mask, const Columns<const T>& d_out,
                     base::View3<T> d_hidden);

}  // namespace lexirow::context
