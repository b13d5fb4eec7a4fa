#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/special_tokens.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// A whole tokenizer.json with a WordLevel model over `tokens` (their ids in order) and `specials`.
nlohmann::ordered_json tokenizer_json(const nlohmann::ordered_json& pre_tokenizer,
                                      const nlohmann::ordered_json& decoder,
                                      const std::vector<std::string>& tokens,
                                      const SpecialTokens& specials);

/// Every character by itself.
nlohmann::ordered_json char_pre_tokenizer();
/// Byte letters, every one by itself.
nlohmann::ordered_json byte_pre_tokenizer();
nlohmann::ordered_json word_pre_tokenizer(WordSplit split);
/// ByteLevel without prefix space and expression; the decoder has trim_offsets set.
nlohmann::ordered_json byte_level(bool trim_offsets);

}  // namespace lexirow::text
