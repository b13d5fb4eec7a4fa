#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "base/types.h"
#include "generate/choose.h"
#include "model/config.h"
#include "model/parameters.h"
#include "text/tokenizer.h"

namespace lexirow::generate {

struct GenerateOptions {
  std::int64_t tokens = 100;  ///< new tokens at most
  ChoiceOptions choice;
  std::int64_t context = 0;  ///< tokens that may be looked back on; 0: as far as the mixer looks
  bool stop_at_eos = false;  ///< end when <eos> is drawn; it is not among the ids then
  std::uint64_t seed = 1;
};

struct GenerateResult {
  std::vector<Id> ids;           ///< the new tokens only
  double tokens_per_second = 0;  ///< new tokens over the time they took; 0 for none
  /// Tokens at the start of the prompt that were not read because of `context`.
  std::int64_t dropped_prompt_tokens = 0;
  /// Tokens that were read, but that the mixer cannot see any more when it scores the first new
  /// one.
  std::int64_t unseen_prompt_tokens = 0;
  bool stopped_at_eos = false;
};

/// Which rows may be drawn: those of the tokenizer but <pad>, <bos> and <unk>. The first two never
/// follow a token; <unk> stands for what has no token, and a user wants text. Rows beyond the
/// tokenizer have no spelling. <eos> may be drawn.
///   returns [V]
std::vector<bool> allowed_ids(const model::ModelConfig& config, const text::Tokenizer& tokenizer);

/// Continues a prompt, which may be empty. `on_token` (may be empty) gets each new id as soon as it
/// is drawn. One seed gives one text. Throws Error(argument) for options out of range and for a
/// mixer that reads the future, Error(index) for a prompt id without a row, Error(numeric) as
/// choose().
GenerateResult generate(base::ThreadPool& pool, const model::ModelConfig& config,
                        const model::Parameters<float>& parameters,
                        const text::Tokenizer& tokenizer, std::span<const Id> prompt,
                        const GenerateOptions& options, const std::function<void(Id)>& on_token);

}  // namespace lexirow::generate
