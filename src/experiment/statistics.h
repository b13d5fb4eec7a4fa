#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lexirow::experiment {

/// The sum in NumPy's order: up to 128 values by eight running sums, more by halves.
double pairwise_sum(std::span<const double> values);

/// The mean; NaN of nothing.
double mean_of(std::span<const double> values);

/// A random order of 0 .. size-1 (Fisher and Yates), the same for the same seed.
std::vector<std::size_t> random_order(std::size_t size, std::uint64_t seed);

/// Whether pairs of things that are marked have larger values than the others. Values of pairs of
/// one thing depend on each other, so the things are permuted, not the pairs (Mantel 1967).
struct PairTest {
  std::int64_t marked_pairs = 0, other_pairs = 0;
  double marked_mean = 0, other_mean = 0;  ///< NaN of no pairs
  /// Share of the permutations, with the observed one, that set the marked pairs as far apart: at
  /// least 1 / (permutations + 1); 1 where there are no marked or no other pairs.
  double p_value = 1;
};
///   values  [n, n] in  symmetric, finite off the diagonal
///   marked  [n, n] in  symmetric
PairTest permutation_test(std::span<const double> values, std::span<const std::uint8_t> marked,
                          std::size_t size, int permutations, std::uint64_t seed);

}  // namespace lexirow::experiment
