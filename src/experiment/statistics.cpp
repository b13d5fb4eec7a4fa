#include "experiment/statistics.h"

#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace lexirow::experiment {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kBlock = 128;

double block_sum(std::span<const double> values) {
  if (values.size() < kLanes) return std::accumulate(values.begin(), values.end(), 0.0);
  std::array<double, kLanes> r{};
  for (std::size_t j = 0; j < kLanes; ++j) r[j] = values[j];
  std::size_t i = kLanes;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) r[j] += values[i + j];
  }
  double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (; i < values.size(); ++i) sum += values[i];
  return sum;
}

/// Means of the values of marked and of other pairs where thing i takes the place of order[i].
PairTest pair_means(std::span<const double> values, std::span<const std::uint8_t> marked,
                    const std::vector<std::size_t>& order) {
  PairTest result;
  double marked_sum = 0;
  double other_sum = 0;
  const std::size_t size = order.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double value = values[order[i] * size + order[j]];
      if (marked[i * size + j] != 0) {
        marked_sum += value;
        ++result.marked_pairs;
      } else {
        other_sum += value;
        ++result.other_pairs;
      }
    }
  }
  result.marked_mean = marked_sum / static_cast<double>(result.marked_pairs);
  result.other_mean = other_sum / static_cast<double>(result.other_pairs);
  return result;
}

}  // namespace

double pairwise_sum(std::span<const double> values) {
  if (values.size() <= kBlock) return block_sum(values);
  std::size_t half = values.size() / 2;
  half -= half % kLanes;
  return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
}

double mean_of(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return pairwise_sum(values) / static_cast<double>(values.size());
}

std::vector<std::size_t> random_order(std::size_t size, std::uint64_t seed) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  base::SplitMix random(seed);
  for (std::size_t i = size; i > 1; --i) {
    const double place = random.uniform() * static_cast<double>(i);
    std::swap(order[i - 1], order[static_cast<std::size_t>(place)]);
  }
  return order;
}

PairTest permutation_test(std::span<const double> values, std::span<const std::uint8_t> marked,
                          std::size_t size, int permutations, std::uint64_t seed) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  PairTest result = pair_means(values, marked, order);
  if (result.marked_pairs == 0 || result.other_pairs == 0) return result;
  const double observed = result.marked_mean - result.other_mean;
  std::int64_t as_far = 1;
  for (int i = 0; i < permutations; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const PairTest permuted =
        pair_means(values, marked, random_order(size, base::mix_bits(seed) + number));
    as_far += permuted.marked_mean - permuted.other_mean >= observed;
  }
  result.p_value = static_cast<double>(as_far) / (permutations + 1);
  return result;
}

}  // namespace lexirow::experiment
