#include "text/bpe_merging.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <queue>
#include <unordered_map>

#include "lexirow/error.h"

namespace lexirow::text {
namespace {

constexpr std::size_t kShort = 48;

/// Few symbols: the best pair is looked for anew each time, which beats any clever order.
std::size_t merge_short(const PairTable& pairs, ModelToken* symbols, std::size_t count) {
  std::array<PairMerge, kShort> merges;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    merges[i] = pairs.find(symbols[i].id, symbols[i + 1].id);
  }
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == PairMerge::kNone) break;
    symbols[best].id = merges[best].result;
    symbols[best].length += symbols[best + 1].length;
    --count;
    std::memmove(symbols + best + 1, symbols + best + 2, (count - best - 1) * sizeof(ModelToken));
    if (best + 1 < count) {
      std::memmove(merges.data() + best + 1, merges.data() + best + 2,
                   (count - best - 2) * sizeof(PairMerge));
      merges[best] = pairs.find(symbols[best].id, symbols[best + 1].id);
    }
    if (best > 0) merges[best - 1] = pairs.find(symbols[best - 1].id, symbols[best].id);
  }
  return count;
}

/// The places of one rank, lowest first. They are found nearly in order, so most need no heap.
template <typename Place>
class PlaceQueue {
 public:
  void add(Place place) {
    if (sorted_.empty() || place >= sorted_.back()) {
      sorted_.push_back(place);
    } else {
      late_.push(place);
    }
  }
  bool empty() const { return taken_ == sorted_.size() && late_.empty(); }
  Place take() {
    if (taken_ < sorted_.size() && (late_.empty() || sorted_[taken_] <= late_.top())) {
      return sorted_[taken_++];
    }
    const Place place = late_.top();
    late_.pop();
    return place;
  }

 private:
  std::vector<Place> sorted_;
  std::size_t taken_ = 0;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> late_;
};

/// Many symbols: a linked list, and for each rank the places where its pair stands. Ranks come in
/// order from a small queue. So each place is handled a few times whatever the length, where one
/// queue of all places would pay for its depth and its jumps through memory.
class LongMerging {
 public:
  using Place = std::uint32_t;

  LongMerging(const PairTable& pairs, ModelToken* symbols, std::size_t count)
      : pairs_(pairs), symbols_(symbols), count_(static_cast<Place>(count)) {
    next_.resize(count);
    previous_.resize(count);
    for (Place i = 0; i < count_; ++i) {
      next_[i] = i + 1;
      previous_[i] = i - 1;  // of the first: kEnd
    }
    for (Place i = 0; i + 1 < count_; ++i) note_pair(i);
  }

  /// The number of symbols left, moved together at the front.
  std::size_t run() {
    while (!ranks_.empty()) {
      const std::int32_t rank = ranks_.top();
      PlaceQueue<Place>& places = places_.at(rank);
      // A pair that just came to be may have a lower rank: it goes first.
      while (!places.empty() && ranks_.top() == rank) merge_at(places.take(), rank);
      if (ranks_.top() != rank) continue;
      ranks_.pop();
      places_.erase(rank);
    }
    Place kept = 0;
    for (Place i = 0; i < count_; i = next_[i]) symbols_[kept++] = symbols_[i];
    return kept;
  }

 private:
  static constexpr Place kEnd = UINT32_MAX;

  void note_pair(Place left) {
    const PairMerge merge = pairs_.find(symbols_[left].id, symbols_[next_[left]].id);
    if (merge.rank == PairMerge::kNone) return;
    const auto [found, fresh] = places_.try_emplace(merge.rank);
    if (fresh) ranks_.push(merge.rank);
    found->second.add(left);
  }

  /// Merges the pair at `left`, unless it is there no more.
  void merge_at(Place left, std::int32_t rank) {
    if (symbols_[left].id == kNoId) return;
    const Place right = next_[left];
    if (right >= count_) return;
    const PairMerge merge = pairs_.find(symbols_[left].id, symbols_[right].id);
    if (merge.rank != rank) return;
    symbols_[left].id = merge.result;
    symbols_[left].length += symbols_[right].length;
    symbols_[right].id = kNoId;
    next_[left] = next_[right];
    if (previous_[left] != kEnd) note_pair(previous_[left]);
    if (next_[left] < count_) {
      previous_[next_[left]] = left;
      note_pair(left);
    }
  }

  const PairTable& pairs_;
  ModelToken* symbols_;
  Place count_;
  std::vector<Place> next_;                                     // count_ behind the last
  std::vector<Place> previous_;                                 // kEnd before the first
  std::unordered_map<std::int32_t, PlaceQueue<Place>> places_;  // for each of ranks_
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ranks_;
};

}  // namespace

void merge_symbols(const PairTable& pairs, std::vector<ModelToken>& symbols, std::size_t first) {
  const std::size_t count = symbols.size() - first;
  if (count >= std::size_t{1} << 31) {
    throw Error(ErrorKind::argument,
                fmt::format("a pre-token of {} symbols is too long to be merged, expected less "
                            "than 2^31; cut the text into lines or files first",
                            count));
  }
  if (count < 2) return;
  ModelToken* const begin = symbols.data() + first;
  const std::size_t kept =
      count <= kShort ? merge_short(pairs, begin, count) : LongMerging(pairs, begin, count).run();
  symbols.resize(first + kept);
}

}  // namespace lexirow::text
