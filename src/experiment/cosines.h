#pragma once

#include <string>
#include <vector>

#include "base/real.h"
#include "base/types.h"
#include "base/view.h"
#include "experiment/outcome.h"
#include "experiment/tiny_text.h"

namespace lexirow::experiment {

/// The cosine of every pair of some rows, and their distances.
struct RowPairs {
  std::vector<Id> ids;
  std::vector<double> cosines;    ///< [n, n]; NaN where a row has no direction
  std::vector<double> distances;  ///< [n, n] Euclidean

  std::size_t size() const { return ids.size(); }
  double cosine(std::size_t i, std::size_t j) const { return cosines[i * size() + j]; }
  double distance(std::size_t i, std::size_t j) const { return distances[i * size() + j]; }
};

/// Throws: nothing. Cost: n^2 D operations.
///   table  [V, D]  in
template <Real T>
RowPairs compare_rows(base::View2<const T> table, const std::vector<Id>& ids);

/// The `k` nearest of the rows to row i, the nearest first, ties by place; itself and rows without
/// a direction left out.
std::vector<std::size_t> nearest_by_cosine(const RowPairs& pairs, std::size_t i, std::size_t k);
std::vector<std::size_t> nearest_by_distance(const RowPairs& pairs, std::size_t i, std::size_t k);

/// The cosines of the first `count` rows as a picture.
HeatMap cosine_map(const std::string& title, const TextIds& text, const RowPairs& pairs,
                   std::size_t count);

}  // namespace lexirow::experiment
