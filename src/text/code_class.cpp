#include "text/code_class.h"

#include <utf8proc.h>

#include <map>

#include "text/utf8.h"

namespace lexirow::text {
namespace {

std::uint8_t class_of(char32_t code) {
  std::uint8_t space = is_white_space(code) ? CodeClass::space : 0;
  const auto with = [space](int bits) { return static_cast<std::uint8_t>(bits | space); };
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return with(CodeClass::letter | CodeClass::upper);
    case UTF8PROC_CATEGORY_LL:
      return with(CodeClass::letter | CodeClass::lower);
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return with(CodeClass::letter);
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return with(CodeClass::mark);
    case UTF8PROC_CATEGORY_ND:
      return with(CodeClass::number | CodeClass::digit);
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return with(CodeClass::number);
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return with(CodeClass::punctuation);
    default:
      return space;
  }
}

}  // namespace

bool is_white_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

CodeClassTable::CodeClassTable() {
  std::map<Page, std::uint16_t> known;
  for (std::size_t number = 0; number < page_of_.size(); ++number) {
    Page page;
    for (std::size_t low = 0; low < page.size(); ++low) {
      page[low] = class_of(static_cast<char32_t>((number << 8) | low));
    }
    const auto [found, fresh] = known.try_emplace(page, static_cast<std::uint16_t>(pages_.size()));
    if (fresh) pages_.push_back(page);
    page_of_[number] = found->second;
  }
}

const CodeClassTable& CodeClassTable::get() {
  static const CodeClassTable table;
  return table;
}

}  // namespace lexirow::text
