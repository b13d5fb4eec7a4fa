#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/traced_text.h"

namespace lexirow::text {

/// Unicode's normalization forms.
enum class UnicodeForm { nfd, nfc, nfkd, nfkc };

/// Brings a piece (valid UTF-8) into a form. Characters get the origins that Hugging Face's
/// tokenizers give them: the first of a decomposition that of its character, the others are added
/// ones; a composition takes over that of its first part.
void write_form(UnicodeForm form, std::string_view piece, TracedText::Rewriter& rewriter);

/// Characters of a piece as a step of normalization sees them: `change` 0 is put for the next
/// character that was read, 1 is added, -n is put for one and drops the n behind it.
struct ChangedCharacter {
  char32_t code;
  std::int32_t change;
  std::uint8_t combining_class;
};

/// The lower case of a character: 1 or 2 code points, the second 0 when there is one.
struct LowerCase {
  char32_t first;
  char32_t second;
};
LowerCase lower_case(char32_t code);

}  // namespace lexirow::text
