#pragma once

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"

namespace lexirow::logits {

/// The MLP's parameters, or their gradients. Names as in the model folder.
template <typename T>
struct MlpViews {
  base::View2<T> weight0;  ///< mixer.0.weight [H, F]
  base::View1<T> bias0;    ///< mixer.0.bias   [H]
  base::View2<T> weight2;  ///< mixer.2.weight [D, H]
  base::View1<T> bias2;    ///< mixer.2.bias   [D]
};

/// out = W2 GELU(W0 x + b0) + b2.
///   x           [N, F]  in
///   parameters          in
///   before      [N, H]  out  W0 x + b0, which the backward needs
///   activated   [N, H]  out  GELU(before), which the backward needs
///   out         [N, D]  out
/// Pair: mlp_backward. Throws: nothing.
template <Real T>
void mlp_forward(base::ThreadPool& pool, base::View2<const T> x,
                 const MlpViews<const T>& parameters, base::View2<T> before,
                 base::View2<T> activated, base::View2<T> out);

/// Gradients of mlp_forward.
///   x, before, activated        in
///   d_out          [N, D]       in
///   d_before       [N, H]       scratch
///   d_x            [N, F]       accum    may be absent: not wanted
///   d_parameters                accum
template <Real T>
void mlp_backward(base::ThreadPool& pool, base::View2<const T> x,
                  const MlpViews<const T>& parameters, base::View2<const T> before,
                  base::View2<const T> activated, base::View2<const T> d_out,
                  base::View2<T> d_before, base::View2<T> d_x, const MlpViews<T>& d_parameters);

}  // namespace lexirow::logits
