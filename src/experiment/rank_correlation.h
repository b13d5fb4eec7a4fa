#pragma once

#include <cstdint>
#include <span>

namespace lexirow::experiment {

/// Spearman's rank correlation (inspect/rank_correlation.h) with a permutation test.
struct RankCorrelation {
  double rho = 0;  ///< from -1 to 1; NaN where one side does not vary
  /// Share of the random orders, with the observed one, whose rho is as large: 1 where rho is NaN.
  double p_value = 1;
};

/// Sizes must be equal.
RankCorrelation rank_correlation(std::span<const double> x, std::span<const double> y,
                                 int permutations, std::uint64_t seed);

}  // namespace lexirow::experiment
