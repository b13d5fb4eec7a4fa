#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string_view>

namespace lexirow::text {

/// What a code point is, as a set of bits: Unicode's general categories (16.0) and White_Space.
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

/// The classes of all code points: pages of 256, each made when it is first asked for, equal ones
/// held once. Safe for several threads.
class CodeClassTable {
 public:
  static const CodeClassTable& get();

  std::uint8_t of(char32_t code) const {
    const Page* page = pages_[code >> 8].load(std::memory_order_acquire);
    if (page == nullptr) page = &make_page(code >> 8);
    return (*page)[code & 0xFF];
  }
  /// The classes of the ASCII characters, by byte.
  const std::array<std::uint8_t, 256>& ascii() const { return ascii_; }

 private:
  using Page = std::array<std::uint8_t, 256>;
  CodeClassTable();
  const Page& make_page(char32_t number) const;

  mutable std::array<std::atomic<const Page*>, 0x1100> pages_{};  // of known_; null: not made yet
  mutable std::mutex mutex_;
  mutable std::set<Page> known_;
  const Page& ascii_;
};

/// Unicode's White_Space.
bool is_white_space(char32_t code);
/// Whether any character of the text is White_Space.
bool holds_white_space(std::string_view text);

/// A word character as Rust's regular expressions have it: alphabetic, mark, decimal digit,
/// connector or joiner.
bool is_word_character(char32_t code);

}  // namespace lexirow::text
