#pragma once

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"

namespace lexirow::logits {

/// out = x W^T + b.
///   x       [N, I]  in
///   weight  [O, I]  in
///   bias    [O]     in   may be absent
///   out     [N, O]  out
/// Pair: linear_backward. Throws: nothing. Source: PyTorch's nn.Linear.
template <Real T>
void linear_forward(base::ThreadPool& pool, base::View2<const T> x, base::View2<const T> weight,
                    base::View1<const T> bias, base::View2<T> out);

/// Gradients of linear_forward. Products over N are cut in fixed pieces of 512 joined in order.
///   x         [N, I]  in
///   weight    [O, I]  in
///   d_out     [N, O]  in
///   d_x       [N, I]  accum   may be absent: not wanted
///   d_weight  [O, I]  accum
///   d_bias    [O]     accum   may be absent
template <Real T>
void linear_backward(base::ThreadPool& pool, base::View2<const T> x, base::View2<const T> weight,
                     base::View2<const T> d_out, base::View2<T> d_x, base::View2<T> d_weight,
                     base::View1<T> d_bias);

}  // namespace lexirow::logits
