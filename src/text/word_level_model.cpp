#include "text/word_level_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lexirow/error.h"
#include "text/json_text.h"

namespace lexirow::text {

WordLevelModel::WordLevelModel(TokenIndex tokens, std::string unk_token)
    : tokens_(std::move(tokens)),
      unk_token_(std::move(unk_token)),
      unk_(tokens_.find(unk_token_)) {}

void WordLevelModel::encode(std::string_view piece, std::vector<ModelToken>& tokens,
                            EncodeCounts& counts) const {
  const auto length = static_cast<std::uint32_t>(piece.size());
  if (const Id id = tokens_.find(piece); id != kNoId) {
    tokens.push_back({id, length});
    return;
  }
  if (unk_ == kNoId) {
    throw Error(ErrorKind::argument,
                fmt::format("{} is not in the vocabulary of {} tokens, which has no unknown token "
                            "{}; take a tokenizer made from such text",
                            quoted_token(piece), tokens_.distinct(), quoted_token(unk_token_)));
  }
  ++counts.unknown;
  tokens.push_back({unk_, length});
}

nlohmann::ordered_json WordLevelModel::to_json() const {
  return {
      {"type", "WordLevel"}, {"vocab", vocab_json(tokens_.spellings())}, {"unk_token", unk_token_}};
}

}  // namespace lexirow::text
