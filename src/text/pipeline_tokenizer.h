#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/piece_cache.h"
#include "text/pre_tokenizer.h"
#include "text/token_model.h"

namespace lexirow::text {

/// How a post-processor takes white space out of the places of tokens.
struct OffsetTrim {
  bool on = false;
  bool prefix_space = false;  ///< a blank at the very beginning may be one that was added
};

/// The parts of a tokenizer as Hugging Face has them, in the order in which text passes them.
struct PipelineParts {
  TokenizerKind kind = TokenizerKind::bpe;
  std::vector<AddedToken> added;
  std::unique_ptr<const Normalizer> normalizer;       ///< null: none
  std::unique_ptr<const PreTokenizer> pre_tokenizer;  ///< null: none
  std::unique_ptr<const TokenModel> model;
  bool bytes = false;                      ///< the model takes bytes
  bool byte_fallback = false;              ///< its tokens <0x00> to <0xFF> are bytes
  std::unique_ptr<const Decoder> decoder;  ///< null: a blank between tokens
  bool byte_level_decoder = false;         ///< it only turns letters into bytes
  OffsetTrim trim;
  SpecialTokens roles;
  /// tokenizer.json without its model: what is saved again as it was.
  nlohmann::ordered_json frame;
  std::vector<std::string> notes;  ///< what is kept but not applied
};

/// A tokenizer of Hugging Face's kind: added tokens, normalizer, pre-tokenizer, model, decoder.
/// Text that is not UTF-8 comes back as it was from a byte-level tokenizer; for others it is
/// U+FFFD.
class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(PipelineParts parts);

  TokenizerKind kind() const override { return parts_.kind; }
  std::int64_t vocab_size() const override { return static_cast<std::int64_t>(bytes_.size()); }
  const SpecialTokens& specials() const override { return parts_.roles; }
  void encode_pieces(std::string_view text, const EncodeRules& rules, std::vector<Piece>& pieces,
                     EncodeCounts& counts) const override;
  std::string decode(std::span<const Id> ids) const override { return decode(ids, false); }
  std::string token_bytes(Id id) const override;
  std::optional<Id> find(std::string_view token) const override;
  std::vector<std::string> notes() const override { return parts_.notes; }
  std::vector<std::pair<std::string, Id>> special_spellings() const override;
  bool lossy() const override { return lossy_; }
  nlohmann::ordered_json to_json() const override;
  SafeCut safe_cut(std::string_view text, std::size_t scanned) const override;

  const TokenModel& model() const { return *parts_.model; }
  /// True for a token that is found by its spelling before the model sees the text.
  bool is_added(Id id) const { return added_spellings_.contains(id); }

 protected:
  std::string decode_part(std::span<const Id> ids) const override { return decode(ids, true); }
  void encode_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                  EncodeCounts& counts) const override;

 private:
  class IdSink;
  class PieceSink;
  template <typename Sink>
  void encode_all(std::string_view text, const EncodeRules& rules, EncodeCounts& counts,
                  Sink& sink) const;
  template <typename Sink>
  void encode_direct(std::string_view text, std::size_t offset, Sink& sink) const;
  template <typename Sink>
  void encode_stretch(std::string_view text, std::size_t offset, const EncodeRules& rules,
                      EncodeCounts& counts, Sink& sink) const;
  template <typename Sink>
  void encode_traced(TracedText text, std::size_t offset, Sink& sink) const;
  ///   continues  the text goes on from one that was encoded before
  void trim_places(std::string_view text, bool continues, std::vector<Piece>& pieces,
                   std::size_t first) const;
  void check_id(Id id, std::size_t position) const;
  std::string decode(std::span<const Id> ids, bool goes_on) const;
  /// Of a token, as in the file.
  std::string_view spelling(std::size_t id) const;
  bool keeps_every_byte() const;
  CutRule find_cut_rule() const;

  PipelineParts parts_;
  AddedVocabulary added_;
  std::map<Id, std::string> added_spellings_;  // by their ids; normalised if that is looked for
  StringList bytes_;                           // of every token by id; empty where an id has none
  bool direct_ = false;                        // bytes go from GPT-2's cut to the model as they are
  bool lossy_ = true;
  CutRule cut_rule_ = CutRule::depends;
  mutable PieceCachePool caches_;
};

}  // namespace lexirow::text
