#pragma once

#include <array>
#include <optional>

#include "text/pair_table.h"
#include "text/token_index.h"
#include "text/token_model.h"
#include "text/word_tokenizer.h"

namespace lexirow::text {

/// Two tokens that stand side by side become one.
struct BpeMerge {
  Id left = kNoId;
  Id right = kNoId;
  Id result = kNoId;
  std::int32_t rank = 0;  ///< lower is done sooner; of equal ranks the leftmost pair
};

/// What a BPE model is made of.
struct BpeParts {
  /// Spellings by id as the file has them (byte-level: in byte letters), all different; an id that
  /// no token has is empty.
  TokenIndex tokens;
  std::vector<BpeMerge> merges;  ///< ranks ascending
  /// Pre-tokens are bytes, each of which is a symbol at first; else characters are.
  bool bytes = false;
  std::optional<std::string> unk_token{};  ///< stands for a character without a token
  bool fuse_unk = false;                   ///< one for a run of such characters
  bool byte_fallback = false;              ///< tokens <0x00> to <0xFF> before the unknown token
  bool ignore_merges = false;              ///< a pre-token that is a token is that token
  bool rank_is_result = false;             ///< merges have the ids that they make for ranks
  std::optional<std::string> prefix{};     ///< of all symbols of a pre-token but the first
  std::optional<std::string> suffix{};     ///< of the last symbol
};

/// The field of a model that says so in tokenizer.json. A rank file gives all ways to make a token
/// one rank, where the list of merges in a tokenizer.json has an order.
inline constexpr const char* kRankIsResult = "lexirow_rank_is_result";

/// Byte-pair encoding.
class BpeModel final : public TokenModel {
 public:
  /// Throws Error(argument) for a merge or an unk_token that names no token.
  explicit BpeModel(BpeParts parts);

  void encode(std::string_view piece, std::vector<ModelToken>& tokens,
              EncodeCounts& counts) const override;
  const std::string& word_mark() const override { return word_mark_; }
  const StringList& tokens() const override { return parts_.tokens.spellings(); }
  Id unk() const override { return unk_; }
  nlohmann::ordered_json to_json() const override;

  const BpeParts& parts() const { return parts_; }
  /// True when merges make the token out of its own symbols, or it is a byte of byte_fallback. One
  /// that they do not make is in no encoding but as a whole pre-token (ignore_merges): what stands
  /// beside it could only have merged over its ends.
  bool makes(Id id) const;

 private:
  struct UnknownRun;

  void check_merges() const;
  bool begins_words(const std::string& mark) const;
  void add_bytes(std::string_view piece, UnknownRun& unknown, std::vector<ModelToken>& tokens,
                 EncodeCounts& counts) const;
  void add_characters(std::string_view piece, UnknownRun& unknown, std::vector<ModelToken>& tokens,
                      EncodeCounts& counts) const;
  bool add_fallback(std::string_view symbol, std::vector<ModelToken>& tokens) const;
  Id whole_id(std::string_view piece) const;
  Id id_of(std::string_view spelling) const { return parts_.tokens.find(spelling); }

  BpeParts parts_;
  WordMap<Id> whole_;         // by bytes, for ignore_merges with bytes
  std::array<Id, 256> byte_;  // the symbol of a byte: bytes, or byte_fallback; kNoId where none
  PairTable pairs_;
  Id unk_ = kNoId;
  std::string word_mark_;
};

}  // namespace lexirow::text
