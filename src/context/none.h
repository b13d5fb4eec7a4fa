#pragma once

#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"

namespace lexirow::context {

/// The row itself: no context. A masked position gives zeros.
///   hidden  [B, P+T, D]  in
///   mask    [B, P+T]     in   1 visible, 0 padding; absent: all visible
///   out     [B, T, D]    out  the last T positions
/// Pair: none_backward. Cost: B*T*D copies. Throws: nothing. Source: docs/shapes.md, none.
template <Real T>
void none_forward(base::ThreadPool& pool, base::View3<const T> hidden,
                  base::View2<const std::uint8_t> mask, const Columns<T>& out);

/// Gradient of none_forward: each output belongs to its own row.
///   mask      [B, P+T]     in
///   d_out     [B, T, D]    in
///   d_hidden  [B, P+T, D]  accum
/// Cost: B*T*D adds. Throws: nothing.
template <Real T>
void none_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                   const Columns<const T>& d_out, base::View3<T> d_hidden);

}  // namespace lexirow::context
