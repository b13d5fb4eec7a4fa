#pragma once

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "loss/cross_entropy.h"

namespace lexirow::loss {

/// Memory of sampled_loss between steps.
template <Real T>
struct SampledLossWorkspace {
  base::Array<T> scores;       ///< logits of the negatives, then their gradient  [N, K]
  base::Array<double> losses;  ///< [N]
};

/// What the loss reads of the head: the rows of the labels and of K negatives that all positions
/// share, and what is added to their logits (the bias, less the log of how often the id is expected
/// among the draws, so that the expected gradient is close to that of the full softmax).
template <typename T>
struct SampledHead {
  base::View2<T> label_rows;        ///< [N, D]
  base::View1<T> label_offsets;     ///< [N]
  base::View2<T> negative_rows;     ///< [K, D]
  base::View1<T> negative_offsets;  ///< [K]
};

/// Softmax cross-entropy over each position's label and the negatives, as one product of [N, D] and
/// [K, D]. A negative that is a position's own label is left out there. Positions with ignored
/// labels get gradients of zero, whatever their rows hold.
///   hidden        [N, D]  in
///   labels        [N]     in     or kIgnoredLabel
///   negative_ids  [K]     in     distinct, ascending
///   head                  in     as above; finite where labels are ignored
///   scale                 in     1 / counted labels for the gradient of the mean
///   d_hidden      [N, D]  accum
///   d_head                out    in the shapes of `head`
///   workspace             scratch
/// Returns the sum over counted labels, added in order in double. The same bytes for any number of
/// threads. Throws: nothing. Source: Jean et al. 2015, section 3.2.
template <Real T>
LossSum sampled_loss_forward_backward(base::ThreadPool& pool, base::View2<const T> hidden,
                                      base::View1<const Id> labels,
                                      base::View1<const Id> negative_ids,
                                      const SampledHead<const T>& head, T scale,
                                      base::View2<T> d_hidden, const SampledHead<T>& d_head,
                                      SampledLossWorkspace<T>& workspace);

}  // namespace lexirow::loss
