#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace lexirow::text {

/// The first line of a text that two tokenizers encode differently.
struct ParityDifference {
  std::int64_t line = 0;  ///< from 1
  std::string text;       ///< the line, its end included
  std::vector<Id> first;  ///< ids of the pieces that lie in the line
  std::vector<Id> second;
  std::string first_error;  ///< instead of ids, when the tokenizer refuses the text
  std::string second_error;
};

/// A tokenizer with the rules that it encodes by.
struct Contestant {
  const Tokenizer& tokenizer;
  EncodeRules rules = {};
};

/// Encodes the whole of `text` with both and looks for the first piece whose id or place differs;
/// nothing when there is none. Two that refuse the text for the same reason agree.
std::optional<ParityDifference> first_difference(const Contestant& first, const Contestant& second,
                                                 std::string_view text);

/// Where decode(encode(text)) first differs from the text.
struct RoundTripDifference {
  TextPlace place;
  std::string expected;  ///< bytes of the text from there on, a few
  std::string decoded;   ///< and of what came back
};
std::optional<RoundTripDifference> first_loss(const Tokenizer& tokenizer, const EncodeRules& rules,
                                              std::string_view text);

/// A text on which tokenizers go wrong: every ASCII character, contractions, white space of all
/// kinds, scripts, composed and decomposed letters, emoji, long runs, special spellings, bytes that
/// are not UTF-8.
std::string torture_text();

/// The bytes of a tokenizer.json for `tokenizer`, proved: read back they give a tokenizer that
/// encodes torture_text() and the text of all its tokens just so, with special tokens as text and
/// as tokens, and decodes every id just so. Throws Error(file) naming the first difference.
std::string proved_tokenizer_json(const Tokenizer& tokenizer);

}  // namespace lexirow::text
