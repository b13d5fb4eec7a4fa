#pragma once

#include <cstdint>

#include "base/real.h"

namespace lexirow::kernels {

// Single-threaded loops over contiguous values. float runs as vector code chosen at run time
// (Highway); double is the plain loop. On one type of CPU the order of a sum depends on the length
// only; float sums are cut in pieces of 1024 that are joined in order in double. NaN gives NaN.
// Nothing outside [0, size) is read or written. tests/kernels/vector_ops_test.cpp holds the error
// limits of the float code against the double code.

/// out[i] = GELU(x[i]) = x/2 (1 + erf(x / sqrt 2)). May run in place. -infinity gives -0.
/// Source: Hendrycks & Gimpel 2016.
template <Real T>
void gelu(std::int64_t size, const T* x, T* out);

/// d_x[i] = d_out[i] GELU'(x[i]). d_x may be d_out.
template <Real T>
void gelu_gradient(std::int64_t size, const T* x, const T* d_out, T* d_x);

/// acc[i] += x[i].
template <Real T>
void add(std::int64_t size, const T* x, T* acc);

/// acc[i] += factor x[i].
template <Real T>
void add_scaled(std::int64_t size, T factor, const T* x, T* acc);

/// x[i] *= factor.
template <Real T>
void scale(std::int64_t size, T factor, T* x);

/// Largest value; -infinity for size 0; NaN if any value is NaN.
template <Real T>
T max_value(std::int64_t size, const T* x);

/// out[i] = exp(x[i] - shift); returns their sum. May run in place. In float, values below 2^-100
/// are stored as zero: denormals would slow what reads them.
template <Real T>
T exp_shifted(std::int64_t size, T shift, const T* x, T* out);

/// Sum of exp(x[i] - shift), nothing stored.
template <Real T>
T sum_exp_shifted(std::int64_t size, T shift, const T* x);

/// Sum of a[i] b[i].
template <Real T>
T dot(std::int64_t size, const T* a, const T* b);

/// Sum of squares in double, in fixed pieces: for gradient norms. No float square overflows.
template <Real T>
double sum_of_squares(std::int64_t size, const T* x);

/// True when every value is finite.
template <Real T>
bool all_finite(std::int64_t size, const T* x);

}  // namespace lexirow::kernels
