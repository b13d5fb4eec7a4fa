#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace lexirow::generate {

/// How the next id is drawn.
struct ChoiceOptions {
  double temperature = 1;  ///< 0: the arg-max, ties to the lowest id
  std::int64_t top_k =
      0;             ///< 0: off; else only the k best (ties by id); above V it changes nothing
  double top_p = 1;  ///< 1: off; else the smallest set of best ids with that much probability
};

/// Throws Error(argument): temperature below 0 or not finite, top_k below 0, top_p outside (0, 1].
void validate(const ChoiceOptions& options);

/// Draws an id: top_k cuts first, then top_p of what is left at the temperature, then one draw.
/// Greedy choice takes nothing from `random`. The softmax is in double and stable for scores of any
/// size.
///   logits   [V]  in
///   allowed  [V]  in   false: never drawn (pad, rows beyond the tokenizer); empty: all may be
///   drawn
/// Throws Error(numeric) when the score of an allowed id is NaN or +infinity, or when every allowed
/// id has probability 0; Error(argument) as validate(); Error(shape) for sizes that differ.
Id choose(std::span<const float> logits, const std::vector<bool>& allowed,
          const ChoiceOptions& options, base::SplitMix& random);

}  // namespace lexirow::generate
