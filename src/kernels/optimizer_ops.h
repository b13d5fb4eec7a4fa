#pragma once

#include <cstdint>

#include "base/real.h"

namespace lexirow::kernels {

/// Constants of one AdamW step, as PyTorch computes it.
struct AdamWStep {
  double lr = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double bias_correction1 = 1;  ///< 1 - beta1^step
  double bias_correction2 = 1;  ///< 1 - beta2^step
};

/// One AdamW step over contiguous values (Loshchilov & Hutter 2019, PyTorch's order of operations:
/// decay the value, update both moments, then move). Moments below 2^-100 are stored as zero:
/// denormals made this sweep 2.8 times slower when measured. `gradient_scale` multiplies each
/// gradient first (global-norm clipping); 1 changes nothing.
template <Real T>
void adamw(std::int64_t size, const AdamWStep& step, T gradient_scale, const T* gradient, T* value,
           T* moment1, T* moment2);

/// SGD: g += decay value; with momentum, buffer = momentum buffer + g (buffer = g on the first
/// step, as PyTorch); value -= lr g. `buffer` may be null when momentum is 0.
template <Real T>
void sgd(std::int64_t size, double lr, double momentum, double weight_decay, bool first_step,
         T gradient_scale, const T* gradient, T* value, T* buffer);

/// Adagrad (Duchi et al. 2011; PyTorch's form, eps 1e-10 outside the root).
template <Real T>
void adagrad(std::int64_t size, double lr, double eps, double weight_decay, T gradient_scale,
             const T* gradient, T* value, T* sum_of_squares);

}  // namespace lexirow::kernels
