#pragma once

#include <span>

namespace lexirow::text {

/// Code points of one general category, last included.
struct CodeRange {
  char32_t first;
  char32_t last;
  char category[3];  ///< such as "Lu"
};

/// What Unicode 15.0, 15.1 and 16.0 added. The libraries here know Unicode 14 (PCRE2) and 15
/// (utf8proc) in Debian 12, the tokenizers that text must be cut like know 16.
std::span<const CodeRange> unicode_additions();

}  // namespace lexirow::text
