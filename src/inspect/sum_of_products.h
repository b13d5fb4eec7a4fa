#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lexirow::inspect {

/// The one sum of products behind every figure of this folder, so that a listed cosine is bit for
/// bit the cosine of the two vectors. Eight running sums let the compiler use vector code; their
/// order depends on the length only.
template <typename T>
double sum_of_products(std::int64_t size, const T* a, const T* b) {
  constexpr std::int64_t kLanes = 8;
  double sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::int64_t j = 0; j < kLanes; ++j) {
      sums[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
    }
  }
  for (std::int64_t j = 0; i < size; ++i, ++j) {
    sums[j] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/// sqrt(x * x) is x exactly, so equal vectors have cosine 1 exactly.
inline double cosine_of(double dot, double square_a, double square_b) {
  return std::clamp(dot / std::sqrt(square_a * square_b), -1.0, 1.0);
}

}  // namespace lexirow::inspect
