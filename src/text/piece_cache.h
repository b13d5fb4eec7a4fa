#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array.h"
#include "base/types.h"

namespace lexirow::text {

/// Ids of short pre-tokens that were met before. A fixed table: a new entry takes the place of an
/// old one, so that memory is bounded. Not for several threads at once.
class PieceCache {
 public:
  static constexpr std::size_t kLongest = 15;  ///< bytes of a pre-token that can be held
  static constexpr std::size_t kMost = 4;      ///< ids that can be held for one

  /// A pre-token as two words: its bytes, zeros, and its length in the last byte.
  struct Key {
    std::uint64_t low;
    std::uint64_t high;
    std::size_t length() const { return static_cast<std::size_t>(high >> 56); }
    bool operator==(const Key& other) const {
      return ((low ^ other.low) | (high ^ other.high)) == 0;  // one branch, not two
    }
  };
  struct Entry {
    Key key;                    ///< zero: nothing is held
    std::array<Id, kMost> ids;  ///< kNoId behind the last
    std::size_t count() const {
      return 1 + static_cast<std::size_t>(ids[1] >= 0) + static_cast<std::size_t>(ids[2] >= 0) +
             static_cast<std::size_t>(ids[3] >= 0);
    }
  };

  PieceCache() {
    pairs_.resize(kPairs);
    std::fill_n(pairs_.data(), kPairs, Pair{});
  }

  /// The key of text[at, at + length), length 1 to kLongest.
  static Key key_of(std::string_view text, std::size_t at, std::size_t length) {
    Key key{};
    if (std::endian::native == std::endian::little && at + sizeof(Key) <= text.size()) {
      // Whole words are read; what follows the pre-token is shifted out.
      std::memcpy(&key, text.data() + at, sizeof(Key));
      key.low &= kMasks[length][0];
      key.high &= kMasks[length][1];
    } else {
      std::memcpy(&key, text.data() + at, length);
    }
    key.high |= static_cast<std::uint64_t>(length) << 56;
    return key;
  }

  /// Where a key has its place; the memory there is fetched.
  std::size_t slot_of(const Key& key) const {
    const std::uint64_t mixed =
        (key.low ^ std::rotl(key.high, 29)) * 0x9E3779B97F4A7C15u ^ key.high;
    const auto slot = static_cast<std::size_t>((mixed * 0xD6E8FEB86659FD93u) >> (64 - kBits));
    __builtin_prefetch(pairs_.data() + slot);
    return slot;
  }
  /// What is held for a key, or null.
  const Entry* find(std::size_t slot, const Key& key) const {
    const Pair& pair = pairs_.data()[slot];
    // Chosen without a branch: it would be guessed wrong, and that while the memory is waited for.
    const Entry& entry = pair.entries[pair.entries[0].key == key ? 0 : 1];
    return entry.key == key ? &entry : nullptr;
  }
  /// An entry to be filled: that which held the key's neighbour for longest is given up.
  Entry& make(std::size_t slot, const Key& key) {
    Pair& pair = pairs_.data()[slot];
    pair.entries[1] = pair.entries[0];
    pair.entries[0].key = key;
    return pair.entries[0];
  }

 private:
  /// A line of a processor's cache.
  struct alignas(64) Pair {
    std::array<Entry, 2> entries;  // the newer one first
  };
  static constexpr unsigned kBits = 16;
  static constexpr std::int64_t kPairs = std::int64_t{1} << kBits;  // 4 MiB

  /// The bytes of a key's first or second word that are a pre-token's, by its length.
  static constexpr auto kMasks = [] {
    std::array<std::array<std::uint64_t, 2>, kLongest + 1> masks{};
    for (std::size_t i = 0; i < kLongest; ++i) {
      masks[i + 1] = masks[i];
      masks[i + 1][i / 8] |= std::uint64_t{0xFF} << (i % 8 * 8);
    }
    return masks;
  }();

  base::Array<Pair> pairs_;
};

/// Caches that wait for the next encoding: a tokenizer is used by several threads, a cache by one.
class PieceCachePool {
 public:
  /// A cache for as long as the lease lives.
  class Lease {
   public:
    explicit Lease(PieceCachePool& pool) : pool_(pool), cache_(pool.take()) {}
    ~Lease() { pool_.give(std::move(cache_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    PieceCache& operator*() { return *cache_; }

   private:
    PieceCachePool& pool_;
    std::unique_ptr<PieceCache> cache_;
  };

 private:
  std::unique_ptr<PieceCache> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto cache = std::move(idle_.back());
        idle_.pop_back();
        return cache;
      }
    }
    return std::make_unique<PieceCache>();
  }
  void give(std::unique_ptr<PieceCache> cache) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(cache));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<PieceCache>> idle_;
};

}  // namespace lexirow::text
