#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"

namespace lexirow::text {

/// Spelt char, byte, word (the own kinds), bpe and word-level (those of Hugging Face's files).
enum class TokenizerKind { character, byte, word, bpe, word_level };
enum class WordSplit { unicode, space };

/// Ids of the special tokens, kNoId where not in use. They follow the ordinary ids in this order.
struct SpecialTokens {
  Id pad = kNoId;
  Id unk = kNoId;
  Id bos = kNoId;
  Id eos = kNoId;
};

/// What an encoding met on its way. Counters only grow.
struct EncodeCounts {
  std::int64_t unknown = 0;            ///< tokens that became <unk>
  std::int64_t replaced = 0;           ///< bad UTF-8 subsequences that became U+FFFD
  std::int64_t special_spellings = 0;  ///< text spelt like a special token, read as text
  std::int64_t left_out = 0;           ///< characters without a token where there is no <unk>
  std::int64_t unk_words = 0;          ///< words spelt <unk>, read as the token (word, space split)
  /// Spellings of a special token in words that are not in the vocabulary, so that they became
  /// <unk> and are among `unknown` (word, space split).
  std::int64_t special_unknown = 0;

  EncodeCounts& operator+=(const EncodeCounts& other);
};

/// A place in a text, for messages.
struct TextPlace {
  std::int64_t line = 1;    ///< from 1; lines end at LF
  std::int64_t column = 1;  ///< from 1, in code points
  std::int64_t byte = 0;    ///< from 0
};

/// How an encoding treats what it cannot represent.
struct EncodeRules {
  bool strict = false;   ///< refuse invalid UTF-8 (Error(file)) instead of replacing it
  TextPlace start = {};  ///< where the text begins in its file: messages count from here
  /// The text goes on from one that was encoded before and ended at a safe cut.
  bool continues = false;
  /// Special tokens, ascending, whose spellings in the text are read as the token; the spellings of
  /// all others are plain text. See allow_specials().
  std::vector<Id> specials = {};
};

/// One token of a text with its place in bytes of the original text, end exclusive. Tokens that are
/// parts of one character (byte) share the span of that character; a bad byte is a span of its own.
struct Piece {
  Id id = kNoId;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// How far a text can be encoded before the text behind it is known.
struct SafeCut {
  std::size_t end = 0;      ///< encode(text[0, end)) then encode(the rest and more) is encode(all)
  std::size_t scanned = 0;  ///< what need not be looked at again, >= end
};

/// Text to ids and back. Immutable after construction; safe to share between threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual TokenizerKind kind() const = 0;
  /// Ordinary and special tokens together.
  virtual std::int64_t vocab_size() const = 0;
  virtual const SpecialTokens& specials() const = 0;

  /// Appends the pieces of `text`. An unknown token becomes <unk>; without one, Error(argument)
  /// names it (the character, its code point, line and column, and a close known spelling).
  virtual void encode_pieces(std::string_view text, const EncodeRules& rules,
                             std::vector<Piece>& pieces, EncodeCounts& counts) const = 0;

  /// The text of the ids. Throws Error(index) on an id outside the vocabulary.
  virtual std::string decode(std::span<const Id> ids) const = 0;

  /// The text of the ids for people to read, not for reading back: as decode, with <eos> as a line
  /// end; a word tokenizer may space words as in print. readable(a) is always a beginning of
  /// readable(a + b), so that a stream can print the difference.
  virtual std::string readable(std::span<const Id> ids) const;

  /// Raw bytes of one token (a special token: its spelling, such as <eos>).
  virtual std::string token_bytes(Id id) const = 0;
  /// The id of a token spelt exactly so, special tokens included.
  virtual std::optional<Id> find(std::string_view token) const = 0;

  /// What of the tokenizer's file is kept but not applied, a sentence each.
  virtual std::vector<std::string> notes() const { return {}; }

  /// The special tokens by their spellings, with their ids.
  virtual std::vector<std::pair<std::string, Id>> special_spellings() const = 0;

  /// True when decode(encode(x)) == x cannot be promised for any text (word).
  virtual bool lossy() const = 0;

  /// Hugging Face's tokenizer.json. One difference: Hugging Face turns text that is spelt like a
  /// special token into that token, this library keeps it as text and counts it.
  virtual nlohmann::ordered_json to_json() const = 0;

  /// The longest beginning of `text` whose encoding no further text can change. `scanned` is the
  /// answer of the call before, for the same beginning of the text, or 0. The default holds back
  /// everything.
  virtual SafeCut safe_cut(std::string_view text, std::size_t scanned) const;

  /// Ids only.
  void encode(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
              EncodeCounts& counts) const;
  /// Ids of `text` under default rules.
  std::vector<Id> encode(std::string_view text) const;

 protected:
  /// As decode, of ids that more may follow: what they are the beginning of begins with this text.
  virtual std::string decode_part(std::span<const Id> ids) const { return decode(ids); }
  /// As encode_pieces, ids only: the fast path.
  virtual void encode_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                          EncodeCounts& counts) const;
};

/// The ids of special tokens for EncodeRules::specials, by their spellings; "all" stands for every
/// one. Throws Error(argument) that lists the special tokens there are.
std::vector<Id> allow_specials(const Tokenizer& tokenizer, const std::vector<std::string>& names);

/// The names between the commas of a list.
std::vector<std::string> split_names(std::string_view list);

/// `char`, `byte`, `word`, `bpe` or `word-level`.
std::string tokenizer_kind_name(TokenizerKind kind);
/// The own kind of that name (char, byte, word). Throws Error(argument) that lists the forms.
TokenizerKind parse_tokenizer_kind(std::string_view name);
/// `unicode` or `space`.
std::string word_split_name(WordSplit split);
/// The split of that name. Throws Error(argument) that lists the forms.
WordSplit parse_word_split(std::string_view name);

/// Reads a tokenizer.json: one of the three own kinds, recognised by content, or Hugging Face's
/// with a BPE or WordLevel model. `where` names the file in errors. Throws Error(file) that names
/// the part that is not supported. Read the text with parse_json(), which finds keys that stand
/// twice.
std::unique_ptr<Tokenizer> tokenizer_from_json(const nlohmann::json& json,
                                               const std::string& where);

/// Token text for people and JSON: valid UTF-8, U+FFFD for the rest, controls and a lone space made
/// visible when `visible` is set (as \n, \t, \u00a0, U+2423).
std::string display_text(std::string_view bytes, bool visible);
/// True when display_text(bytes, false) loses something, so that hex bytes must be shown beside it.
bool display_loses(std::string_view bytes);
std::string hex_bytes(std::string_view bytes);
/// The bytes that a spelling stands for in which spaces are visible (U+2423) or characters escaped:
/// \n, \r, \t, \\, \xHH (a byte), \uHHHH, \UHHHHHHHH. Nothing for an escape that is none of these.
std::optional<std::string> undisplayed(std::string_view spelling);

}  // namespace lexirow::text
