#pragma once

#include <vector>

#include "text/pair_table.h"
#include "text/token_model.h"

namespace lexirow::text {

/// Merges the symbols from `first` on in place, until no pair is left that `pairs` knows: always
/// the pair of the lowest rank, of equal ones the leftmost. Time is about linear in their number;
/// nothing recurses. Throws Error(argument) for 2^31 symbols or more.
///   symbols  in, out   ids with the bytes that they stand for
void merge_symbols(const PairTable& pairs, std::vector<ModelToken>& symbols, std::size_t first);

}  // namespace lexirow::text
