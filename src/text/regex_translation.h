#pragma once

#include <string>
#include <string_view>

namespace lexirow::text {

/// A regular expression in the syntax of Hugging Face's files (Oniguruma's Ruby syntax on Unicode
/// 16) as one for PCRE2 that finds the same. White space, digits and word characters are Unicode's;
/// \h is a hexadecimal digit and \v the vertical tab; (?m) lets the dot match line ends; a repeat
/// count followed by + repeats the repetition; properties know what Unicode 15 and 16 added.
/// Throws Error(argument) naming what has no such form: set operations and sets within sets, the
/// absence operator, negated classes within brackets.
std::string pcre2_pattern(std::string_view pattern);

}  // namespace lexirow::text
