#include "text/byte_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/byte_letters.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace lexirow::text {

void ByteTokenizer::check_strict(std::string_view text, const EncodeRules& rules) const {
  if (rules.strict) require_utf8(text, rules.start);
}

void ByteTokenizer::plain_pieces(std::string_view text, const EncodeRules& rules,
                                 std::vector<Piece>& pieces, EncodeCounts& counts) const {
  check_strict(text, rules);
  counts.special_spellings += count_spellings(specials(), text);
  for (std::size_t at = 0; at < text.size();) {
    Utf8Step step = utf8_step(text, at);
    if (step.bad) step.length = 1;
    const auto begin = static_cast<std::int64_t>(at);
    const auto end = static_cast<std::int64_t>(at + step.length);
    for (std::size_t i = 0; i < step.length; ++i) {
      pieces.push_back({static_cast<unsigned char>(text[at + i]), begin, end});
    }
    at += step.length;
  }
}

void ByteTokenizer::plain_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                              EncodeCounts& counts) const {
  check_strict(text, rules);
  counts.special_spellings += count_spellings(specials(), text);
  const std::size_t before = ids.size();
  ids.resize(before + text.size());
  std::transform(text.begin(), text.end(), ids.begin() + static_cast<std::ptrdiff_t>(before),
                 [](char byte) { return static_cast<Id>(static_cast<unsigned char>(byte)); });
}

void ByteTokenizer::append_ordinary(Id id, std::string& text) const {
  text.push_back(static_cast<char>(id));
}

std::optional<Id> ByteTokenizer::find(std::string_view token) const {
  if (token.size() == 1) return static_cast<unsigned char>(token[0]);
  return find_special(specials(), token);
}

SafeCut ByteTokenizer::safe_cut(std::string_view text, std::size_t) const {
  // A character is kept whole for strict, which judges characters.
  const std::size_t finished = finished_utf8(text);
  return cut_before_spelling(text, {finished, finished});
}

nlohmann::ordered_json ByteTokenizer::to_json() const {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < kBytes; ++byte) {
    tokens.push_back(utf8_of(byte_letter(static_cast<unsigned char>(byte))));
  }
  return tokenizer_json(byte_pre_tokenizer(), byte_level(true, false), tokens, specials());
}

}  // namespace lexirow::text
