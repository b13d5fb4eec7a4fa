#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "store/table.h"

namespace lexirow::inspect {

/// A text as one vector: the mean of the rows of its tokens, which is what near --text, similar
/// --text and embed show.
struct PooledText {
  std::vector<Id> rows;       ///< that were looked up, in order
  std::int64_t parts = 0;     ///< vectors that the mean is of: rows, and words made of n-grams
  std::vector<float> vector;  ///< [dim]; zeros where there is no part
  std::vector<std::string> unknown{};  ///< words that have neither
  std::int64_t non_finite = 0;         ///< vectors with a NaN or an infinity, which were left out
};

/// The mean of the rows of ids that a tokenizer gave. Rows that are not finite and pads are left
/// out of sum and divisor; an id that pads and has another role too is none. Throws Error(index)
/// for an id without a row.
PooledText pool_ids(const store::Table& table, std::vector<Id> ids);

/// A text for a table of words, cut at white space. Of a fastText model unseen words are made of
/// their n-grams; others are left out and listed.
PooledText pool_words(const store::Table& table, std::string_view text);

}  // namespace lexirow::inspect
