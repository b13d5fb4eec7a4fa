#include <fmt/format.h>
#include <utf8proc.h>

#include <charconv>
#include <utility>

#include "text/tokenizer.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

/// Invisible when printed: controls, formats, and every space but the plain one.
bool is_hidden(char32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    case UTF8PROC_CATEGORY_ZS:
      return code != ' ';
    default:
      return false;
  }
}

std::string escaped(char32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto number = static_cast<std::uint32_t>(code);
  return number > 0xFFFF ? fmt::format("\\U{:08x}", number) : fmt::format("\\u{:04x}", number);
}

}  // namespace

std::string display_text(std::string_view bytes, bool visible) {
  std::int64_t replaced = 0;
  std::string text = repair_utf8(bytes, replaced);
  if (!visible) return text;
  if (text == " ") return "\xE2\x90\xA3";  // U+2423 OPEN BOX
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (is_hidden(step.code)) {
      shown += escaped(step.code);
    } else {
      shown.append(text, at, step.length);
    }
    at += step.length;
  }
  return shown;
}

bool display_loses(std::string_view bytes) {
  std::int64_t replaced = 0;
  repair_utf8(bytes, replaced);
  return replaced > 0;
}

namespace {

/// Takes an escape behind its backslash from the front of `rest`; false when it is none.
bool take_escape(std::string_view& rest, std::string& bytes) {
  if (rest.empty()) return false;
  const char letter = rest.front();
  rest.remove_prefix(1);
  constexpr std::pair<char, char> kShort[] = {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'\\', '\\'}};
  for (const auto& [name, byte] : kShort) {
    if (letter != name) continue;
    bytes.push_back(byte);
    return true;
  }
  const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  std::uint32_t number = 0;
  if (digits == 0 || rest.size() < digits) return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + digits, number, 16);
  if (error != std::errc() || end != rest.data() + digits) return false;
  const bool surrogate = number >= 0xD800 && number < 0xE000;
  if (number >= kCodePoints || surrogate) return false;
  rest.remove_prefix(digits);
  if (letter == 'x') {
    bytes.push_back(static_cast<char>(number));
  } else {
    append_utf8(bytes, number);
  }
  return true;
}

}  // namespace

std::optional<std::string> undisplayed(std::string_view spelling) {
  constexpr std::string_view kVisibleSpace = "\xE2\x90\xA3";
  std::string bytes;
  while (!spelling.empty()) {
    if (spelling.starts_with(kVisibleSpace)) {
      bytes.push_back(' ');
      spelling.remove_prefix(kVisibleSpace.size());
      continue;
    }
    const char first = spelling.front();
    spelling.remove_prefix(1);
    if (first != '\\') {
      bytes.push_back(first);
    } else if (!take_escape(spelling, bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

std::string hex_bytes(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace lexirow::text
