#include "text/token_index.h"

#include <bit>
#include <cstring>
#include <utility>

namespace lexirow::text {
namespace {

std::uint64_t load(const char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, count);
  return value;
}

/// Of eight bytes at a time, the last eight over those before; most tokens are a step or two.
std::uint64_t hash_of(std::string_view spelling) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const char* const bytes = spelling.data();
  const std::size_t size = spelling.size();
  std::uint64_t hash = size * kOdd;
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * kOdd;
    hash ^= hash >> 32;
  };
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) mix(load(bytes + at, 8));
    mix(load(bytes + size - 8, 8));
  } else if (size >= 4) {
    mix(load(bytes, 4) | load(bytes + size - 4, 4) << 32);
  } else if (size > 0) {
    mix(load(bytes, 1) | load(bytes + size / 2, 1) << 8 | load(bytes + size - 1, 1) << 16);
  }
  // The upper half of a product depends on all bits, and the lower half of a hash names the slot.
  return std::rotl(hash * kOdd, 32);
}

constexpr std::uint64_t kUpper = ~std::uint64_t{0} << 32;

}  // namespace

TokenIndex::TokenIndex(const std::vector<std::string>& spellings)
    : TokenIndex(StringList(spellings)) {}

TokenIndex::TokenIndex(StringList spellings) : spellings_(std::move(spellings)) {
  std::size_t size = 16;
  while (size < 2 * spellings_.size()) size *= 2;
  slots_.resize(size, kFree);
  for (std::size_t id = 0; id < spellings_.size(); ++id) {
    if (spellings_[id].empty()) continue;
    std::uint64_t& slot = slots_[place_of(spellings_[id])];
    if (slot != kFree) continue;
    slot = (hash_of(spellings_[id]) & kUpper) | (id + 1);
    ++distinct_;
  }
}

std::size_t TokenIndex::place_of(std::string_view spelling) const {
  const std::uint64_t hash = hash_of(spelling);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const std::uint64_t slot = slots_[at];
    if (slot == kFree) return at;
    if (((slot ^ hash) & kUpper) != 0) continue;
    if (spellings_[static_cast<std::size_t>(id_of(slot))] == spelling) return at;
  }
}

}  // namespace lexirow::text
