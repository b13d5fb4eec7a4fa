#include "text/byte_letters.h"

#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace lexirow::text {
namespace {

constexpr char32_t kLetters = 0x144;  // one more than the highest letter

bool is_printable_latin(char32_t code) {
  return (code >= '!' && code <= '~') || (code >= 0xA1 && code <= 0xAC) ||
         (code >= 0xAE && code <= 0xFF);
}

struct Letters {
  Letters() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (char32_t code = 0; code < 256; ++code) {
      letters[code] = is_printable_latin(code) ? code : next++;
      bytes[letters[code]] = static_cast<int>(code);
    }
  }
  std::array<char32_t, 256> letters;
  std::array<int, kLetters> bytes;
};

const Letters& table() {
  static const Letters letters;
  return letters;
}

}  // namespace

char32_t byte_letter(unsigned char byte) {
  return table().letters[byte];
}

int letter_byte(char32_t letter) {
  return letter < kLetters ? table().bytes[letter] : -1;
}

std::string to_byte_letters(std::string_view bytes) {
  std::string letters;
  letters.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) append_utf8(letters, byte_letter(static_cast<unsigned char>(byte)));
  return letters;
}

bool append_from_byte_letters(std::string_view letters, std::string& bytes) {
  const Letters& known = table();
  const std::size_t before = bytes.size();
  for (std::size_t at = 0; at < letters.size(); ++at) {
    // All letters have one byte or two in UTF-8.
    std::uint32_t code = static_cast<unsigned char>(letters[at]);
    if (code >= 0x80) {
      const bool two = (code & 0xE0) == 0xC0 && at + 1 < letters.size();
      const std::uint32_t tail = two ? static_cast<unsigned char>(letters[++at]) : 0;
      code = (tail & 0xC0) == 0x80 ? (code & 0x1F) << 6 | (tail & 0x3F) : kLetters;
      if (code < 0x80) code = kLetters;  // not the shortest form
    }
    const int byte = code < kLetters ? known.bytes[code] : -1;
    if (byte < 0) {
      bytes.resize(before);
      return false;
    }
    bytes.push_back(static_cast<char>(byte));
  }
  return true;
}

std::optional<std::string> from_byte_letters(std::string_view letters) {
  std::string bytes;
  if (!append_from_byte_letters(letters, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace lexirow::text
