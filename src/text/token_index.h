#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "text/string_list.h"

namespace lexirow::text {

/// The spellings of a vocabulary by id, and the ids by spelling: open addressing with linear
/// probing, at most half full, so that a vocabulary of 50000 tokens is ready in a few milliseconds.
class TokenIndex {
 public:
  TokenIndex() = default;
  /// An id that no token has is empty. Of equal spellings the first one is found.
  TokenIndex(StringList spellings);                       // NOLINT(google-explicit-constructor)
  TokenIndex(const std::vector<std::string>& spellings);  // NOLINT(google-explicit-constructor)

  const StringList& spellings() const { return spellings_; }
  std::string_view operator[](std::size_t id) const { return spellings_[id]; }
  std::size_t size() const { return spellings_.size(); }
  auto begin() const { return spellings_.begin(); }
  auto end() const { return spellings_.end(); }
  /// How many spellings there are that differ; empty ones do not count.
  std::size_t distinct() const { return distinct_; }

  /// kNoId for a spelling that is not there, and for an empty one.
  Id find(std::string_view spelling) const {
    if (slots_.empty()) return kNoId;
    const std::uint64_t slot = slots_[place_of(spelling)];
    return slot == kFree ? kNoId : id_of(slot);
  }

 private:
  static constexpr std::uint64_t kFree = 0;

  /// A slot holds the upper half of a hash and the id, plus one.
  static Id id_of(std::uint64_t slot) {
    return static_cast<Id>(static_cast<std::uint32_t>(slot) - 1);
  }
  /// Where the spelling stands, or the free slot where it would.
  std::size_t place_of(std::string_view spelling) const;

  StringList spellings_;
  std::vector<std::uint64_t> slots_;
  std::size_t distinct_ = 0;
};

}  // namespace lexirow::text
