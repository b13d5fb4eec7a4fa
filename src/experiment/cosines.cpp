#include "experiment/cosines.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "inspect/neighbours.h"

namespace lexirow::experiment {
namespace {

/// The places that `usable` takes, by rising `measure`.
std::vector<std::size_t> nearest(const RowPairs& pairs, std::size_t i, std::size_t k,
                                 const std::function<double(std::size_t)>& measure) {
  std::vector<std::size_t> places;
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    if (j != i && std::isfinite(pairs.cosine(i, j))) places.push_back(j);
  }
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return measure(a) < measure(b); });
  places.resize(std::min(k, places.size()));
  return places;
}

}  // namespace

template <Real T>
RowPairs compare_rows(base::View2<const T> table, const std::vector<Id>& ids) {
  RowPairs pairs{ids, {}, {}};
  for (Id a : ids) {
    for (Id b : ids) {
      const inspect::Similarity s = inspect::similarity(table[a], table[b]);
      pairs.cosines.push_back(s.cosine.value_or(std::numeric_limits<double>::quiet_NaN()));
      pairs.distances.push_back(s.euclidean);
    }
  }
  return pairs;
}

std::vector<std::size_t> nearest_by_cosine(const RowPairs& pairs, std::size_t i, std::size_t k) {
  return nearest(pairs, i, k, [&](std::size_t j) { return -pairs.cosine(i, j); });
}

std::vector<std::size_t> nearest_by_distance(const RowPairs& pairs, std::size_t i, std::size_t k) {
  return nearest(pairs, i, k, [&](std::size_t j) { return pairs.distance(i, j); });
}

HeatMap cosine_map(const std::string& title, const TextIds& text, const RowPairs& pairs,
                   std::size_t count) {
  HeatMap map{title, "", "", {}, {}, {}, -1, 1, "cosine"};
  count = std::min(count, pairs.size());
  for (std::size_t i = 0; i < count; ++i) {
    map.rows.push_back(text.spelling(pairs.ids[i]));
    for (std::size_t j = 0; j < count; ++j) map.values.push_back(pairs.cosine(i, j));
  }
  map.columns = map.rows;
  return map;
}

template RowPairs compare_rows(base::View2<const float>, const std::vector<Id>&);
template RowPairs compare_rows(base::View2<const double>, const std::vector<Id>&);

}  // namespace lexirow::experiment
