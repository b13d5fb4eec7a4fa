#include "inspect/rank_correlation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace lexirow::inspect {

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

double spearman(std::span<const double> x, std::span<const double> y) {
  assert(x.size() == y.size());
  const std::vector<double> a = centred_ranks(x);
  const std::vector<double> b = centred_ranks(y);
  const auto product = [](const std::vector<double>& left, const std::vector<double>& right) {
    return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
  };
  const double rho = product(a, b) / std::sqrt(product(a, a) * product(b, b));
  return std::isfinite(rho) ? std::clamp(rho, -1.0, 1.0) : std::nan("");
}

}  // namespace lexirow::inspect
