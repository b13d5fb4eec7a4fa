#include "inspect/pooling.h"

#include <algorithm>
#include <cmath>

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

bool is_finite(const float* values, std::int64_t count) {
  return std::all_of(values, values + count, [](float value) { return std::isfinite(value); });
}

}  // namespace

PooledText pool_ids(const store::Table& table, std::vector<Id> ids) {
  PooledText pooled;
  std::vector<float> row(static_cast<std::size_t>(table.dim()));
  if (table.tokenizer != nullptr) {
    const Id pad = pad_alone(table.tokenizer->specials());
    if (pad != kNoId) std::erase(ids, pad);
  }
  const auto is_broken = [&](Id id) {
    if (id < 0 || id >= table.row_count()) return false;  // mean_row names it
    table.rows->read(id, id + 1, row.data());
    return !is_finite(row.data(), table.dim());
  };
  pooled.non_finite = static_cast<std::int64_t>(std::erase_if(ids, is_broken));
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
  const auto left_out = [&]() {
    if (is_finite(vectors.data() + vectors.size() - dim, table.dim())) return false;
    vectors.resize(vectors.size() - dim);
    positions.pop_back();
    ++pooled.non_finite;
    return true;
  };
  text::for_each_word(text, text::WordSplit::space, [&](std::size_t begin, std::size_t end, bool) {
    const std::string_view word = text.substr(begin, end - begin);
    if (const auto id = table.find(word)) {
      table.rows->read(*id, *id + 1, add_part());
      if (!left_out()) pooled.rows.push_back(*id);
      return;
    }
    const auto grams =
        table.subwords == nullptr ? std::vector<std::int64_t>() : table.subwords->parts(word, -1);
    if (grams.empty()) {
      pooled.unknown.emplace_back(word);
    } else {
      table.subwords->mean(grams, add_part());
      left_out();
    }
  });
  pooled.parts = static_cast<std::int64_t>(positions.size());
  pooled.vector = mean_row({vectors.data(), {pooled.parts, table.dim()}}, positions);
  return pooled;
}

}  // namespace lexirow::inspect
