#include "text/bpe_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "lexirow/error.h"
#include "text/byte_letters.h"
#include "text/corpus.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

/// The bytes in the order of their letters.
std::array<unsigned char, kByteTokens> bytes_by_letter() {
  std::array<unsigned char, kByteTokens> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
  std::sort(bytes.begin(), bytes.end(),
            [](unsigned char a, unsigned char b) { return byte_letter(a) < byte_letter(b); });
  return bytes;
}

/// All words as one chain of symbols, and for each pair its count and the
/// places where it stands. A merge walks the places of its pair and corrects
/// the counts beside them.
class Learning {
 public:
  Learning(const WordMap<std::int64_t>& words, LearnedBpe& learned);

  /// Merges the most frequent pair; false when none is left.
  bool step();

 private:
  using Place = std::uint32_t;
  static constexpr Place kEnd = std::numeric_limits<Place>::max();

  struct Pair {
    Id left, right;
    std::int64_t count = 0;
    std::int64_t wished = 0;    // the count it has in the queue, never less than `count`
    bool grown = false;         // stands in grown_
    bool listed = false;        // as a merge
    std::vector<Place> places;  // of left symbols, some no longer true
  };
  struct Wish {
    std::int64_t count;
    Id left, right;
    std::size_t pair;
    bool operator<(const Wish& other) const {  // the top of the queue is the largest
      if (count != other.count) return count < other.count;
      return std::pair(left, right) > std::pair(other.left, other.right);
    }
  };

  void add_word(std::string_view word, std::int64_t count, const std::array<Id, kByteTokens>& ids);
  std::size_t pair_of(Id left, Id right);
  void count_pair(Place left, std::int64_t count);
  void note_pair(Place left, std::int64_t count);
  Id token_of(const Pair& pair);
  void merge_all(std::size_t number);
  void merge_at(Place left, Id result);
  void wish_for_grown();

  LearnedBpe& learned_;
  WordMap<Id> ids_;              // by spelling
  std::vector<Id> symbols_;      // kNoId where a symbol was merged into the one before
  std::vector<Place> next_;      // kEnd behind the last symbol of a word
  std::vector<Place> previous_;  // kEnd before the first
  std::vector<std::uint32_t> word_of_;
  std::vector<std::int64_t> word_counts_;
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint64_t, std::size_t> pair_ids_;
  std::vector<std::size_t> grown_;  // pairs that became more frequent since the last wishes
  std::priority_queue<Wish> wishes_;
};

Learning::Learning(const WordMap<std::int64_t>& words, LearnedBpe& learned) : learned_(learned) {
  std::array<Id, kByteTokens> ids{};
  for (const unsigned char byte : bytes_by_letter()) {
    ids[byte] = static_cast<Id>(learned_.tokens.size());
    std::string& letter = learned_.tokens.emplace_back();
    append_utf8(letter, byte_letter(byte));
    ids_.emplace(letter, ids[byte]);
  }
  // Places follow the order of the words, which must not be that of a hash
  // table.
  std::vector<const WordMap<std::int64_t>::value_type*> sorted;
  sorted.reserve(words.size());
  std::size_t bytes = 0;
  for (const auto& entry : words) {
    sorted.push_back(&entry);
    bytes += entry.first.size();
  }
  if (bytes >= kEnd) {
    throw Error(ErrorKind::argument,
                fmt::format("the distinct pre-tokens have {} bytes, expected less than 2^32; "
                            "learn from a part of the text",
                            bytes));
  }
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->first < b->first; });
  symbols_.reserve(bytes);
  next_.reserve(bytes);
  previous_.reserve(bytes);
  word_of_.reserve(bytes);
  for (const auto* entry : sorted) add_word(entry->first, entry->second, ids);
  wish_for_grown();
}

void Learning::add_word(std::string_view word, std::int64_t count,
                        const std::array<Id, kByteTokens>& ids) {
  const auto number = static_cast<std::uint32_t>(word_counts_.size());
  word_counts_.push_back(count);
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto place = static_cast<Place>(symbols_.size());
    symbols_.push_back(ids[static_cast<unsigned char>(word[i])]);
    word_of_.push_back(number);
    previous_.push_back(i == 0 ? kEnd : place - 1);
    next_.push_back(i + 1 == word.size() ? kEnd : place + 1);
    if (i > 0) note_pair(place - 1, count);
  }
}

