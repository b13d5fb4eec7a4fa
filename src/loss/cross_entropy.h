#pragma once

#include <cstdint>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"

namespace lexirow::loss {

/// A sum of losses in nats over the labels that count. `mean()` is not asked when counted is 0.
struct LossSum {
  double sum = 0;
  std::int64_t counted = 0;  ///< labels that are not kIgnoredLabel
  std::int64_t total = 0;    ///< all positions

  double mean() const { return sum / static_cast<double>(counted); }
};

/// Softmax cross-entropy from log-sum-exp.
///   logits       [N, V]  in
///   labels       [N]     in   0..V-1, or kIgnoredLabel: takes no part
///   excluded             in   id whose logit is left out of the softmax (tied pad row), or kNoId;
///                             never a label, which debug builds assert
///   log_sum_exp  [N]     out  which the backward needs; 0 where the label is ignored
///   losses       [N]     out  0 where the label is ignored; may be absent
/// Returns the sum over counted labels, added in order in double. All ignored: counted is 0 and the
/// sum is 0, never NaN. In float the log-sum-exp is rounded to float: at logits of 1e4 a loss is
/// good to 1e-3 (head_loss keeps it in double). Pair: cross_entropy_backward. Throws: nothing.
/// Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.4.
template <Real T>
LossSum cross_entropy_forward(base::ThreadPool& pool, base::View2<const T> logits,
                              base::View1<const Id> labels, Id excluded, base::View1<T> log_sum_exp,
                              base::View1<T> losses);

/// d_logits += scale (softmax - one-hot) in the rows that count; the others and the column of
/// `excluded` are left as they are.
///   logits       [N, V]  in
///   labels       [N]     in
///   excluded             in     as in the forward
///   log_sum_exp  [N]     in     from the forward
///   scale                in     1 / counted labels for the gradient of the mean
///   d_logits     [N, V]  accum
template <Real T>
void cross_entropy_backward(base::ThreadPool& pool, base::View2<const T> logits,
                            base::View1<const Id> labels, Id excluded,
                            base::View1<const T> log_sum_exp, T scale, base::View2<T> d_logits);

}  // namespace lexirow::loss
