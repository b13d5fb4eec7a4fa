#pragma once

#include <cstdint>

#include "base/real.h"

namespace lexirow::kernels {

// Single-threaded sweeps over contiguous values, in PyTorch 1.13's order of operations. float runs
// as vector code chosen at run time (Highway); double is the plain loop. A value gets the same bits
// wherever it stands in a range, so cutting a range in pieces changes nothing.
//
// In all of them `gradient` may be null: every gradient is zero (a row that no position read), and
// `gradient_scale` multiplies each gradient first (global-norm clipping; 1 changes nothing).
// Moments and momentum below 2^-100 are stored as zero: they would decay into denormals, which made
// the AdamW sweep 2.8 times slower when measured.

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

/// One AdamW step (Loshchilov & Hutter 2019): decay the value, update both moments, then move.
///   gradient  [size]  in     may be null
///   value     [size]  accum
///   moment1   [size]  accum
///   moment2   [size]  accum
template <Real T>
void adamw(std::int64_t size, const AdamWStep& step, T gradient_scale, const T* gradient, T* value,
           T* moment1, T* moment2);

/// SGD: g += decay value; with momentum, buffer = momentum buffer + g and g = buffer; then
/// value -= lr g. A buffer of zeros gives PyTorch's first step (buffer = g).
///   gradient  [size]  in     may be null
///   value     [size]  accum
///   buffer    [size]  accum  null when momentum is 0
template <Real T>
void sgd(std::int64_t size, double lr, double momentum, double weight_decay, T gradient_scale,
         const T* gradient, T* value, T* buffer);

/// Adagrad (Duchi et al. 2011; PyTorch's form, eps outside the root): g += decay value;
/// sum += g^2; value -= lr g / (sqrt(sum) + eps).
///   gradient        [size]  in     may be null
///   value           [size]  accum
///   sum_of_squares  [size]  accum
template <Real T>
void adagrad(std::int64_t size, double lr, double eps, double weight_decay, T gradient_scale,
             const T* gradient, T* value, T* sum_of_squares);

/// Adagrad with one accumulator for a whole row: sum += mean(g^2) over the row.
///   gradient        [size]  in     may be null
///   value           [size]  accum
///   sum_of_squares  [1]     accum
template <Real T>
void adagrad_row(std::int64_t size, double lr, double eps, double weight_decay, T gradient_scale,
                 const T* gradient, T* value, T* sum_of_squares);

}  // namespace lexirow::kernels
