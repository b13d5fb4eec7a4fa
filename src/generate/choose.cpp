#include "generate/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lexirow/error.h"

namespace lexirow::generate {

namespace {

// The order of "best": higher score first, equal scores by id. No two ids are equal in it, so every
// set cut by it is well defined.
struct Better {
  std::span<const float> logits;
  bool operator()(Id a, Id b) const {
    const float left = logits[static_cast<std::size_t>(a)];
    const float right = logits[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  }
};

// Ids that may be drawn at all, ascending.
std::vector<Id> possible_ids(std::span<const float> logits, const std::vector<bool>& allowed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Id> ids;
  ids.reserve(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!allowed.empty() && !allowed[i]) continue;
    if (std::isnan(logits[i]) || logits[i] == kInfinity) {
      throw Error(
          ErrorKind::numeric,
          fmt::format("choosing the next token: the score of id {} is {}, expected a finite "
                      "number; the model's weights are damaged or its training diverged",
                      i, logits[i]));
    }
    if (logits[i] > -kInfinity) ids.push_back(static_cast<Id>(i));
  }
  if (ids.empty()) {
    throw Error(
        ErrorKind::numeric,
        fmt::format("choosing the next token: none of {} ids may be drawn; all are excluded "
                    "or have probability 0",
                    logits.size()));
  }
  return ids;
}

// Keeps the smallest set of best ids whose weight reaches top_p of all, best first. A heap gives
// them in order one by one: only as many as are kept are ever sorted.
void keep_top_p(const Better& better, double top_p, const std::vector<double>& weights,
                std::vector<Id>& ids) {
  double total = 0;
  for (Id id : ids) total += weights[static_cast<std::size_t>(id)];
  const auto worse = [&](Id a, Id b) { return better(b, a); };
  std::make_heap(ids.begin(), ids.end(), worse);
  double sum = 0;
  auto end = ids.end();
  while (end != ids.begin() && sum < top_p * total) {
    std::pop_heap(ids.begin(), end, worse);
    --end;
    sum += weights[static_cast<std::size_t>(*end)];
  }
  ids.erase(ids.begin(), end);
  std::reverse(ids.begin(), ids.end());
}

}  // namespace

void validate(const ChoiceOptions& options) {
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("temperature: got {}, expected a number of 0 or more; 0 always takes the "
                    "best token",
                    options.temperature));
  }
  if (options.top_k < 0) {
    throw Error(ErrorKind::argument,
                fmt::format("top-k: got {}, expected 1 or more; leave it out to keep every token",
                            options.top_k));
  }
  if (!(options.top_p > 0) || options.top_p > 1) {
    throw Error(
        ErrorKind::argument,
        fmt::format("top-p: got {}, expected a number above 0 and up to 1; 1 keeps every token",
                    options.top_p));
  }
}

Id choose(std::span<const float> logits, const std::vector<bool>& allowed,
          const ChoiceOptions& options, base::SplitMix& random) {
  validate(options);
  if (!allowed.empty() && allowed.size() != logits.size()) {
    throw Error(ErrorKind::shape,
                fmt::format("choosing the next token: {} scores, but {} flags of allowed ids",
                            logits.size(), allowed.size()));
  }
  const Better better{logits};
  std::vector<Id> ids = possible_ids(logits, allowed);
  const Id best = *std::min_element(ids.begin(), ids.end(), better);
  if (options.temperature == 0) return best;

  if (options.top_k > 0 && options.top_k < static_cast<std::int64_t>(ids.size())) {
    std::nth_element(ids.begin(), ids.begin() + options.top_k, ids.end(), better);
    ids.resize(static_cast<std::size_t>(options.top_k));
    // The set is what the definition says; its order would be the library's.
    std::sort(ids.begin(), ids.end());
  }
  const double top = logits[static_cast<std::size_t>(best)];
  std::vector<double> weights(logits.size(), 0.0);
  for (Id id : ids) {
    const std::size_t i = static_cast<std::size_t>(id);
    weights[i] = std::exp((static_cast<double>(logits[i]) - top) / options.temperature);
  }
  if (options.top_p < 1) keep_top_p(better, options.top_p, weights, ids);

  double total = 0;
  for (Id id : ids) total += weights[static_cast<std::size_t>(id)];
  const double target = random.uniform() * total;
  double sum = 0;
  Id last = best;
  for (Id id : ids) {
    const double weight = weights[static_cast<std::size_t>(id)];
    if (weight == 0) continue;
    sum += weight;
    last = id;
    if (sum > target) break;
  }
  return last;
}

}  // namespace lexirow::generate
