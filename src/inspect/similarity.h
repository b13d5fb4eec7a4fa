#pragma once

#include <optional>
#include <string>

#include "base/view.h"

namespace lexirow::inspect {

/// Similarity of two vectors. `cosine` is empty with a reason where it is undefined.
struct Similarity {
  double dot = 0;
  std::optional<double> cosine;  ///< clamped to [-1, 1]; exactly 1 for equal vectors
  double euclidean = 0;
  double norm_a = 0, norm_b = 0;
  std::string reason;  ///< begins with "no direction" (a zero vector) or "not finite"
};

/// All sums in double. Throws Error(shape) for different lengths.
///   a, b  [D]  in
Similarity similarity(base::View1<const float> a, base::View1<const float> b);
Similarity similarity(base::View1<const double> a, base::View1<const double> b);

}  // namespace lexirow::inspect
