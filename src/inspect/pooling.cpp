#include "inspect/pooling.h"

#include <algorithm>

#include "inspect/neighbours.h"
#include "text/word_split.h"

namespace lexirow::inspect {

namespace {

// The id that pads and does nothing else.
Id pad_alone(const text::SpecialTokens& specials) {
  const bool shared =
      specials.pad == specials.unk || specials.pad == specials.bos || specials.pad == specials.eos;
  return shared ? kNoId : specials.pad;
}

}  // namespace

PooledText pool_ids(const store::Table& table, std::vector<Id> ids) {
  PooledText pooled;
  if (table.tokenizer != nullptr) {
    const Id pad = pad_alone(table.tokenizer->specials());
    if (pad != kNoId) std::erase(ids, pad);
  }
  pooled.vector = mean_row(*table.rows, ids);
  pooled.parts = static_cast<std::int64_t>(ids.size());
  pooled.rows = std::move(ids);
  return pooled;
}

PooledText pool_words(const store::Table& table, std::string_view text) {
  PooledText pooled;
  const auto dim = static_cast<std::size_t>(table.dim());
  // A word may be made of n-grams, so vectors are averaged, not rows.
  std::vector<float> vectors;
  std::vector<Id> positions;
  const auto add_part = [&]() -> float* {
    positions.push_back(static_cast<Id>(positions.size()));
    vectors.resize(vectors.size() + dim);
    return vectors.data() + vectors.size() - dim;
  };
  text::for_each_word(text, text::WordSplit::space, [&](std::size_t begin, std::size_t end, bool) {
    const std::string_view word = text.substr(begin, end - begin);
    if (const auto id = table.find(word)) {
      table.rows->read(*id, *id + 1, add_part());
      pooled.rows.push_back(*id);
      return;
    }
    const auto grams =
        table.subwords == nullptr ? std::vector<std::int64_t>() : table.subwords->parts(word, -1);
    if (grams.empty()) {
      pooled.unknown.emplace_back(word);
    } else {
      table.subwords->mean(grams, add_part());
    }
  });
  pooled.parts = static_cast<std::int64_t>(positions.size());
  pooled.vector = mean_row({vectors.data(), {pooled.parts, table.dim()}}, positions);
  return pooled;
}

}  // namespace lexirow::inspect
