#pragma once

#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"

namespace lexirow::context {

/// Mean of all visible rows of the sequence, the future included: one vector for all positions.
/// A control that leaks on purpose.
///   hidden  [B, P+T, D]  in
///   mask    [B, P+T]     in   1 visible, 0 padding; absent: all visible; nothing visible: zeros
///   out     [B, T, D]    out  the last T positions
/// Pair: full_mean_backward. Cost: B*(P+T)*D adds. Throws: nothing. Source: docs/shapes.md, leaks.
template <Real T>
void full_mean_forward(base::ThreadPool& pool, base::View3<const T> hidden,
                       base::View2<const std::uint8_t> mask, const Columns<T>& out);

/// Gradient of full_mean_forward: every visible row gets an equal share of the sum of all outputs.
///   mask      [B, P+T]     in
///   d_out     [B, T, D]    in
///   d_hidden  [B, P+T, D]  accum
/// Cost: B*(P+T)*D adds. Throws: nothing.
template <Real T>
void full_mean_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                        const Columns<const T>& d_out, base::View3<T> d_hidden);

}  // namespace lexirow::context
