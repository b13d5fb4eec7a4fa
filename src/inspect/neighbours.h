#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "text/tokenizer.h"

namespace lexirow::inspect {

/// Similarity of two vectors. `cosine` is empty with a reason where it is undefined.
struct Similarity {
  double dot = 0;
  std::optional<double> cosine;  ///< clamped to [-1, 1]
  double euclidean = 0;
  double norm_a = 0, norm_b = 0;
  std::string reason;
};

/// Throws Error(shape) for different lengths.
Similarity similarity(base::View1<const float> a, base::View1<const float> b);
Similarity similarity(base::View1<const double> a, base::View1<const double> b);

/// One of the nearest rows.
struct Neighbour {
  Id id = kNoId;
  double cosine = 0;
  double distance = 0;  ///< Euclidean
};

struct Neighbours {
  std::vector<Neighbour> nearest;   ///< by falling cosine, ties by id
  std::int64_t zero_rows = 0;       ///< left out: no direction
  std::int64_t non_finite_rows = 0; ///< left out
};

/// Exact nearest rows by cosine over the full space. `left_out` ids are not listed (the query
/// itself). Throws Error(numeric) when the query has no direction.
///   table  [V, D]  in
///   query  [D]     in
Neighbours nearest_rows(base::ThreadPool& pool, base::View2<const float> table,
                        base::View1<const float> query, std::int64_t k,
                        const std::vector<Id>& left_out);

/// Known tokens spelt most like `token` (edit distance on code points, case ignored first).
std::vector<std::string> close_spellings(const text::Tokenizer& tokenizer, std::string_view token,
                                         std::size_t count);

}  // namespace lexirow::inspect
