#include "text/char_tokenizer.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "lexirow/error.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

/// "e" (U+0065)
std::string named(char32_t code) {
  return fmt::format("\"{}\" (U+{:04X})", display_text(utf8_of(code), true),
                     static_cast<std::uint32_t>(code));
}

}  // namespace

CharTokenizer::CharTokenizer(std::vector<char32_t> codes, const SpecialTokens& specials)
    : BasicTokenizer(static_cast<std::int64_t>(codes.size()), specials),
      codes_(std::move(codes)),
      pages_(kCodePoints / 256) {
  ascii_.fill(kNoId);
  for (std::size_t i = 0; i < codes_.size(); ++i) {
    const char32_t code = codes_[i];
    if (code < 128) ascii_[code] = static_cast<Id>(i);
    std::unique_ptr<Page>& page = pages_[code / 256];
    if (page == nullptr) {
      page = std::make_unique<Page>();
      page->fill(kNoId);
    }
    (*page)[code % 256] = static_cast<Id>(i);
  }
}

Id CharTokenizer::id_of(char32_t code) const {
  const Page* page = pages_[code / 256].get();
  return page == nullptr ? kNoId : (*page)[code % 256];
}

template <typename Emit>
void CharTokenizer::each_character(std::string_view text, const EncodeRules& rules,
                                   EncodeCounts& counts, Emit&& emit) const {
  counts.special_spellings += count_spellings(specials(), text);
  const Id unknown = specials().unk;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    std::size_t length = 1;
    Id id = kNoId;
    if (byte < 0x80) {
      id = ascii_[byte];
    } else {
      const Utf8Step step = long_utf8_step(text, at);
      if (step.bad) {
        if (rules.strict) refuse_bytes(text, at, rules.start);
        ++counts.replaced;
      }
      length = step.length;
      id = id_of(step.code);
    }
    if (id == kNoId) {
      if (unknown == kNoId) refuse_character(text, at, rules.start);
      id = unknown;
      ++counts.unknown;
    }
    emit(id, at, at + length);
    at += length;
  }
}

void CharTokenizer::plain_pieces(std::string_view text, const EncodeRules& rules,
                                 std::vector<Piece>& pieces, EncodeCounts& counts) const {
  each_character(text, rules, counts, [&](Id id, std::size_t begin, std::size_t end) {
    pieces.push_back({id, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
  });
}

void CharTokenizer::plain_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                              EncodeCounts& counts) const {
  // No text has more characters than bytes: room once, then plain stores.
  const std::size_t before = ids.size();
  ids.resize(before + text.size());
  Id* next = ids.data() + before;
  try {
    each_character(text, rules, counts, [&next](Id id, std::size_t, std::size_t) { *next++ = id; });
  } catch (...) {
    ids.resize(before);
    throw;
  }
  ids.resize(static_cast<std::size_t>(next - ids.data()));
}

void CharTokenizer::refuse_character(std::string_view text, std::size_t at,
                                     const TextPlace& start) const {
  const Utf8Step step = utf8_step(text, at);
  const TextPlace place = place_in(text, at, start);
  std::string close;
  const auto number = static_cast<utf8proc_int32_t>(step.code);
  for (const utf8proc_int32_t other : {utf8proc_tolower(number), utf8proc_toupper(number)}) {
    if (close.empty() && other != number && id_of(static_cast<char32_t>(other)) != kNoId) {
      close = fmt::format("; {} is in it", named(static_cast<char32_t>(other)));
    }
  }
  const std::string what =
      step.bad ? fmt::format("the bytes {} are not UTF-8, and their stand-in {}",
                             hex_bytes(text.substr(at, step.length)), named(kReplacement))
               : fmt::format("the character {}", named(step.code));
  throw Error(
      ErrorKind::argument,
      fmt::format("line {}, column {}: {} is not in the vocabulary of {}{}. Use text of known "
                  "characters, or train with --unk, which reads unknown ones as <unk>",
                  place.line, place.column, what, base::counted(vocab_size(), "token"), close));
}

void CharTokenizer::append_ordinary(Id id, std::string& text) const {
  append_utf8(text, codes_[static_cast<std::size_t>(id)]);
}

std::optional<Id> CharTokenizer::find(std::string_view token) const {
  const char32_t code = single_code_point(token);
  if (code == kCodePoints) return find_special(specials(), token);
  const Id id = id_of(code);
  return id == kNoId ? std::nullopt : std::optional<Id>(id);
}

SafeCut CharTokenizer::safe_cut(std::string_view text, std::size_t) const {
  const std::size_t finished = finished_utf8(text);
  return cut_before_spelling(text, {finished, finished});
}

nlohmann::ordered_json CharTokenizer::to_json() const {
  std::vector<std::string> tokens;
  tokens.reserve(codes_.size());
  for (const char32_t code : codes_) tokens.push_back(utf8_of(code));
  return tokenizer_json(char_pre_tokenizer(), {{"type", "Fuse"}}, tokens, specials());
}

}  // namespace lexirow::text
