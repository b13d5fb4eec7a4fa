#pragma once

#include <optional>

#include "text/token_model.h"
#include "text/word_tokenizer.h"

namespace lexirow::text {

/// A pre-token is a token or it is unknown.
class WordLevelModel final : public TokenModel {
 public:
  /// `tokens` by id, all different, empty where an id has none; the unknown token need not be among
  /// them.
  WordLevelModel(std::vector<std::string> tokens, std::string unk_token);

  /// Throws Error(argument) for an unknown pre-token where the vocabulary has no unknown token.
  void encode(std::string_view piece, std::vector<ModelToken>& tokens,
              EncodeCounts& counts) const override;
  const std::vector<std::string>& tokens() const override { return tokens_; }
  Id unk() const override { return unk_; }
  nlohmann::ordered_json to_json() const override;

 private:
  std::vector<std::string> tokens_;
  std::string unk_token_;
  WordMap<Id> ids_;
  Id unk_ = kNoId;
};

}  // namespace lexirow::text
