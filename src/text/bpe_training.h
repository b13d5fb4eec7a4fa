#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/bpe_model.h"
#include "text/word_tokenizer.h"

namespace lexirow::text {

/// The tokens that a byte-level vocabulary begins with.
inline constexpr Id kByteTokens = 256;

/// The merges learned, in order, and the tokens they make.
struct LearnedBpe {
  /// Spellings by id in byte letters: the 256 bytes in the order of their
  /// letters, as in GPT-2's files, then one a merge, unless another merge made
  /// it before.
  std::vector<std::string> tokens;
  std::vector<BpeMerge> merges;
  bool exhausted = false;  ///< no pair was left before the size wanted was reached
};

/// Learns byte-pair merges from pre-tokens and how often each occurs, until
/// there are `vocab_size` tokens or no pair is left: every word is one token
/// then. Each step merges the pair that stands most often side by side; of
/// equal counts the one with the lowest left id, then the lowest right id. The
/// result depends on the words and counts alone. Time and memory are about
/// linear in the bytes of the distinct words: every place is touched when its
/// pair is merged, never looked for. Throws Error(argument) for a vocab_size
/// below 256, or 2^32 bytes of words or more; Stopped soon after `stop` was
/// set.
LearnedBpe learn_bpe(const WordMap<std::int64_t>& words, std::int64_t vocab_size,
                     const std::atomic<bool>* stop = nullptr);

}  // namespace lexirow::text
