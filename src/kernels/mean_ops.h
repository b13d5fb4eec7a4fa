#pragma once

#include <cstdint>

#include "base/real.h"

namespace lexirow::kernels {

// Running sums in double over rows of T, and the means taken of them. Vector code chosen at run
// time; every value is computed by itself and rounded as plain double arithmetic rounds it, so the
// bytes are the same on every CPU. `sum` may be the row itself where T is double.

/// sum[i] += row[i].
template <Real T>
void add_row(std::int64_t size, const T* row, double* sum);

/// sum[i] = rate sum[i] + row[i].
template <Real T>
void decay_and_add(std::int64_t size, double rate, const T* row, double* sum);

/// out[i] = sum[i] / weight, rounded to T once here; zeros when nothing was seen.
///   weight  in  of the rows in the sum: their number, or the sum of their weights
template <Real T>
void write_mean(std::int64_t size, const double* sum, double weight, T* out);

/// sum[i] += d_out[i] / weight: what each row of that mean gets.
template <Real T>
void add_share(std::int64_t size, const T* d_out, double weight, double* sum);

/// d_row[i] += sum[i], the sum rounded to T first.
template <Real T>
void add_sum(std::int64_t size, const double* sum, T* d_row);

}  // namespace lexirow::kernels
