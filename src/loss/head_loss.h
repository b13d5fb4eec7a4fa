#pragma once

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "loss/cross_entropy.h"

namespace lexirow::loss {

/// Memory of head_loss between steps: what belongs to one group of tokens, never [N, V].
template <Real T>
struct HeadLossWorkspace {
  base::Array<std::int64_t> rows;  ///< the positions that count, in order
  base::Array<T> hidden;           ///< their hidden rows, for one group
  base::Array<T> logits;           ///< one group's logits, then their gradient
  base::Array<T> pieces;           ///< one group's d_hidden, one piece for each panel of V
  base::Array<double> sums;        ///< maximum and sum of exp of each row and panel
  base::Array<double> losses;      ///< of the rows that count
};

/// Head and cross-entropy in one pass over groups of tokens, without holding all logits. Only
/// positions whose label counts are computed at all, so the others contribute exactly nothing.
///   hidden     [N, D]  in
///   weight     [V, D]  in       the head, or the table when tied
///   bias       [V]     in       may be absent
///   labels     [N]     in       0..V-1, or kIgnoredLabel
///   excluded           in       id left out of the softmax, or kNoId; never a label
///   losses     [N]     out      0 where the label is ignored; may be absent
///   workspace          scratch
/// Returns the sum over counted labels, added in order in double. All ignored: 0 of N, sum 0.
/// Memory: the larger of 16 MiB of logits and 256 tokens' logits. Tested against linear +
/// cross_entropy. Throws: nothing.
template <Real T>
LossSum head_loss_forward(base::ThreadPool& pool, base::View2<const T> hidden,
                          base::View2<const T> weight, base::View1<const T> bias,
                          base::View1<const Id> labels, Id excluded, base::View1<T> losses,
                          HeadLossWorkspace<T>& workspace);

/// The same with gradients, each multiplied by `scale` (1 / counted labels for the mean).
///   hidden     [N, D]  in
///   weight     [V, D]  in
///   bias       [V]     in       may be absent
///   labels     [N]     in
///   excluded           in
///   scale              in
///   d_hidden   [N, D]  accum
///   d_weight   [V, D]  accum
///   d_bias     [V]     accum    may be absent
///   workspace          scratch
template <Real T>
LossSum head_loss_forward_backward(base::ThreadPool& pool, base::View2<const T> hidden,
                                   base::View2<const T> weight, base::View1<const T> bias,
                                   base::View1<const Id> labels, Id excluded, T scale,
                                   base::View2<T> d_hidden, base::View2<T> d_weight,
                                   base::View1<T> d_bias, HeadLossWorkspace<T>& workspace);

}  // namespace lexirow::loss
