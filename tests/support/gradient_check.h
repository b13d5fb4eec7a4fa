#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/view.h"

namespace lexirow::testing {

/// Central differences as DESIGN section 2 defines them: eps 1e-5, every entry within
/// 1e-6 max(|a|,|n|) + 1e-9, and ||a-n|| / (||a||+||n||) at most 1e-6 per tensor.
///   values    the tensor that the loss reads, changed in place and restored
///   analytic  its gradient
///   loss      sum(out * G) for the current values
inline void expect_gradient(const std::string& what, base::View1<double> values,
                            base::View1<const double> analytic,
                            const std::function<double()>& loss) {
  constexpr double kEps = 1e-5;
  ASSERT_EQ(values.size(), analytic.size()) << what;
  double difference_square = 0;
  double analytic_square = 0;
  double numeric_square = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const double saved = values[i];
    values[i] = saved + kEps;
    const double above = loss();
    values[i] = saved - kEps;
    const double below = loss();
    values[i] = saved;
    const double numeric = (above - below) / (2 * kEps);
    const double a = analytic[i];
    EXPECT_LE(std::abs(a - numeric), 1e-6 * std::max(std::abs(a), std::abs(numeric)) + 1e-9)
        << what << " entry " << i << ": analytic " << a << ", numeric " << numeric;
    difference_square += (a - numeric) * (a - numeric);
    analytic_square += a * a;
    numeric_square += numeric * numeric;
  }
  const double norms = std::sqrt(analytic_square) + std::sqrt(numeric_square);
  if (norms > 1e-9) {
    EXPECT_LE(std::sqrt(difference_square) / norms, 1e-6) << what;
  }
}

/// N(0,1) values from NumPy's stream with a literal seed.
inline std::vector<double> normal_values(std::uint32_t seed, std::int64_t size) {
  base::NumpyStream stream(seed);
  std::vector<double> values(static_cast<std::size_t>(size));
  for (double& value : values) value = stream.normal();
  return values;
}

}  // namespace lexirow::testing
