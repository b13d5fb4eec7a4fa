#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

  /// Where the piece that begins at `at` ends; `at` is inside the text and the end of the piece
  /// before.
  std::size_t end_of(std::size_t at) const {
    // Words and runs of marks in ASCII, with a blank before them or not, are most of any text.
    const auto first = static_cast<unsigned char>(text_[at]);
    if (const std::size_t end = word_end(at + (first == ' ' ? 1 : 0))) return end;
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

  /// Where the ASCII letters from `begin` on end, eight at a time: that saves the branch a letter
  /// which processors guess wrong. 0 when there are none, or they cannot be seen so: the text ends
  /// soon or a letter that is not ASCII may follow.
  std::size_t word_end(std::size_t begin) const {
    if constexpr (std::endian::native != std::endian::little) return 0;
    constexpr std::uint64_t kOnes = 0x0101010101010101u;
    constexpr std::uint64_t kTops = 0x80 * kOnes;
    for (std::size_t at = begin; at + sizeof(std::uint64_t) <= text_.size();) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, text_.data() + at, sizeof(bytes));
      const std::uint64_t lower = (bytes | 0x20 * kOnes) & ~kTops;
      // The top bit of a byte: at least 'a', not above 'z', ASCII.
      const std::uint64_t letters =
          (lower + (0x80 - 'a') * kOnes) & ~(lower + (0x7F - 'z') * kOnes) & ~bytes & kTops;
      const auto count = static_cast<std::size_t>(std::countr_one(letters | ~kTops)) / 8;
      at += count;
      if (count == sizeof(bytes)) continue;
      const bool ascii = (bytes >> (8 * count) & 0x80) == 0;
      return ascii && at > begin ? at : 0;
    }
    return 0;
  }

  std::string_view text_;
  const Kinds& kinds_;
};

/// Calls emit(begin, end) for every piece of `text`.
template <typename Emit>
void for_each_gpt2_piece(std::string_view text, Emit&& emit) {
  const Gpt2Pieces pieces(text);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = pieces.end_of(begin);
    emit(begin, end);
    begin = end;
  }
}

/// The last place before a blank that follows a character that is no white space; with `lines` also
/// one behind a single line end between such a character and a letter. There the patterns of
/// GPT-2's family begin a piece whatever stands further behind and further before. See
/// Tokenizer::safe_cut.
SafeCut spaced_cut(std::string_view text, std::size_t scanned, bool lines = true);

}  // namespace lexirow::text
