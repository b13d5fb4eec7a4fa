#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace lexirow::text {

/// Stands for what is not UTF-8.
inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr char32_t kCodePoints = 0x110000;

/// One step through a text.
struct Utf8Step {
  char32_t code = 0;       ///< kReplacement when bad
  std::size_t length = 0;  ///< bytes, at least 1
  bool bad = false;        ///< a maximal bad subsequence (Unicode 15, section 3.9, table 3-8)
  bool cut = false;        ///< bad only because the text ended: more bytes could complete it
};

/// The step for a first byte of 0x80 or above.
Utf8Step long_utf8_step(std::string_view text, std::size_t at);

/// The code point at byte `at`, which must be inside `text` and the end of the step before.
inline Utf8Step utf8_step(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1, false, false};
  return long_utf8_step(text, at);
}

/// Appends a code point below kCodePoints.
void append_utf8(std::string& text, char32_t code);
std::string utf8_of(char32_t code);

/// The one code point that `text` is, or kCodePoints.
char32_t single_code_point(std::string_view text);

/// The length of `text` without an unfinished sequence at its end.
std::size_t finished_utf8(std::string_view text);

/// `text` with every maximal bad subsequence as U+FFFD; `replaced` grows by their number.
std::string repair_utf8(std::string_view text, std::int64_t& replaced);

/// Moves a place over a text.
void advance_place(TextPlace& place, std::string_view text);
/// The place of byte `at` of a text that begins at `start`.
TextPlace place_in(std::string_view text, std::size_t at, const TextPlace& start);

/// Throws Error(file): the bytes at `at` are not UTF-8, with line, column and byte.
[[noreturn]] void refuse_bytes(std::string_view text, std::size_t at, const TextPlace& start);
/// The same for the first bytes that are not UTF-8, if any are.
void require_utf8(std::string_view text, const TextPlace& start);

}  // namespace lexirow::text
