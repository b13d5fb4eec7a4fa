#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "text/special_tokens.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// What the three own tokenizers share: special tokens behind the ordinary ones, checked ids.
class BasicTokenizer : public Tokenizer {
 public:
  std::int64_t vocab_size() const final { return ordinary_ + count_specials(specials_); }
  const SpecialTokens& specials() const final { return specials_; }
  void encode_pieces(std::string_view text, const EncodeRules& rules, std::vector<Piece>& pieces,
                     EncodeCounts& counts) const final;
  std::string decode(std::span<const Id> ids) const override;
  std::string token_bytes(Id id) const final;
  std::vector<std::pair<std::string, Id>> special_spellings() const final;

 protected:
  BasicTokenizer(std::int64_t ordinary, const SpecialTokens& specials)
      : ordinary_(ordinary), specials_(specials) {}

  std::int64_t ordinary() const { return ordinary_; }
  void encode_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                  EncodeCounts& counts) const final;
  /// As encode_pieces and encode_ids, for a text without special tokens in it.
  virtual void plain_pieces(std::string_view text, const EncodeRules& rules,
                            std::vector<Piece>& pieces, EncodeCounts& counts) const = 0;
  virtual void plain_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                         EncodeCounts& counts) const = 0;
  /// Appends the bytes of an ordinary token.
  virtual void append_ordinary(Id id, std::string& text) const = 0;
  /// Appends the bytes of any token; `position` is for the Error(index) of an id outside.
  void append_token(Id id, std::size_t position, std::string& text) const;
  /// At an unfinished special spelling or before.
  SafeCut cut_before_spelling(std::string_view text, SafeCut cut) const;

 private:
  /// Calls plain(stretch, rules, begin) and special(id, begin, end) for the stretches of a text in
  /// which special tokens are allowed.
  template <typename Plain, typename Special>
  void each_stretch(std::string_view text, const EncodeRules& rules, Plain&& plain,
                    Special&& special) const;

  std::int64_t ordinary_;
  SpecialTokens specials_;
};

}  // namespace lexirow::text
