#pragma once

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "loss/cross_entropy.h"

namespace lexirow::loss {

/// Memory of head_loss between steps: logits of a few chunks of tokens, never [N, V].
template <Real T>
struct HeadLossWorkspace {
  base::Array<T> logits;
  base::Array<T> pieces;
  base::Array<double> sums;
};

/// Head and cross-entropy in one pass over chunks of tokens, without holding all logits.
///   hidden  [N, D]  in
///   weight  [V, D]  in   the head, or the table when tied
///   bias    [V]     in   may be absent
///   labels  [N]     in
///   losses  [N]     out  may be absent
/// Tested against linear + cross_entropy. Throws: nothing.
template <Real T>
LossSum head_loss_forward(base::ThreadPool& pool, base::View2<const T> hidden,
                          base::View2<const T> weight, base::View1<const T> bias,
                          base::View1<const Id> labels, Id excluded, base::View1<T> losses,
                          HeadLossWorkspace<T>& workspace);

/// The same with gradients, each multiplied by `scale` (1 / counted labels for the mean).
///   d_hidden  [N, D]  accum
///   d_weight  [V, D]  accum
///   d_bias    [V]     accum  may be absent
template <Real T>
LossSum head_loss_forward_backward(base::ThreadPool& pool, base::View2<const T> hidden,
                                   base::View2<const T> weight, base::View1<const T> bias,
                                   base::View1<const Id> labels, Id excluded, T scale,
                                   base::View2<T> d_hidden, base::View2<T> d_weight,
                                   base::View1<T> d_bias, HeadLossWorkspace<T>& workspace);

}  // namespace lexirow::loss
