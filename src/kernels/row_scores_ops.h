#pragma once

#include <cstdint>

namespace lexirow::kernels {

/// For rows that stand one behind another: what a search needs of each, in one pass over them.
///   query    [dim]        in
///   table    [rows, dim]  in
///   dots     [rows]       out  sum of query[j] row[j]
///   squares  [rows]       out  sum of row[j]^2
/// Vector code chosen at run time; on one type of CPU the order of a sum depends on dim only. Four
/// running sums of each kind: no number is the sum of more than dim / 4 + 32 terms in a row.
void dots_and_squares(std::int64_t rows, std::int64_t dim, const float* query, const float* table,
                      float* dots, float* squares);

}  // namespace lexirow::kernels
