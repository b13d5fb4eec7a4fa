#pragma once

#include <cstddef>
#include <string_view>

#include "text/tokenizer.h"

namespace lexirow::text {

/// GPT-2's rule of cutting text into pre-tokens, by hand:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Every byte belongs to a piece; a maximal subsequence that is not UTF-8 counts as one character
/// that is neither letter nor number nor space.
inline constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Where the piece that begins at `at` ends; `at` is inside the text and the end of the piece
/// before.
std::size_t gpt2_piece_end(std::string_view text, std::size_t at);

/// Calls emit(begin, end) for every piece of `text`.
template <typename Emit>
void for_each_gpt2_piece(std::string_view text, Emit&& emit) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = gpt2_piece_end(text, begin);
    emit(begin, end);
    begin = end;
  }
}

/// The last place where the patterns of GPT-2's family begin a piece whatever stands further behind
/// and further before: a blank behind a character that is no white space, or a letter behind a
/// single line end behind such a character. See Tokenizer::safe_cut.
SafeCut spaced_cut(std::string_view text, std::size_t scanned);

}  // namespace lexirow::text
