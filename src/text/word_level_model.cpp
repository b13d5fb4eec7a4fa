#include "text/word_level_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lexirow/error.h"
#include "text/json_text.h"

namespace lexirow::text {

WordLevelModel::WordLevelModel(std::vector<std::string> tokens, std::string unk_token)
    : tokens_(std::move(tokens)), unk_token_(std::move(unk_token)) {
  ids_.reserve(tokens_.size());
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    if (!tokens_[id].empty()) ids_.emplace(tokens_[id], static_cast<Id>(id));
  }
  const auto found = ids_.find(unk_token_);
  if (found != ids_.end()) unk_ = found->second;
}

void WordLevelModel::encode(std::string_view piece, std::vector<ModelToken>& tokens,
                            EncodeCounts& counts) const {
  const auto length = static_cast<std::uint32_t>(piece.size());
  const auto found = ids_.find(piece);
  if (found != ids_.end()) {
    tokens.push_back({found->second, length});
    return;
  }
  if (unk_ == kNoId) {
    throw Error(ErrorKind::argument,
                fmt::format("{} is not in the vocabulary of {} tokens, which has no unknown token "
                            "{}; take a tokenizer made from such text",
                            quoted_token(piece), ids_.size(), quoted_token(unk_token_)));
  }
  ++counts.unknown;
  tokens.push_back({unk_, length});
}

nlohmann::ordered_json WordLevelModel::to_json() const {
  return {{"type", "WordLevel"}, {"vocab", vocab_json(tokens_)}, {"unk_token", unk_token_}};
}

}  // namespace lexirow::text
