#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lexirow::text {

/// What a code point is, as a set of bits: Unicode's general categories (15.0) and White_Space.
struct CodeClass {
  static constexpr std::uint8_t letter = 1;        ///< L
  static constexpr std::uint8_t number = 2;        ///< N
  static constexpr std::uint8_t space = 4;         ///< White_Space
  static constexpr std::uint8_t mark = 8;          ///< M
  static constexpr std::uint8_t upper = 16;        ///< Lu, Lt
  static constexpr std::uint8_t lower = 32;        ///< Ll
  static constexpr std::uint8_t punctuation = 64;  ///< P
  static constexpr std::uint8_t digit = 128;       ///< Nd
};

/// The classes of all code points: pages of 256, equal ones held once.
class CodeClassTable {
 public:
  /// Made at the first use.
  static const CodeClassTable& get();

  std::uint8_t of(char32_t code) const { return pages_[page_of_[code >> 8]][code & 0xFF]; }
  /// The classes of the ASCII characters, by byte.
  const std::array<std::uint8_t, 256>& ascii() const { return pages_[page_of_[0]]; }

 private:
  using Page = std::array<std::uint8_t, 256>;
  CodeClassTable();

  std::array<std::uint16_t, 0x1100> page_of_;
  std::vector<Page> pages_;
};

/// Unicode's White_Space.
bool is_white_space(char32_t code);

}  // namespace lexirow::text
