#pragma once

#include <optional>

#include "text/token_index.h"
#include "text/token_model.h"

namespace lexirow::text {

/// A pre-token is a token or it is unknown.
class WordLevelModel final : public TokenModel {
 public:
  /// `tokens` by id, all different, empty where an id has none; the unknown token need not be among
  /// them.
  WordLevelModel(TokenIndex tokens, std::string unk_token);

  /// Throws Error(argument) for an unknown pre-token where the vocabulary has no unknown token.
  void encode(std::string_view piece, std::vector<ModelToken>& tokens,
              EncodeCounts& counts) const override;
  const StringList& tokens() const override { return tokens_.spellings(); }
  Id unk() const override { return unk_; }
  nlohmann::ordered_json to_json() const override;

 private:
  TokenIndex tokens_;
  std::string unk_token_;
  Id unk_ = kNoId;
};

}  // namespace lexirow::text
