#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/cut_rule.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// A token that is found by its spelling before the model sees the text.
struct AddedToken {
  Id id = kNoId;
  std::string content{};
  bool single_word = false;  ///< only where no word character stands next to it
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< and behind it
  bool normalized = true;    ///< looked for in the normalised text, normalised itself
  bool special = false;      ///< plain text unless allowed; the others are always looked for
};

/// Spellings in a trie: the longest one at a place.
class SpellingTrie {
 public:
  /// `value` is what longest_at answers; a spelling given twice takes its last value.
  void add(std::string_view spelling, std::size_t value);
  bool empty() const { return nodes_.size() == 1; }

  struct Match {
    std::size_t length = 0;  ///< 0: none
    std::size_t value = 0;
  };
  /// The longest spelling whose value `takes` accepts.
  template <typename Takes>
  Match longest_at(std::string_view text, std::size_t at, Takes&& takes) const {
    Match match;
    std::size_t node = 0;
    for (std::size_t end = at; end < text.size(); ++end) {
      node = child(node, text[end]);
      if (node == kNone) break;
      const std::size_t value = nodes_[node].value;
      if (value != kNone && takes(value)) match = {end + 1 - at, value};
    }
    return match;
  }
  /// The next place from `at` on where a spelling could begin, by its first byte.
  std::size_t next_start(std::string_view text, std::size_t at) const;
  std::size_t longest() const { return longest_; }  ///< bytes of the longest spelling

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Node {
    std::vector<std::pair<char, std::size_t>> children;
    std::size_t value = kNone;
  };
  std::size_t child(std::size_t node, char byte) const;

  std::vector<Node> nodes_{1};
  std::array<bool, 256> starts_{};
  std::size_t starts_count_ = 0;
  char only_start_ = 0;
  std::size_t longest_ = 0;
};

/// The added tokens of a tokenizer, found as Hugging Face finds them: the longest spelling at the
/// leftmost place. Where that is a special token that is not allowed it is plain text, and no other
/// token is looked for within it.
class AddedVocabulary {
 public:
  /// `normalized_content` gives the spelling that a token with `normalized` has in a normalised
  /// text.
  AddedVocabulary(std::vector<AddedToken> tokens,
                  const std::function<std::string(const std::string&)>& normalized_content);

  const std::vector<AddedToken>& tokens() const { return tokens_; }

  /// A stretch of a text: an added token, or plain text (kNoId).
  struct Found {
    std::size_t begin = 0;
    std::size_t end = 0;
    Id id = kNoId;
  };
  /// The whole of `text` in stretches; `normalized` looks for the tokens of a normalised text, else
  /// for those of the original. `allowed` holds special tokens, ascending.
  void find(std::string_view text, bool normalized, std::span<const Id> allowed,
            std::vector<Found>& found) const;
  /// True when find() of normalised texts could find anything.
  bool any_normalized(std::span<const Id> allowed) const;
  /// How often the text holds spellings of special tokens that are not allowed.
  std::int64_t count_plain(std::string_view text, std::span<const Id> allowed) const;
  /// The most that these tokens allow of a text: `depends` where one looks at the characters beside
  /// it or, in a normalised text, reaches over white space; `blanks` where one takes up the line
  /// end before it.
  CutRule cut_rule(bool normalizes) const;
  /// True when a cut before byte `at` of the original splits no token that is looked for, and none
  /// ends there: what follows one begins anew, and may be its white space.
  bool may_cut(std::string_view text, std::size_t at) const;

 private:
  bool is_active(std::size_t value, std::span<const Id> allowed) const;

  std::vector<AddedToken> tokens_;
  SpellingTrie original_;  // values are indices of tokens_
  SpellingTrie normalized_;
};

/// The roles that special tokens have by their names: those of the usual families, such as
/// <|endoftext|>, </s>, <|begin_of_text|>, [PAD]. `unk` is the model's own, kNoId without one. No
/// two roles share an id: one for unknown tokens is no pad, and one that ends or begins is not for
/// unknown tokens.
SpecialTokens roles_by_name(const std::vector<AddedToken>& tokens, Id unk);

}  // namespace lexirow::text
