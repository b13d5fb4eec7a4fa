#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace lexirow::loss {

class NegativeSampler;

/// The ids that a batch is scored against instead of the whole vocabulary.
struct Negatives {
  std::vector<Id> ids;                       ///< [K] distinct, ascending
  double draws = 0;                          ///< draws it took to find K distinct ids
  const NegativeSampler* sampler = nullptr;  ///< that drew them, which outlives them
};

/// Draws negatives as often as each id occurs in the training text (unigram), which is to the eye
/// of the corrected loss the best estimate of the softmax. Source: Jean et al. 2015, On Using Very
/// Large Target Vocabulary; the correction for distinct ids is that of TensorFlow's
/// sampled_softmax_loss, 1 - (1 - p)^draws.
class NegativeSampler {
 public:
  NegativeSampler() = default;
  /// An id of count 0 is never drawn. Throws Error(argument) when `count` is under 1, or above half
  /// of the ids that occur: the last distinct ones would take more draws than scoring them all
  /// costs.
  ///   counts  [V]  in
  ///   count        in   K
  NegativeSampler(const std::vector<std::int64_t>& counts, std::int64_t count);

  /// A pure function of seed and step.
  void draw(std::uint64_t seed, std::int64_t step, Negatives& negatives) const;

  /// Log of an id's share of the draws; of an id that is never drawn, that of the rarest one.
  float log_share(Id id) const;

  /// Log of how often `id` is expected among so many draws, by the share of log_share().
  float log_expected(Id id, double draws) const;

 private:
  double share(Id id) const;  // not below the rarest

  std::int64_t count_ = 0;
  std::vector<double> sums_;  // [V] shares up to and with each id; the last is 1
  double rarest_ = 1;
};

}  // namespace lexirow::loss
