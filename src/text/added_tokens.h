#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  /// `value` is what longest_at answers; a spelling given twice keeps its first value.
  void add(std::string_view spelling, std::size_t value);
  bool empty() const { return nodes_.size() == 1; }

  struct Match {
    std::size_t length = 0;  ///< 0: none
    std::size_t value = 0;
  };
  Match longest_at(std::string_view text, std::size_t at) const;
  /// The next place from `at` on where a spelling could begin, by its first byte.
  std::size_t next_start(std::string_view text, std::size_t at) const;
  /// True when the text from `at` to its end is the beginning of a longer spelling.
  bool unfinished_at(std::string_view text, std::size_t at) const;
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

/// How often `text` holds one of the spellings; places do not overlap.
std::int64_t count_matches(const SpellingTrie& spellings, std::string_view text);

/// The roles that special tokens have by their names: those of the usual families, such as
/// <|endoftext|>, </s>, <|begin_of_text|>, [PAD]. `unk` is the model's own, kNoId without one. No
/// two roles share an id.
SpecialTokens roles_by_name(const std::vector<AddedToken>& tokens, Id unk);

}  // namespace lexirow::text
