#pragma once

#include <cstdint>

#include "base/array.h"
#include "base/types.h"

namespace lexirow::text {

/// What a pair of tokens becomes.
struct PairMerge {
  static constexpr std::int32_t kNone = INT32_MAX;
  std::int32_t rank = kNone;  ///< lower is done sooner; kNone: the pair is not merged
  Id result = kNoId;
};

/// Pairs of ids to merges: open addressing with linear probing, at most half full.
class PairTable {
 public:
  explicit PairTable(std::size_t pairs) {
    std::size_t size = 16;
    while (size < 2 * pairs) size *= 2;
    slots_.resize(static_cast<std::int64_t>(size));
    slots_.fill({});
    mask_ = size - 1;
  }

  /// Ids are 0 or above. The last merge of a pair is the one that counts.
  void set(Id left, Id right, PairMerge merge) {
    const std::uint64_t key = key_of(left, right);
    std::size_t at = slot_of(key);
    Slot* const slots = slots_.data();
    while (slots[at].key != key && slots[at].key != kFree) at = (at + 1) & mask_;
    slots[at] = {key, merge};
  }

  PairMerge find(Id left, Id right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t at = slot_of(key);; at = (at + 1) & mask_) {
      const Slot& slot = slots_.data()[at];
      if (slot.key == key) return slot.merge;
      if (slot.key == kFree) return {};
    }
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};  // no pair of ids that are not negative
  struct Slot {
    std::uint64_t key = kFree;
    PairMerge merge;
  };

  static std::uint64_t key_of(Id left, Id right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
           static_cast<std::uint32_t>(right);
  }
  std::size_t slot_of(std::uint64_t key) const {
    const std::uint64_t mixed = key * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32)) & mask_;
  }

  base::Array<Slot> slots_;  // on huge pages from 50000 pairs on
  std::size_t mask_ = 0;
};

}  // namespace lexirow::text
