#pragma once

#include <string>

#include "text/parity.h"

namespace lexirow::cli {

/// `tokenize --roundtrip`: decodes what was encoded and compares; prints the verdict, with the
/// place of the first difference. Returns the exit code, 1 when something was lost.
int prove_round_trip(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                     const std::string& text, bool as_json);

/// `tokenize --parity`: prints the first line that the two encode differently with both lists of
/// ids. Returns the exit code, 1 when there is one.
int compare_tokenizers(const text::Contestant& first, const text::Contestant& second,
                       const std::string& text, bool as_json);

}  // namespace lexirow::cli
