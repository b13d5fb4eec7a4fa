#include "loss/negative_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "lexirow/error.h"

namespace lexirow::loss {

NegativeSampler::NegativeSampler(const std::vector<std::int64_t>& counts, std::int64_t count)
    : count_(count) {
  const auto occurring =
      std::count_if(counts.begin(), counts.end(), [](std::int64_t each) { return each > 0; });
  if (occurring < 2) {
    throw Error(
        ErrorKind::argument,
        "sampled loss: the training text has one token only, so there are no others to draw; "
        "use --loss full");
  }
  if (count < 1 || count > occurring / 2) {
    throw Error(ErrorKind::argument,
                fmt::format("sampled loss: {} negatives asked for, expected 1 to {}, half of the "
                            "tokens that occur in the training text; use fewer, or --loss full",
                            count, occurring / 2));
  }
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  std::int64_t sum = 0;
  sums_.reserve(counts.size());
  for (const std::int64_t each : counts) {
    sum += each;
    sums_.push_back(static_cast<double>(sum) / total);
  }
  double before = 0;
  for (const double each : sums_) {
    if (each > before) rarest_ = std::min(rarest_, each - before);
    before = each;
  }
}

double NegativeSampler::share(Id id) const {
  const auto at = static_cast<std::size_t>(id);
  return std::max(rarest_, at == 0 ? sums_[0] : sums_[at] - sums_[at - 1]);
}

float NegativeSampler::log_share(Id id) const {
  return static_cast<float>(std::log(share(id)));
}

void NegativeSampler::draw(std::uint64_t seed, std::int64_t step, Negatives& negatives) const {
  base::SplitMix random(base::mix_bits(seed) ^ base::mix_bits(static_cast<std::uint64_t>(step)));
  negatives.ids.clear();
  negatives.draws = 0;
  std::vector<bool> taken(sums_.size());
  while (static_cast<std::int64_t>(negatives.ids.size()) < count_) {
    ++negatives.draws;
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), random.uniform());
    const auto at = static_cast<std::size_t>(found - sums_.begin());
    if (at >= taken.size() || taken[at]) continue;
    taken[at] = true;
    negatives.ids.push_back(static_cast<Id>(at));
  }
  std::sort(negatives.ids.begin(), negatives.ids.end());
  negatives.sampler = this;
}

float NegativeSampler::log_expected(Id id, double draws) const {
  const double p = std::min(share(id), 1 - 1e-12);
  return static_cast<float>(std::log(-std::expm1(draws * std::log1p(-p))));
}

}  // namespace lexirow::loss
