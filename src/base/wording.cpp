#include "base/wording.h"

#include <algorithm>
#include <cctype>

namespace lexirow::base {

std::string counted(std::int64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text += ' ';
  text += noun;
  if (count != 1) text += 's';
  return text;
}

std::string shown_name(std::string_view name) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = [&](std::size_t i) {
    return i < name.size() ? static_cast<unsigned char>(name[i]) : 0U;
  };
  std::string text;
  const auto escape = [&](const char* begin, unsigned code) {
    text += begin;
    text += kDigits[code >> 4 & 15U];
    text += kDigits[code & 15U];
  };
  for (std::size_t i = 0; i < name.size();) {
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    bool whole = first < 0x80 || (first >= 0xC2 && first <= 0xF4);
    for (std::size_t k = 1; k < length; ++k) whole = whole && (byte(i + k) & 0xC0U) == 0x80U;
    if (!whole) {
      escape("\\x", first);
      ++i;
      continue;
    }
    if (first < ' ' || first == 0x7F) {
      escape("\\u00", first);
    } else if (first == 0xC2 && byte(i + 1) < 0xA0) {
      escape("\\u00", byte(i + 1));
    } else {
      text += name.substr(i, length);
    }
    i += length;
  }
  return text;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "-_./+,@:=%";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace lexirow::base
