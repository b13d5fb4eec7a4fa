#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace lexirow::text {

/// What one of two tokenizers makes of a place where they part.
struct ParitySide {
  std::vector<Piece> pieces;  ///< a few before and behind the place, places in the whole text
  std::string error;          ///< instead of pieces, when the tokenizer refuses the text
};

/// The first place where two tokenizers encode a text differently.
struct ParityDifference {
  TextPlace place;         ///< where the first piece that differs begins
  std::string excerpt;     ///< whole characters around it, a few dozen bytes of its line
  bool cut_front = false;  ///< the line has more before the excerpt
  bool cut_back = false;   ///< and behind it
  ParitySide first;
  ParitySide second;
  /// The same ids in the excerpt, but other places.
  bool ids_equal() const;
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

/// Where decode(encode(text)) first differs from the text. Both excerpts begin at the same byte, a
/// few before that of `place`.
struct RoundTripDifference {
  TextPlace place;
  std::size_t before = 0;  ///< bytes of the excerpts that are equal
  std::string expected;    ///< bytes of the text, a few
  std::string decoded;     ///< and of what came back
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
