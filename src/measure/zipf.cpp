#include "measure/zipf.h"

#include <algorithm>

#include "base/random.h"

namespace lexirow::measure {

std::vector<Id> zipf_ids(std::int64_t vocab_size, std::int64_t count, std::uint64_t seed) {
  std::vector<double> below(static_cast<std::size_t>(vocab_size));
  double sum = 0;
  for (std::size_t i = 0; i < below.size(); ++i) {
    sum += 1.0 / static_cast<double>(i + 1);
    below[i] = sum;
  }
  base::SplitMix random(seed);
  std::vector<Id> ids(static_cast<std::size_t>(count));
  for (Id& id : ids) {
    const auto place = std::upper_bound(below.begin(), below.end(), random.uniform() * sum);
    id = static_cast<Id>(std::min<std::int64_t>(place - below.begin(), vocab_size - 1));
  }
  return ids;
}

}  // namespace lexirow::measure
