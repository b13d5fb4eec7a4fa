#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"

namespace lexirow::inspect {

/// Similarity of two vectors. `cosine` is empty with a reason where it is undefined.
struct Similarity {
  double dot = 0;
  std::optional<double> cosine;  ///< clamped to [-1, 1]; exactly 1 for equal vectors
  double euclidean = 0;
  double norm_a = 0, norm_b = 0;
  std::string reason;  ///< begins with "no direction" (a zero vector) or "not finite"
};

/// All sums in double. Throws Error(shape) for different lengths.
///   a, b  [D]  in
Similarity similarity(base::View1<const float> a, base::View1<const float> b);
Similarity similarity(base::View1<const double> a, base::View1<const double> b);

/// One of the nearest rows.
struct Neighbour {
  Id id = kNoId;
  double cosine = 0;    ///< that of similarity(query, row)
  double distance = 0;  ///< Euclidean
};

struct Neighbours {
  std::vector<Neighbour> nearest;    ///< by falling cosine, ties by id
  std::int64_t zero_rows = 0;        ///< left out: no direction
  std::int64_t non_finite_rows = 0;  ///< left out
};

/// Exact nearest rows by cosine over the full space. `left_out` ids are not listed (the query
/// itself); ids that name no row there are ignored. Rows beyond a tokenizer are left out by giving
/// a view of fewer rows. Throws Error(numeric) when the query has no direction, Error(shape) when
/// its length is not D, Error(argument) for k below 1.
///   table  [V, D]  in
///   query  [D]     in
/// Cost: 4*V*D operations in double, plus O(V) to select.
Neighbours nearest_rows(base::ThreadPool& pool, base::View2<const float> table,
                        base::View1<const float> query, std::int64_t k,
                        const std::vector<Id>& left_out);

/// The mean of the rows that the ids name, summed in double: a text as one vector. Zeros for no
/// ids. Throws Error(index) naming position, id and number of rows.
///   table  [V, D]  in
///   returns [D]
std::vector<float> mean_row(base::View2<const float> table, std::span<const Id> ids);

}  // namespace lexirow::inspect
