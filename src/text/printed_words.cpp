#include "text/printed_words.h"

#include <utf8proc.h>

#include "text/utf8.h"

namespace lexirow::text {
namespace {

constexpr char32_t kLeftSingle = 0x2018, kRightSingle = 0x2019, kLeftDouble = 0x201C,
                   kRightDouble = 0x201D, kEllipsis = 0x2026, kEnDash = 0x2013, kEmDash = 0x2014;

bool is_digit(char32_t code) {
  return code >= '0' && code <= '9';
}

bool is_letter_or_number(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;  // L, M and N
}

/// Full-width and ideographic marks: their space is part of the glyph.
bool is_wide_mark(char32_t code) {
  return (code >= 0x3001 && code <= 0x3003) || (code >= 0x3008 && code <= 0x3011) ||
         (code >= 0x3014 && code <= 0x301B) || (code >= 0xFF01 && code <= 0xFF0F) ||
         (code >= 0xFF1A && code <= 0xFF20) || (code >= 0xFF3B && code <= 0xFF3D) ||
         (code >= 0xFF5B && code <= 0xFF65);
}

bool is_one_of(char32_t code, std::u32string_view set) {
  return set.find(code) != set.npos;
}

}  // namespace

void PrintedWords::add(std::string_view token) {
  if (token.empty()) return;
  const char32_t first = utf8_step(token, 0).code;
  const char32_t mark = single_code_point(token);
  const bool close_here = close_ || (close_digit_ && is_digit(first));
  const Sides sides = mark == kCodePoints ? Sides{} : sides_of(mark);
  if (!close_here && !sides.before) text_ += ' ';
  text_ += token;
  close_ = sides.after;
  close_digit_ = (mark == '.' || mark == ':') && is_digit(last_);
  for (std::size_t at = 0; at < token.size();) {
    const Utf8Step step = utf8_step(token, at);
    last_ = step.code;
    at += step.length;
  }
}

PrintedWords::Sides PrintedWords::sides_of(char32_t mark) {
  if (is_one_of(mark, U",.;:!?)]}%") || mark == kEllipsis) return {true, false};
  if (is_one_of(mark, U"([{$#")) return {false, true};
  if (is_wide_mark(mark) || mark == kEmDash) return {true, true};
  if (is_one_of(mark, U"-/_") || mark == kEnDash) {
    if (is_letter_or_number(last_)) return {true, true};
    if (mark == '-' && last_ == '-') return {true, close_};  // as the one before
    return {};
  }
  return quote_sides(mark);
}

PrintedWords::Sides PrintedWords::quote_sides(char32_t mark) {
  switch (mark) {
    case '"':
      quote_open_ = !quote_open_;
      return quote_open_ ? Sides{false, true} : Sides{true, false};
    case '\'':
      return {is_letter_or_number(last_), true};
    case kLeftSingle:
      single_open_ = true;
      return {false, true};
    case kLeftDouble:
      return {false, true};
    case kRightSingle: {
      const bool closes = single_open_ || !is_letter_or_number(last_);
      single_open_ = false;
      return {true, !closes};
    }
    case kRightDouble:
      return {true, false};
    default:
      return {};
  }
}

void PrintedWords::line_end() {
  if (last_ == '\n') quote_open_ = false;
  text_ += '\n';
  last_ = '\n';
  close_ = true;
  close_digit_ = false;
}

}  // namespace lexirow::text
