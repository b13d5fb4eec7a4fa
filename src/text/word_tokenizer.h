#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "text/basic_tokenizer.h"

namespace lexirow::text {

/// Hash that lets a string_view be looked up among strings.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view word) const {
    return std::hash<std::string_view>{}(word);
  }
};

template <typename Value>
using WordMap = std::unordered_map<std::string, Value, WordHash, std::equal_to<>>;

/// One token for each word kept from the training text, <unk> for the others.
class WordTokenizer final : public BasicTokenizer {
 public:
  /// `words[id]` is the word of an id, all different, valid UTF-8. `specials` holds <unk>.
  WordTokenizer(std::vector<std::string> words, WordSplit split, const SpecialTokens& specials);

  TokenizerKind kind() const override { return TokenizerKind::word; }
  WordSplit split() const { return split_; }
  /// Tokens with one space between them.
  std::string decode(std::span<const Id> ids) const override;
  /// Unicode split: as in print (PrintedWords). Space split: as decode.
  std::string readable(std::span<const Id> ids) const override;
  std::optional<Id> find(std::string_view token) const override;
  bool lossy() const override { return true; }
  nlohmann::ordered_json to_json() const override;
  SafeCut safe_cut(std::string_view text, std::size_t scanned) const override;

 protected:
  void append_ordinary(Id id, std::string& text) const override;
  void plain_pieces(std::string_view text, const EncodeRules& rules, std::vector<Piece>& pieces,
                    EncodeCounts& counts) const override;
  void plain_ids(std::string_view text, const EncodeRules& rules, std::vector<Id>& ids,
                 EncodeCounts& counts) const override;

 private:
  template <typename Emit>
  void each_token(std::string_view text, const EncodeRules& rules, EncodeCounts& counts,
                  Emit&& emit) const;
  Id id_of(std::string_view word, EncodeCounts& counts) const;

  std::vector<std::string> words_;
  WordMap<Id> ids_;
  WordSplit split_;
};

}  // namespace lexirow::text
