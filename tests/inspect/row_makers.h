#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace lexirow::inspect {

inline constexpr std::int64_t kRowDim = 32;

/// Rows of normal values.
///   returns [rows, dim]
inline std::vector<float> normal_rows(std::int64_t rows, std::int64_t dim, std::uint32_t seed,
                                      double size = 1) {
  base::NumpyStream stream(seed);
  std::vector<float> values(static_cast<std::size_t>(rows * dim));
  for (float& value : values) value = static_cast<float>(size * stream.normal());
  return values;
}

inline float* row(std::vector<float>& values, std::int64_t id, std::int64_t dim = kRowDim) {
  return values.data() + id * dim;
}

}  // namespace lexirow::inspect
