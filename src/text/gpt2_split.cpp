#include "text/gpt2_split.h"

#include "text/code_class.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

constexpr std::uint8_t kWordy = CodeClass::letter | CodeClass::number | CodeClass::space;

/// A character: which of the pattern's three classes (0: none of them), and its bytes.
struct Seen {
  std::uint8_t kind;
  std::size_t length;
};

Seen long_seen(std::string_view text, std::size_t at) {
  const Utf8Step step = long_utf8_step(text, at);
  const std::uint8_t kind = step.bad ? 0 : CodeClassTable::get().of(step.code) & kWordy;
  return {kind, step.length};
}

inline Seen seen(std::string_view text, std::size_t at,
                 const std::array<std::uint8_t, 256>& ascii) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {static_cast<std::uint8_t>(ascii[byte] & kWordy), 1};
  return long_seen(text, at);
}

/// The length of 's, 't, 're, 've, 'm, 'll or 'd at an apostrophe, or 0.
std::size_t contraction(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return 0;
  const char first = text[at + 1];
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (at + 2 >= text.size()) return 0;
  const char second = text[at + 2];
  const bool three =
      (first == 'l' && second == 'l') || ((first == 'r' || first == 'v') && second == 'e');
  return three ? 3 : 0;
}

/// The end of white space that begins at `at` with a character of `length` bytes: what something
/// follows keeps its last character out, unless it is the only one.
std::size_t space_end(std::string_view text, std::size_t at, std::size_t length,
                      const std::array<std::uint8_t, 256>& ascii) {
  std::size_t last = at;
  std::size_t end = at + length;
  while (end < text.size()) {
    const Seen next = seen(text, end, ascii);
    if (next.kind != CodeClass::space) return last > at ? last : end;
    last = end;
    end += next.length;
  }
  return end;
}

}  // namespace

std::size_t gpt2_piece_end(std::string_view text, std::size_t at) {
  const std::array<std::uint8_t, 256>& ascii = CodeClassTable::get().ascii();
  if (text[at] == '\'') {
    if (const std::size_t length = contraction(text, at)) return at + length;
  }
  Seen first = seen(text, at, ascii);
  std::size_t end = at + first.length;
  if (first.kind == CodeClass::space) {
    if (text[at] != ' ' || end == text.size()) return space_end(text, at, first.length, ascii);
    const Seen next = seen(text, end, ascii);
    if (next.kind == CodeClass::space) return space_end(text, at, first.length, ascii);
    first = next;
    end += next.length;
  }
  while (end < text.size()) {
    const Seen next = seen(text, end, ascii);
    if (next.kind != first.kind) break;
    end += next.length;
  }
  return end;
}

namespace {

/// True when the character that ends at `end` (above 0) is no white space.
bool ends_visibly(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    --begin;
  const Utf8Step step = utf8_step(text, begin);
  return step.bad || begin + step.length != end || !is_white_space(step.code);
}

bool is_letter_at(std::string_view text, std::size_t at) {
  const Utf8Step step = utf8_step(text, at);
  return !step.bad && (CodeClassTable::get().of(step.code) & CodeClass::letter) != 0;
}

}  // namespace

SafeCut spaced_cut(std::string_view text, std::size_t scanned) {
  // Backwards, so that a usual text is decided within a few bytes. What was looked at before is
  // looked at again as far as a cut needs to see.
  constexpr std::size_t kSeen = 8;
  const std::size_t first = scanned > kSeen ? scanned - kSeen : 0;
  for (std::size_t at = text.size(); at-- > first + 1;) {
    if (text[at] == ' ' && ends_visibly(text, at)) return {at, text.size()};
    if (text[at] == '\n' && at + 1 < text.size() && ends_visibly(text, at) &&
        is_letter_at(text, at + 1)) {
      return {at + 1, text.size()};
    }
  }
  return {0, text.size()};
}

}  // namespace lexirow::text
