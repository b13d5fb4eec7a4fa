#include "text/basic_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lexirow/error.h"
#include "text/utf8.h"

namespace lexirow::text {

void BasicTokenizer::append_token(Id id, std::size_t position, std::string& text) const {
  if (id >= 0 && id < ordinary_) {
    append_ordinary(id, text);
  } else if (const char* spelling = special_spelling(specials_, id)) {
    text += spelling;
  } else {
    throw Error(ErrorKind::index,
                fmt::format("decode, position {}: id {} is outside the vocabulary of {} tokens "
                            "(ids 0 to {}); is this the tokenizer the ids were made with?",
                            position, id, vocab_size(), vocab_size() - 1));
  }
}

template <typename Plain, typename Special>
void BasicTokenizer::each_stretch(std::string_view text, const EncodeRules& rules, Plain&& plain,
                                  Special&& special) const {
  EncodeRules inside = rules;
  inside.specials.clear();
  std::size_t done = 0;
  const auto flush = [&](std::size_t end) {
    if (end == done) return;
    plain(text.substr(done, end - done), inside, done);
    advance_place(inside.start, text.substr(done, end - done));
  };
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    std::size_t length = 1;
    for (const auto& [spelling, id] : special_spellings()) {
      const bool allowed = std::binary_search(rules.specials.begin(), rules.specials.end(), id);
      if (!allowed || !text.substr(at).starts_with(spelling)) continue;
      flush(at);
      length = spelling.size();
      special(id, at, at + length);
      done = at + length;
      advance_place(inside.start, spelling);
      break;
    }
    at += length;
  }
  flush(text.size());
}

void BasicTokenizer::encode_pieces(std::string_view text, const EncodeRules& rules,
                                   std::vector<Piece>& pieces, EncodeCounts& counts) const {
  if (rules.specials.empty()) return plain_pieces(text, rules, pieces, counts);
  each_stretch(
      text, rules,
      [&](std::string_view stretch, const EncodeRules& inside, std::size_t begin) {
        const std::size_t first = pieces.size();
        plain_pieces(stretch, inside, pieces, counts);
        for (std::size_t i = first; i < pieces.size(); ++i) {
          pieces[i].begin += static_cast<std::int64_t>(begin);
          pieces[i].end += static_cast<std::int64_t>(begin);
        }
      },
      [&](Id id, std::size_t begin, std::size_t end) {
        pieces.push_back({id, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
      });
}

void BasicTokenizer::encode_ids(std::string_view text, const EncodeRules& rules,
                                std::vector<Id>& ids, EncodeCounts& counts) const {
  if (rules.specials.empty()) return plain_ids(text, rules, ids, counts);
  each_stretch(
      text, rules,
      [&](std::string_view stretch, const EncodeRules& inside, std::size_t) {
        plain_ids(stretch, inside, ids, counts);
      },
      [&](Id id, std::size_t, std::size_t) { ids.push_back(id); });
}

std::string BasicTokenizer::decode(std::span<const Id> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) append_token(ids[i], i, text);
  return text;
}

std::string BasicTokenizer::token_bytes(Id id) const {
  std::string text;
  append_token(id, 0, text);
  return text;
}

std::vector<std::pair<std::string, Id>> BasicTokenizer::special_spellings() const {
  std::vector<std::pair<std::string, Id>> all;
  for (const SpecialRole& role : kSpecialRoles) {
    if (specials_.*role.id != kNoId) all.emplace_back(role.spelling, specials_.*role.id);
  }
  return all;
}

SafeCut BasicTokenizer::cut_before_spelling(std::string_view text, SafeCut cut) const {
  cut.end = std::min(cut.end, unfinished_spelling(specials_, text));
  return cut;
}

}  // namespace lexirow::text
