#include "text/token_index.h"

#include <functional>
#include <utility>

namespace lexirow::text {
namespace {

std::uint64_t hash_of(std::string_view spelling) {
  return std::hash<std::string_view>{}(spelling);
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
