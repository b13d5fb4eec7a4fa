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

#include "base/types.h"

namespace lexirow::text {

/// Ids of short pre-tokens that were met before. A fixed table: a new entry takes the place of an
/// old one, so that memory is bounded. Not for several threads at once.
class PieceCache {
 public:
  static constexpr std::size_t kLongest = 15;  ///< bytes of a pre-token that can be held
  static constexpr std::size_t kMost = 3;      ///< ids that can be held for one

  /// A pre-token as two words: its bytes, zeros, and its length in the last byte.
  struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::array<Id, kMost> ids{};
    std::uint32_t count = 0;  ///< 0: nothing is held
  };

  PieceCache() : entries_(kEntries) {}

  /// The key of text[at, at + length), length 1 to kLongest.
  static Key key_of(std::string_view text, std::size_t at, std::size_t length) {
    Key key;
    if (std::endian::native == std::endian::little && at + sizeof(Key) <= text.size()) {
      // Whole words are read; what follows the pre-token is shifted out.
      std::memcpy(&key, text.data() + at, sizeof(Key));
      const auto bits = static_cast<unsigned>(8 * length);
      key.low &= length < 8 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
      key.high &= length > 8 ? (std::uint64_t{1} << (bits - 64)) - 1 : 0;
    } else {
      std::memcpy(&key, text.data() + at, length);
    }
    key.high |= static_cast<std::uint64_t>(length) << 56;
    return key;
  }

  /// The entry for a key: with count 0 or another key it is free to be overwritten.
  Entry& entry(const Key& key) {
    const std::uint64_t mixed =
        (key.low ^ std::rotl(key.high, 29)) * 0x9E3779B97F4A7C15u ^ key.high;
    return entries_[static_cast<std::size_t>((mixed * 0xD6E8FEB86659FD93u) >> (64 - kBits))];
  }

 private:
  static constexpr unsigned kBits = 16;
  static constexpr std::size_t kEntries = std::size_t{1} << kBits;  // 2 MiB of entries

  std::vector<Entry> entries_;
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
