#include "text/word_tokenizer.h"

#include <nlohmann/json.hpp>

#include "text/printed_words.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"
#include "text/word_split.h"

namespace lexirow::text {

WordTokenizer::WordTokenizer(std::vector<std::string> words, WordSplit split,
                             const SpecialTokens& specials)
    : BasicTokenizer(static_cast<std::int64_t>(words.size()), specials),
      words_(std::move(words)),
      split_(split) {
  ids_.reserve(words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) ids_.emplace(words_[i], static_cast<Id>(i));
}

Id WordTokenizer::id_of(std::string_view word, EncodeCounts& counts) const {
  const auto found = ids_.find(word);
  if (found != ids_.end()) return found->second;
  const Id unk = specials().unk;
  // A text may have been prepared with <unk> in place of rare words; no other spelling is control.
  if (split_ == WordSplit::space && word == "<unk>") {
    ++counts.unk_words;
    --counts.special_spellings;  // read as the token, not kept as text
    return unk;
  }
  ++counts.unknown;
  if (split_ == WordSplit::space) {  // a unicode word has no "<" in it
    const std::int64_t spellings = count_spellings(specials(), word);
    counts.special_spellings -= spellings;
    counts.special_unknown += spellings;
  }
  return unk;
}

template <typename Emit>
void WordTokenizer::each_token(std::string_view text, const EncodeRules& rules,
                               EncodeCounts& counts, Emit&& emit) const {
  counts.special_spellings += count_spellings(specials(), text);
  for_each_word(text, split_, [&](std::size_t begin, std::size_t end, bool bad) {
    const std::string_view word = text.substr(begin, end - begin);
    if (!bad) {
      emit(id_of(word, counts), begin, end);
      return;
    }
    for (std::size_t at = begin; rules.strict; at += utf8_step(text, at).length) {
      if (utf8_step(text, at).bad) refuse_bytes(text, at, rules.start);
    }
    emit(id_of(repair_utf8(word, counts.replaced), counts), begin, end);
  });
}

void WordTokenizer::plain_pieces(std::string_view text, const EncodeRules& rules,
                                 std::vector<Piece>& pieces, EncodeCounts& counts) const {
  each_token(text, rules, counts, [&](Id id, std::size_t begin, std::size_t end) {
    pieces.push_back({id, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
  });
}

void WordTokenizer::plain_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                              EncodeCounts& counts) const {
  each_token(text, rules, counts, [&](Id id, std::size_t, std::size_t) { ids.push_back(id); });
}

std::string WordTokenizer::decode(std::span<const Id> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) text += ' ';
    append_token(ids[i], i, text);
  }
  return text;
}

std::string WordTokenizer::readable(std::span<const Id> ids) const {
  const Id eos = specials().eos;
  if (split_ == WordSplit::unicode) {
    PrintedWords printed;
    for (const Id id : ids) {
      if (id == eos && eos != kNoId) {
        printed.line_end();
      } else {
        printed.add(token_bytes(id));
      }
    }
    return printed.text();
  }
  return Tokenizer::readable(ids);
}

void WordTokenizer::append_ordinary(Id id, std::string& text) const {
  text += words_[static_cast<std::size_t>(id)];
}

std::optional<Id> WordTokenizer::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found != ids_.end()) return found->second;
  return find_special(specials(), token);
}

SafeCut WordTokenizer::safe_cut(std::string_view text, std::size_t scanned) const {
  return cut_before_spelling(text, word_cut(text, scanned, split_));
}

nlohmann::ordered_json WordTokenizer::to_json() const {
  return tokenizer_json(word_pre_tokenizer(split_), nullptr, words_, specials());
}

}  // namespace lexirow::text
