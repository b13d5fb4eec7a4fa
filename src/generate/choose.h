#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace lexirow::generate {

/// How the next id is drawn.
struct ChoiceOptions {
  double temperature = 1;   ///< 0: the arg-max, ties to the lowest id
  std::int64_t top_k = 0;   ///< 0: off; else only the k best (ties by id)
  double top_p = 1;         ///< 1: off; else the smallest set of best ids with that much probability
};

/// Throws Error(argument): temperature below 0 or not finite, top_k below 0, top_p outside (0, 1].
void validate(const ChoiceOptions& options);

/// Draws an id. `allowed[id]` false: never drawn (pad, rows beyond the tokenizer); may be empty.
/// Throws Error(numeric) when a score is NaN or none is allowed.
Id choose(std::span<const float> logits, const std::vector<bool>& allowed,
          const ChoiceOptions& options, base::SplitMix& random);

}  // namespace lexirow::generate
