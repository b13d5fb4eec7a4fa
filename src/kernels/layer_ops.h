#pragma once

#include <cstdint>

#include "base/real.h"

namespace lexirow::kernels {

// Single-threaded loops of hidden layers. float runs as vector code chosen at run time (Highway);
// double is the plain loop. Sums as in vector_ops.h. tests/kernels/layer_ops_test.cpp holds the
// error limits of the float code against the double code.

/// out[i] = max(x[i], 0). May run in place. NaN gives NaN.
template <Real T>
void relu(std::int64_t size, const T* x, T* out);

/// d_x[i] = d_out[i] where x[i] > 0, else 0, as PyTorch at 0. d_x may be d_out.
template <Real T>
void relu_gradient(std::int64_t size, const T* x, const T* d_out, T* d_x);

/// PyTorch's LayerNorm adds this to the variance.
inline constexpr double kLayerNormEps = 1e-5;

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row. Source: Ba, Kiros and Hinton
/// 2016; PyTorch's LayerNorm, the variance over `width`.
///   x                   [rows, width]  in
///   weight, bias        [width]        in
///   y                   [rows, width]  out
///   mean                [rows]         out  for the gradient
///   inverse_deviation   [rows]         out  for the gradient
template <Real T>
void layer_norm(std::int64_t rows, std::int64_t width, const T* x, const T* weight, const T* bias,
                T* y, T* mean, T* inverse_deviation);

/// Gradients of layer_norm.
///   d_y             [rows, width]  in
///   d_x             [rows, width]  accum
///   d_weight, bias  [width]        accum  rows in order
template <Real T>
void layer_norm_gradient(std::int64_t rows, std::int64_t width, const T* x, const T* weight,
                         const T* mean, const T* inverse_deviation, const T* d_y, T* d_x,
                         T* d_weight, T* d_bias);

/// Of dropout's random bits: the golden ratio, and the multipliers of Wellons' lowbias32.
inline constexpr std::uint32_t kWeyl = 0x9E3779B9U;
inline constexpr std::uint32_t kMix1 = 0x7FEB352DU;
inline constexpr std::uint32_t kMix2 = 0x846CA68BU;

/// x[i] is set to zero where the stream of `key` leaves value i out, else multiplied by `scale`. A
/// value is left out where 24 random bits, a function of key and i alone, are below
/// `threshold`: a share of threshold / 2^24. The same values in float and double.
template <Real T>
void dropout(std::int64_t size, std::uint64_t key, std::uint32_t threshold, T scale, T* x);

}  // namespace lexirow::kernels
