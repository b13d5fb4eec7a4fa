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

/// Numbers that came with Unicode 17: Hugging Face's step Digits knows them, expressions do not.
bool is_later_number(char32_t code);

// Some steps of Hugging Face's tokenizers go by older versions of Unicode. What they do not know:

/// Marks that came after Unicode 9: they stay when accents are taken off, and their order is left.
bool is_later_mark(char32_t code);
/// Nonspacing marks and format characters that came after Unicode 8: BERT's cleaning keeps them.
bool is_later_nonspacing(char32_t code);
/// Decompositions that came after Unicode 9: these characters stay as they are.
bool is_later_decomposition(char32_t code);

}  // namespace lexirow::text
