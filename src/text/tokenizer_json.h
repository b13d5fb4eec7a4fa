#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/added_tokens.h"
#include "text/model_lists.h"
#include "text/special_tokens.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// As tokenizer_from_json(), from a file whose lists were lifted out. Null where anything is wrong
/// in it, or where its stamp needs the whole file: tokenizer_from_json() then says what.
std::unique_ptr<Tokenizer> tokenizer_from_lifted(LiftedFile file, const std::string& where);

/// A whole tokenizer.json with a WordLevel model over `tokens` (their ids in order) and `specials`.
nlohmann::ordered_json tokenizer_json(const nlohmann::ordered_json& pre_tokenizer,
                                      const nlohmann::ordered_json& decoder,
                                      const std::vector<std::string>& tokens,
                                      const SpecialTokens& specials);

/// A tokenizer.json without pre-tokenizer, decoder and model: every other part is there and null,
/// and the added tokens stand in it.
nlohmann::ordered_json frame_json(const std::vector<AddedToken>& added);

/// Every character by itself.
nlohmann::ordered_json char_pre_tokenizer();
/// Byte letters, every one by itself.
nlohmann::ordered_json byte_pre_tokenizer();
nlohmann::ordered_json word_pre_tokenizer(WordSplit split);
/// ByteLevel without prefix space; a decoder has trim_offsets set.
nlohmann::ordered_json byte_level(bool trim_offsets, bool use_regex);

}  // namespace lexirow::text
