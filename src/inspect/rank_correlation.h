#pragma once

#include <span>
#include <vector>

namespace lexirow::inspect {

/// Ranks from 0 less their mean; equal values share the mean of their ranks.
std::vector<double> centred_ranks(std::span<const double> values);

/// Spearman's rank correlation of two lists of one size, from -1 to 1; NaN where one does not vary
/// or has fewer than two values. Source: Spearman 1904.
double spearman(std::span<const double> x, std::span<const double> y);

}  // namespace lexirow::inspect
