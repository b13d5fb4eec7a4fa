#pragma once

#include <cstddef>
#include <string_view>

#include "text/utf8.h"

namespace lexirow::text {

/// Moves ends of tokens out to those of the characters that they cut.
class CharacterSpans {
 public:
  explicit CharacterSpans(std::string_view text) : text_(text) {}

  /// The first byte of the character that byte `at` belongs to.
  std::size_t floor(std::size_t at) const {
    std::size_t begin = at;
    while (begin > 0 && at - begin < 3 && is_tail(begin)) --begin;
    return begin == at || holds(begin, at) ? begin : at;
  }
  /// The end of the character that is cut at `end`.
  std::size_t ceiling(std::size_t end) const {
    if (end == text_.size() || !is_tail(end)) return end;
    const std::size_t begin = floor(end);
    return begin == end ? end : begin + utf8_step(text_, begin).length;
  }

 private:
  bool is_tail(std::size_t at) const {
    return (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80;
  }
  bool holds(std::size_t begin, std::size_t at) const {
    const Utf8Step step = utf8_step(text_, begin);
    return !step.bad && begin + step.length > at;
  }

  std::string_view text_;
};

}  // namespace lexirow::text
