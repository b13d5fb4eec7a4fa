#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "files/row_source.h"
#include "inspect/similarity.h"

namespace lexirow::inspect {

/// What makes a row near: the largest cosine, the largest dot product or the smallest distance.
enum class Metric { cosine, dot, euclidean };

/// One of the nearest rows. All figures are those of similarity(query, row).
struct Neighbour {
  Id id = kNoId;
  double cosine = 0;
  double distance = 0;  ///< Euclidean
  double dot = 0;
};

struct Neighbours {
  std::vector<Neighbour> nearest;    ///< the nearest first, ties by id
  std::int64_t zero_rows = 0;        ///< left out: no direction
  std::int64_t non_finite_rows = 0;  ///< left out
};

/// Exact nearest rows over the full space. `left_out` ids are not listed (the query itself); ids
/// that name no row there are ignored. Rows beyond a tokenizer are left out by giving fewer rows.
/// Throws Error(numeric) when the query has no direction, Error(shape) when its length is not D,
/// Error(argument) for k below 1.
///   table  [V, D]  in
///   query  [D]     in
/// Cost: one pass over the rows in float32, with limits on its error; only the rows that these
/// leave open are computed again in double.
Neighbours nearest_rows(base::ThreadPool& pool, const files::RowSource& table,
                        base::View1<const float> query, std::int64_t k,
                        const std::vector<Id>& left_out, Metric metric = Metric::cosine);
Neighbours nearest_rows(base::ThreadPool& pool, base::View2<const float> table,
                        base::View1<const float> query, std::int64_t k,
                        const std::vector<Id>& left_out, Metric metric = Metric::cosine);

/// The mean of the rows that the ids name, summed in double: a text as one vector. Zeros for no
/// ids. Throws Error(index) naming position, id and number of rows.
///   table  [V, D]  in
///   returns [D]
std::vector<float> mean_row(const files::RowSource& table, std::span<const Id> ids);
std::vector<float> mean_row(base::View2<const float> table, std::span<const Id> ids);

/// One vector of an analogy and the sign it is taken with.
struct SignedVector {
  std::vector<float> values;
  double sign = 1;
};

/// The sum of vectors, each brought to length 1 first, as gensim does: king - man + woman. Throws
/// Error(numeric) for a vector without a direction, Error(shape) for different lengths.
std::vector<float> signed_sum(const std::vector<SignedVector>& vectors);

}  // namespace lexirow::inspect
