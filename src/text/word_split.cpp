#include "text/word_split.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/code_class.h"

namespace lexirow::text {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Hugging Face's table of punctuation is that of Unicode 8. These came later (as utf8proc of
// Unicode 15 has them), and so are letters of a word there. Found by asking tokenizers 0.23 for
// each code point.
constexpr Range kLaterPunctuation[] = {
    {0x61D, 0x61D},     {0x9FD, 0x9FD},     {0xA76, 0xA76},     {0xC77, 0xC77},
    {0xC84, 0xC84},     {0x1B7D, 0x1B7E},   {0x2E43, 0x2E4F},   {0x2E52, 0x2E5D},
    {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59}, {0x10F86, 0x10F89}, {0x1144B, 0x1144F},
    {0x1145A, 0x1145B}, {0x1145D, 0x1145D}, {0x11660, 0x1166C}, {0x116B9, 0x116B9},
    {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2}, {0x11A3F, 0x11A46},
    {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11B00, 0x11B09}, {0x11C41, 0x11C45},
    {0x11C70, 0x11C71}, {0x11EF7, 0x11EF8}, {0x11F43, 0x11F4F}, {0x11FFF, 0x11FFF},
    {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A}, {0x16FE2, 0x16FE2}, {0x1E95E, 0x1E95F}};

bool is_punctuation(char32_t code) {
  if (code == 0x166D || code == 0x111C9) return true;  // were punctuation in Unicode 8
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  if (category < UTF8PROC_CATEGORY_PC || category > UTF8PROC_CATEGORY_PO) return false;
  return std::none_of(std::begin(kLaterPunctuation), std::end(kLaterPunctuation),
                      [code](Range range) { return code >= range.first && code <= range.last; });
}

bool is_ascii_punctuation(char32_t code) {
  return (code >= 0x21 && code <= 0x2F) || (code >= 0x3A && code <= 0x40) ||
         (code >= 0x5B && code <= 0x60) || (code >= 0x7B && code <= 0x7E);
}

}  // namespace

CharClass char_class(char32_t code) {
  if (is_white_space(code)) return CharClass::space;
  const bool mark = code < 0x80 ? is_ascii_punctuation(code) : is_punctuation(code);
  return mark ? CharClass::punctuation : CharClass::word;
}

const std::array<CharClass, 128>& ascii_classes() {
  static const std::array<CharClass, 128> table = [] {
    std::array<CharClass, 128> classes{};
    for (char32_t code = 0; code < 128; ++code) classes[code] = char_class(code);
    return classes;
  }();
  return table;
}

SafeCut word_cut(std::string_view text, std::size_t scanned, WordSplit split) {
  // ASCII white space is a character of its own in any text, so the search may run backwards.
  for (std::size_t at = text.size(); at > scanned; --at) {
    const auto byte = static_cast<unsigned char>(text[at - 1]);
    if (byte < 0x80 && ascii_classes()[byte] == CharClass::space) return {at, at};
  }
  // A text without spaces: forwards, each character once.
  const std::size_t finished = std::max(scanned, finished_utf8(text));
  std::size_t end = 0;
  for (std::size_t at = scanned; at < finished;) {
    const Utf8Step step = utf8_step(text, at);
    const CharClass kind = step.bad ? CharClass::word : char_class(step.code);
    at += step.length;
    if (kind == CharClass::space ||
        (kind == CharClass::punctuation && split == WordSplit::unicode)) {
      end = at;
    }
  }
  return {end, finished};
}

}  // namespace lexirow::text
