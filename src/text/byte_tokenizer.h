#pragma once

#include "text/basic_tokenizer.h"

namespace lexirow::text {

/// One token for each byte, id = byte: any bytes come back as they were.
class ByteTokenizer final : public BasicTokenizer {
 public:
  static constexpr std::int64_t kBytes = 256;

  explicit ByteTokenizer(const SpecialTokens& specials) : BasicTokenizer(kBytes, specials) {}

  TokenizerKind kind() const override { return TokenizerKind::byte; }
  /// The bytes of one character share its span.
  void encode_pieces(std::string_view text, const EncodeRules& rules, std::vector<Piece>& pieces,
                     EncodeCounts& counts) const override;
  std::optional<Id> find(std::string_view token) const override;
  bool lossy() const override { return false; }
  nlohmann::ordered_json to_json() const override;
  SafeCut safe_cut(std::string_view text, std::size_t scanned) const override;

 protected:
  void append_ordinary(Id id, std::string& text) const override;
  void encode_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                  EncodeCounts& counts) const override;

 private:
  void check_strict(std::string_view text, const EncodeRules& rules) const;
};

}  // namespace lexirow::text
