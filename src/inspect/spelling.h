#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace lexirow::inspect {

/// Changes (one code point put in, left out or replaced) that turn one spelling into the other;
/// more than `limit` is told as limit + 1. Source: Levenshtein, 1966.
std::size_t edit_distance(const std::u32string& a, const std::u32string& b, std::size_t limit);

/// Known tokens spelt most like `token`, the closest first: by edit distance on code points, case
/// ignored first, ties by id. Tokens that share too little (more than half of the longer spelling
/// would have to change) are not listed, nor are special tokens.
std::vector<std::string> close_spellings(const text::Tokenizer& tokenizer, std::string_view token,
                                         std::size_t count);

/// The same for tokens of any kind; `token_of(id)` is one's spelling. An empty one is not listed.
std::vector<std::string> close_spellings(std::int64_t tokens,
                                         const std::function<std::string(Id)>& token_of,
                                         std::string_view token, std::size_t count);

}  // namespace lexirow::inspect
