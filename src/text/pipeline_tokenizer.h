#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "text/added_tokens.h"
#include "text/token_model.h"

namespace lexirow::text {

/// The parts of a tokenizer as Hugging Face has them, in the order in which text passes them.
struct PipelineParts {
  std::vector<AddedToken> added;
  std::unique_ptr<const TokenModel> model;
  SpecialTokens roles;
  TokenizerKind kind = TokenizerKind::bpe;
  /// tokenizer.json without the vocabulary of its model: what is saved again as it was.
  nlohmann::ordered_json frame;
};

/// Added tokens, model and decoder in a row.
class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(PipelineParts parts);

  TokenizerKind kind() const override { return parts_.kind; }
  std::int64_t vocab_size() const override { return static_cast<std::int64_t>(bytes_.size()); }
  const SpecialTokens& specials() const override { return parts_.roles; }
  void encode_pieces(std::string_view text, const EncodeRules& rules, std::vector<Piece>& pieces,
                     EncodeCounts& counts) const override;
  std::string decode(std::span<const Id> ids) const override;
  std::string token_bytes(Id id) const override;
  std::optional<Id> find(std::string_view token) const override;
  bool lossy() const override { return false; }
  nlohmann::ordered_json to_json() const override;
  SafeCut safe_cut(std::string_view text, std::size_t scanned) const override;

  const TokenModel& model() const { return *parts_.model; }

 protected:
  void encode_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                  EncodeCounts& counts) const override;

 private:
  PipelineParts parts_;
  std::vector<std::string> bytes_;  // of every token by id
  SpellingTrie specials_;           // spellings that are plain text
};

}  // namespace lexirow::text
