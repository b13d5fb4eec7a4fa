#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/tokenizer.h"

namespace lexirow::text {

/// GPT-2's rule of cutting text into pre-tokens, by hand:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Every byte belongs to a piece; a maximal subsequence that is not UTF-8 counts as one character
/// that is neither letter nor number nor space.
inline constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Finds the pieces of one text, from its beginning on.
class Gpt2Pieces {
 public:
  explicit Gpt2Pieces(std::string_view text) : text_(text), kinds_(byte_kinds()) {}

  /// Bytes that starts_from() looks at.
  static constexpr std::size_t kBlock = 64;

  /// Where pieces begin among the kBlock bytes from `at`, where one does: bit i stands for at + i.
  /// Beginnings that bytes behind the block could change are left out, and so are those behind the
  /// first byte that is not ASCII. The block must be inside the text. Computed for all bytes at
  /// once: a processor guesses the lengths of words wrong, and each wrong guess costs as much as
  /// looking up a word.
  std::uint64_t starts_from(std::size_t at) const;

  /// Where the piece that begins at `at` ends; `at` is inside the text and the end of the piece
  /// before.
  std::size_t end_of(std::size_t at) const {
    // Words and runs of marks in ASCII, with a blank before them or not, are most of any text.
    const auto first = static_cast<unsigned char>(text_[at]);
    std::size_t end = at + 1;
    std::uint8_t kind = kinds_[first];
    if (first == ' ' && end < text_.size()) {
      kind = kinds_[static_cast<unsigned char>(text_[end])];
      ++end;
    }
    if (kind == kClosely || kind == kSpace || first == '\'') return end_closely(at);
    while (end < text_.size() && kinds_[static_cast<unsigned char>(text_[end])] == kind) ++end;
    if (end < text_.size() && static_cast<unsigned char>(text_[end]) >= 0x80)
      return end_closely(at);
    return end;
  }

 private:
  using Kinds = std::array<std::uint8_t, 256>;
  static constexpr std::uint8_t kClosely = 0;  // not ASCII
  static constexpr std::uint8_t kSpace = 1;
  static const Kinds& byte_kinds();
  std::size_t end_closely(std::size_t at) const;

  std::string_view text_;
  const Kinds& kinds_;
};

/// Calls emit(begin, end) for every piece of `text`.
template <typename Emit>
void for_each_gpt2_piece(std::string_view text, Emit&& emit) {
  const Gpt2Pieces pieces(text);
  const auto ascii = [text](std::size_t at) { return static_cast<unsigned char>(text[at]) < 0x80; };
  for (std::size_t begin = 0; begin < text.size();) {
    std::uint64_t starts = 0;
    if (begin + Gpt2Pieces::kBlock <= text.size() && ascii(begin) && ascii(begin + 1)) {
      starts = pieces.starts_from(begin) & ~std::uint64_t{1};
    }
    if (starts == 0) {
      const std::size_t end = pieces.end_of(begin);
      emit(begin, end);
      begin = end;
      continue;
    }
    const std::size_t block = begin;
    for (; starts != 0; starts &= starts - 1) {
      const std::size_t end = block + static_cast<std::size_t>(std::countr_zero(starts));
      emit(begin, end);
      begin = end;
    }
  }
}

/// The last place before a blank that follows a character that is no white space; with `lines` also
/// one behind a single line end between such a character and a letter. There the patterns of
/// GPT-2's family begin a piece whatever stands further behind and further before. See
/// Tokenizer::safe_cut.
SafeCut spaced_cut(std::string_view text, std::size_t scanned, bool lines = true);

}  // namespace lexirow::text