std::size_t Learning::pair_of(Id left, Id right) {
  const std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
                            static_cast<std::uint32_t>(right);
  const auto [found, fresh] = pair_ids_.try_emplace(key, pairs_.size());
  if (fresh) pairs_.push_back({.left = left, .right = right, .places = {}});
  return found->second;
}

/// Changes the count of the pair whose left symbol is at `left`.
void Learning::count_pair(Place left, std::int64_t count) {
  pairs_[pair_of(symbols_[left], symbols_[next_[left]])].count += count;
}

/// The same, and the pair stands there from now on.
void Learning::note_pair(Place left, std::int64_t count) {
  const std::size_t number = pair_of(symbols_[left], symbols_[next_[left]]);
  Pair& pair = pairs_[number];
  pair.count += count;
  pair.places.push_back(left);
  if (!pair.grown) grown_.push_back(number);
  pair.grown = true;
}

void Learning::wish_for_grown() {
  for (const std::size_t number : grown_) {
    Pair& pair = pairs_[number];
    pair.grown = false;
    if (pair.count <= pair.wished) continue;
    pair.wished = pair.count;
    wishes_.push({pair.count, pair.left, pair.right, number});
  }
  grown_.clear();
}

/// The token that a pair becomes; two pairs may spell the same one.
Id Learning::token_of(const Pair& pair) {
  const auto spelling = [this](Id id) { return learned_.tokens[static_cast<std::size_t>(id)]; };
  std::string token = spelling(pair.left) + spelling(pair.right);
  const auto [found, fresh] = ids_.try_emplace(token, static_cast<Id>(learned_.tokens.size()));
  if (fresh) learned_.tokens.push_back(std::move(token));
  return found->second;
}

void Learning::merge_at(Place left, Id result) {
  const std::int64_t count = word_counts_[word_of_[left]];
  const Place right = next_[left];
  const Place before = previous_[left];
  const Place behind = next_[right];
  count_pair(left, -count);
  if (before != kEnd) count_pair(before, -count);
  if (behind != kEnd) count_pair(right, -count);
  symbols_[left] = result;
  symbols_[right] = kNoId;
  next_[left] = behind;
  if (before != kEnd) note_pair(before, count);
  if (behind == kEnd) return;
  previous_[behind] = left;
  note_pair(left, count);
}

void Learning::merge_all(std::size_t number) {
  const Id left = pairs_[number].left;
  const Id right = pairs_[number].right;
  const Id result = token_of(pairs_[number]);
  // A pair may come back when another one makes one of its tokens too; it is
  // listed once.
  if (!pairs_[number].listed) {
    const auto rank = static_cast<std::int32_t>(learned_.merges.size());
    learned_.merges.push_back({left, right, result, rank});
  }
  pairs_[number].listed = true;
  std::vector<Place> places;
  places.swap(pairs_[number].places);
  // From left to right, so that of three equal symbols the first two become
  // one.
  std::sort(places.begin(), places.end());
  for (const Place place : places) {
    const bool stands =
        symbols_[place] == left && next_[place] != kEnd && symbols_[next_[place]] == right;
    if (stands) merge_at(place, result);
  }
  wish_for_grown();
}

bool Learning::step() {
  while (!wishes_.empty()) {
    const Wish wish = wishes_.top();
    wishes_.pop();
    Pair& pair = pairs_[wish.pair];
    if (wish.count != pair.wished) continue;  // a higher wish came before
    pair.wished = std::max<std::int64_t>(pair.count, 0);
    if (pair.count == wish.count && pair.count > 0) {
      pair.wished = 0;
      merge_all(wish.pair);
      return true;
    }
    if (pair.count > 0) wishes_.push({pair.count, pair.left, pair.right, wish.pair});
  }
  return false;
}

}  // namespace

LearnedBpe learn_bpe(const WordMap<std::int64_t>& words, std::int64_t vocab_size,
                     const std::atomic<bool>* stop) {
  if (vocab_size < kByteTokens) {
    throw Error(ErrorKind::argument,
                fmt::format("a byte-level BPE vocabulary of {} tokens: the 256 "
                            "bytes alone need "
                            "more; give at least {}",
                            vocab_size, kByteTokens));
  }
  LearnedBpe learned;
  Learning learning(words, learned);
  while (static_cast<std::int64_t>(learned.tokens.size()) < vocab_size && !learned.exhausted) {
    if (stop != nullptr && *stop) throw Stopped();
    learned.exhausted = !learning.step();
  }
  return learned;
}

}  // namespace lexirow::text
