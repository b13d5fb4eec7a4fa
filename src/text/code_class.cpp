#include "text/code_class.h"

#include <utf8proc.h>

#include <algorithm>
#include <string_view>

#include "text/unicode_additions.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

/// The bits of a general category such as "Lu".
std::uint8_t bits_of(std::string_view category) {
  switch (category[0]) {
    case 'L':
      if (category[1] == 'u' || category[1] == 't') return CodeClass::letter | CodeClass::upper;
      return category[1] == 'l' ? CodeClass::letter | CodeClass::lower : CodeClass::letter;
    case 'N':
      return category[1] == 'd' ? CodeClass::number | CodeClass::digit : CodeClass::number;
    case 'M':
      return CodeClass::mark;
    case 'P':
      return CodeClass::punctuation;
    default:
      return 0;
  }
}

std::uint8_t class_of(char32_t code) {
  const int space = is_white_space(code) ? CodeClass::space : 0;
  const char* category = utf8proc_category_string(static_cast<utf8proc_int32_t>(code));
  return static_cast<std::uint8_t>(bits_of(category) | space);
}

}  // namespace

bool is_white_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

bool holds_white_space(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (is_white_space(step.code)) return true;
    at += step.length;
  }
  return false;
}

CodeClassTable::CodeClassTable() : ascii_(make_page(0)) {}

const CodeClassTable::Page& CodeClassTable::make_page(char32_t number) const {
  const char32_t first = number << 8;
  Page page;
  for (char32_t i = 0; i < page.size(); ++i) page[i] = class_of(first + i);
  for (const CodeRange& range : unicode_additions()) {
    const char32_t begin = std::max(range.first, first);
    const char32_t end = std::min<char32_t>(range.last + 1, first + page.size());
    for (char32_t code = begin; code < end; ++code) page[code - first] = bits_of(range.category);
  }
  const std::lock_guard lock(mutex_);
  const Page& held = *known_.insert(page).first;
  pages_[number].store(&held, std::memory_order_release);
  return held;
}

bool is_word_character(char32_t code) {
  constexpr std::uint8_t kWord = CodeClass::letter | CodeClass::mark | CodeClass::digit;
  const std::uint8_t kind = CodeClassTable::get().of(code);
  if ((kind & kWord) != 0) return true;
  if (code < 0x80) return code == '_';
  if (code == 0x200C || code == 0x200D) return true;
  const bool alphabetic_symbol =
      (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
      (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return alphabetic_symbol || category == UTF8PROC_CATEGORY_PC || category == UTF8PROC_CATEGORY_NL;
}

const CodeClassTable& CodeClassTable::get() {
  static const CodeClassTable table;
  return table;
}

}  // namespace lexirow::text
