#include "experiment/rank_correlation.h"

#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "experiment/statistics.h"
#include "inspect/rank_correlation.h"

namespace lexirow::experiment {
namespace {

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

RankCorrelation rank_correlation(std::span<const double> x, std::span<const double> y,
                                 int permutations, std::uint64_t seed) {
  assert(x.size() == y.size());
  const std::vector<double> a = inspect::centred_ranks(x);
  const std::vector<double> b = inspect::centred_ranks(y);
  const double observed = product(a, b);
  RankCorrelation result;
  result.rho = inspect::spearman(x, y);
  if (std::isnan(result.rho)) return {std::nan(""), 1};
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
