#pragma once

#include <string>

#include "text/parity.h"

namespace lexirow::cli {

/// `tokenize --roundtrip`: decodes what was encoded and compares; prints the verdict, with the
/// place of the first difference and the bytes around it. Returns the exit code, 1 when something
/// was lost.
int prove_round_trip(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                     const std::string& text, bool as_json);

/// A tokenizer that is compared, and how the user called it.
struct NamedContestant {
  text::Contestant contestant;
  std::string name;
};

/// `tokenize --parity`: prints the first place that the two encode differently, with the ids of
/// both around it. Returns the exit code, 1 when there is one.
int compare_tokenizers(const NamedContestant& first, const NamedContestant& second,
                       const std::string& text, bool as_json);

}  // namespace lexirow::cli
