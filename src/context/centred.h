#pragma once

#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"

namespace lexirow::context {

/// Mean of the visible ones of the rows before, at and after each position. A control that leaks
/// the next row on purpose.
///   hidden  [B, P+T, D]  in
///   mask    [B, P+T]     in   1 visible, 0 padding; absent: all visible; nothing visible: zeros
///   out     [B, T, D]    out  the last T positions
/// Pair: centred_backward. Cost: 3*B*T*D adds. Throws: nothing. Source: docs/shapes.md, leaks.
template <Real T>
void centred_forward(base::ThreadPool& pool, base::View3<const T> hidden,
                     base::View2<const std::uint8_t> mask, const Columns<T>& out);

/// Gradient of centred_forward: a row gets its share of the means before, at and after it.
///   mask      [B, P+T]     in
///   d_out     [B, T, D]    in
///   d_hidden  [B, P+T, D]  accum
/// Cost: 3*B*T*D adds. Throws: nothing.
template <Real T>
void centred_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                      const Columns<const T>& d_out, base::View3<T> d_hidden);

}  // namespace lexirow::context
