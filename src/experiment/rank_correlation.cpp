#include "experiment/rank_correlation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "experiment/statistics.h"

namespace lexirow::experiment {
namespace {

/// Ranks from 0, less their mean.
std::vector<double> centred_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double middle = (static_cast<double>(values.size()) - 1) / 2;
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = (static_cast<double>(begin + end) - 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = shared - middle;
    begin = end;
  }
  return ranks;
}

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

RankCorrelation rank_correlation(std::span<const double> x, std::span<const double> y,
                                 int permutations, std::uint64_t seed) {
  assert(x.size() == y.size());
  const std::vector<double> a = centred_ranks(x);
  const std::vector<double> b = centred_ranks(y);
  const double observed = product(a, b);
  RankCorrelation result;
  result.rho = observed / std::sqrt(product(a, a) * product(b, b));
  if (!std::isfinite(result.rho)) return {std::nan(""), 1};
  int as_large = 1;
  std::vector<double> shuffled(b.size());
  for (int i = 0; i < permutations; ++i) {
    const std::vector<std::size_t> order =
        random_order(b.size(), base::mix_bits(seed) + static_cast<std::uint64_t>(i));
    for (std::size_t k = 0; k < order.size(); ++k) shuffled[k] = b[order[k]];
    as_large += product(a, shuffled) >= observed;
  }
  result.p_value = static_cast<double>(as_large) / (permutations + 1);
  return result;
}

}  // namespace lexirow::experiment
