#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/tokenizer.h"
#include "text/utf8.h"

namespace lexirow::text {

enum class CharClass : std::uint8_t { word, space, punctuation };

/// The class of any code point, as Hugging Face's BertPreTokenizer sees it: white space is
/// Unicode's White_Space, punctuation is ASCII's and general category P as of Unicode 8.
CharClass char_class(char32_t code);

/// The same for ASCII, by table.
const std::array<CharClass, 128>& ascii_classes();

/// Calls emit(begin, end, bad) for every word of `text`; `bad` when it holds bytes that are not
/// UTF-8 (these stand for U+FFFD, part of a word). White space separates words; with
/// WordSplit::unicode every punctuation character is a word of its own.
template <typename Emit>
void for_each_word(std::string_view text, WordSplit split, Emit&& emit) {
  const std::array<CharClass, 128>& ascii = ascii_classes();
  const bool isolate = split == WordSplit::unicode;
  std::size_t begin = 0;
  bool bad = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    std::size_t length = 1;
    CharClass kind = CharClass::word;
    if (byte < 0x80) {
      kind = ascii[byte];
    } else {
      const Utf8Step step = long_utf8_step(text, at);
      length = step.length;
      bad = bad || step.bad;
      if (!step.bad) kind = char_class(step.code);
    }
    if (kind == CharClass::space || (isolate && kind == CharClass::punctuation)) {
      if (at > begin) emit(begin, at, bad);
      if (kind == CharClass::punctuation) emit(at, at + length, false);
      begin = at + length;
      bad = false;
    }
    at += length;
  }
  if (text.size() > begin) emit(begin, text.size(), bad);
}

/// The last place where a word has ended for certain; see Tokenizer::safe_cut.
SafeCut word_cut(std::string_view text, std::size_t scanned, WordSplit split);

}  // namespace lexirow::text
