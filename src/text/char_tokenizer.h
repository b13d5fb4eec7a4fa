#pragma once

#include <array>
#include <memory>
#include <vector>

#include "text/basic_tokenizer.h"

namespace lexirow::text {

/// One token for each code point of the training text. Bytes that are not UTF-8 count as U+FFFD.
class CharTokenizer final : public BasicTokenizer {
 public:
  /// `codes[id]` is the code point of an id, all different.
  CharTokenizer(std::vector<char32_t> codes, const SpecialTokens& specials);

  TokenizerKind kind() const override { return TokenizerKind::character; }
  std::optional<Id> find(std::string_view token) const override;
  bool lossy() const override { return false; }
  nlohmann::ordered_json to_json() const override;
  SafeCut safe_cut(std::string_view text, std::size_t scanned) const override;

 protected:
  void append_ordinary(Id id, std::string& text) const override;
  void plain_pieces(std::string_view text, const EncodeRules& rules, std::vector<Piece>& pieces,
                    EncodeCounts& counts) const override;
  void plain_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                 EncodeCounts& counts) const override;

 private:
  using Page = std::array<Id, 256>;

  /// Calls emit(id, begin, end) for every character.
  template <typename Emit>
  void each_character(std::string_view text, const EncodeRules& rules, EncodeCounts& counts,
                      Emit&& emit) const;
  Id id_of(char32_t code) const;
  [[noreturn]] void refuse_character(std::string_view text, std::size_t at,
                                     const TextPlace& start) const;

  std::vector<char32_t> codes_;
  std::array<Id, 128> ascii_;                 // kNoId where unknown
  std::vector<std::unique_ptr<Page>> pages_;  // of 256 code points, null where none is known
};

}  // namespace lexirow::text
