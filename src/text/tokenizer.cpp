#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lexirow/error.h"

namespace lexirow::text {

EncodeCounts& EncodeCounts::operator+=(const EncodeCounts& other) {
  unknown += other.unknown;
  replaced += other.replaced;
  special_spellings += other.special_spellings;
  left_out += other.left_out;
  unk_words += other.unk_words;
  special_unknown += other.special_unknown;
  return *this;
}

void Tokenizer::encode(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                       EncodeCounts& counts) const {
  encode_ids(text, rules, ids, counts);
}

std::vector<Id> Tokenizer::encode(std::string_view text) const {
  std::vector<Id> ids;
  EncodeCounts counts;
  encode_ids(text, {}, ids, counts);
  return ids;
}

void Tokenizer::encode_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                           EncodeCounts& counts) const {
  std::vector<Piece> pieces;
  encode_pieces(text, rules, pieces, counts);
  ids.reserve(ids.size() + pieces.size());
  for (const Piece& piece : pieces) ids.push_back(piece.id);
}

std::vector<Id> allow_specials(const Tokenizer& tokenizer, const std::vector<std::string>& names) {
  const auto known = tokenizer.special_spellings();
  std::vector<Id> ids;
  for (const std::string& name : names) {
    const std::size_t before = ids.size();
    for (const auto& [spelling, id] : known) {
      // The list of an error shows controls escaped, so they are taken so, too.
      const bool meant =
          name == spelling || name == display_text(spelling, true) || undisplayed(name) == spelling;
      if (name == "all" || meant) ids.push_back(id);
    }
    if (ids.size() > before || (name == "all" && known.empty())) continue;
    std::string list;
    for (const auto& [spelling, id] : known) {
      if (list.size() < 200) list += (list.empty() ? "" : ", ") + display_text(spelling, true);
    }
    throw Error(ErrorKind::argument, fmt::format("\"{}\" is no special token of this tokenizer; {}",
                                                 display_text(name, true),
                                                 known.empty() ? "it has none" : "it has " + list));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end > 0) names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

SafeCut Tokenizer::safe_cut(std::string_view text, std::size_t) const {
  return {0, text.size()};
}

std::string Tokenizer::readable(std::span<const Id> ids) const {
  const Id eos = specials().eos;
  std::string text;
  std::size_t begin = 0;
  for (std::size_t i = 0; eos != kNoId && i < ids.size(); ++i) {
    if (ids[i] != eos) continue;
    text += decode_part(ids.subspan(begin, i - begin));
    text += '\n';
    begin = i + 1;
  }
  return text + decode_part(ids.subspan(begin));
}

std::string tokenizer_kind_name(TokenizerKind kind) {
  switch (kind) {
    case TokenizerKind::character:
      return "char";
    case TokenizerKind::byte:
      return "byte";
    case TokenizerKind::word:
      return "word";
    case TokenizerKind::bpe:
      return "bpe";
    case TokenizerKind::word_level:
      return "word-level";
  }
  return "unknown";
}

TokenizerKind parse_tokenizer_kind(std::string_view name) {
  for (const auto kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::word}) {
    if (name == tokenizer_kind_name(kind)) return kind;
  }
  throw Error(
      ErrorKind::argument,
      fmt::format("tokenizer \"{}\" is not known; use char, byte, word, bpe:N (N tokens) or "
                  "the path of a tokenizer.json",
                  name));
}

std::string word_split_name(WordSplit split) {
  return split == WordSplit::unicode ? "unicode" : "space";
}

WordSplit parse_word_split(std::string_view name) {
  for (const auto split : {WordSplit::unicode, WordSplit::space}) {
    if (name == word_split_name(split)) return split;
  }
  throw Error(
      ErrorKind::argument,
      fmt::format("word split \"{}\" is not known; use unicode (words and punctuation) or space "
                  "(whatever stands between white space)",
                  name));
}

}  // namespace lexirow::text
