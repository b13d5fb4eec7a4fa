#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "files/row_source.h"
#include "inspect/row_figures.h"

namespace lexirow::inspect {

/// Rows nearer to each other than this share of the larger length count as nearly the same.
inline constexpr double kNearlySame = 1e-3;
/// Where others lie within so many times that share too, the rows are a crowd and no copies.
inline constexpr double kCrowd = 4;
/// In fewer dimensions rows come that near by chance, so only equal ones are looked for.
inline constexpr std::int64_t kLeastDim = 4;

/// Groups of rows that are alike, each ascending, by their first row.
struct AlikeRows {
  std::vector<std::vector<std::int64_t>> equal;   ///< all values the same; -0 is 0
  std::vector<std::vector<std::int64_t>> nearly;  ///< of rows that are not equal to an earlier one
  std::vector<std::int64_t> crowded;              ///< nearly the same as another, in a crowd
  bool complete = true;                           ///< false: the search was cut, see alike_rows()
};

/// Finds them among the rows that are finite and not zero. Equal rows are told by a fingerprint of
/// 64 bits and compared. For the others: vectors nearer than kNearlySame have directions and
/// projections as near, so rows are sorted by two projections, those that are near in all sixteen
/// are compared in double. Copies stand apart: near rows with others hardly farther, as in a table
/// that was hardly trained, are a crowd. A table whose rows nearly all point one way would leave
/// too many open: after a fixed number of comparisons the search ends, incomplete.
AlikeRows alike_rows(base::ThreadPool& pool, const files::RowSource& table,
                     const RowFigures& figures);

}  // namespace lexirow::inspect
