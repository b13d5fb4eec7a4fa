#include "text/code_class.h"

#include <utf8proc.h>

#include <algorithm>
#include <map>
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

CodeClassTable::CodeClassTable() {
  std::vector<std::uint8_t> classes(kCodePoints);
  for (char32_t code = 0; code < kCodePoints; ++code) classes[code] = class_of(code);
  for (const CodeRange& range : unicode_additions()) {
    std::fill(classes.begin() + range.first, classes.begin() + range.last + 1,
              bits_of(range.category));
  }
  std::map<Page, std::uint16_t> known;
  for (std::size_t number = 0; number < page_of_.size(); ++number) {
    Page page;
    std::copy_n(classes.begin() + static_cast<std::ptrdiff_t>(number << 8), page.size(),
                page.begin());
    const auto [found, fresh] = known.try_emplace(page, static_cast<std::uint16_t>(pages_.size()));
    if (fresh) pages_.push_back(page);
    page_of_[number] = found->second;
  }
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
