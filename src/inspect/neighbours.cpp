#include "inspect/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lexirow/error.h"

namespace lexirow::inspect {

namespace {

// The one sum of products behind every figure of this folder, so that a listed cosine is bit for
// bit the cosine of the two vectors. Eight running sums let the compiler use vector code; their
// order depends on the length only.
template <typename T>
double sum_of_products(std::int64_t size, const T* a, const T* b) {
  constexpr std::int64_t kLanes = 8;
  double sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::int64_t j = 0; j < kLanes; ++j) {
      sums[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
    }
  }
  for (std::int64_t j = 0; i < size; ++i, ++j) {
    sums[j] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

// sqrt(x * x) is x exactly, so equal vectors have cosine 1 exactly.
double cosine_of(double dot, double square_a, double square_b) {
  return std::clamp(dot / std::sqrt(square_a * square_b), -1.0, 1.0);
}

template <typename T>
bool all_finite(base::View1<const T> values) {
  return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

// Sums of two vectors that were multiplied by 2^-exponent_a and 2^-exponent_b.
template <typename T>
Similarity similarity_of(base::View1<const T> a, base::View1<const T> b, int exponent_a,
                         int exponent_b) {
  const std::int64_t size = a.size();
  const double dot = sum_of_products(size, a.data(), b.data());
  const double square_a = sum_of_products(size, a.data(), a.data());
  const double square_b = sum_of_products(size, b.data(), b.data());
  Similarity result;
  result.dot = std::ldexp(dot, exponent_a + exponent_b);
  result.norm_a = std::ldexp(std::sqrt(square_a), exponent_a);
  result.norm_b = std::ldexp(std::sqrt(square_b), exponent_b);
  const int exponent = std::max(exponent_a, exponent_b);
  double squares = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const double difference = std::ldexp(static_cast<double>(a[i]), exponent_a - exponent) -
                              std::ldexp(static_cast<double>(b[i]), exponent_b - exponent);
    squares += difference * difference;
  }
  result.euclidean = std::ldexp(std::sqrt(squares), exponent);
  if (square_a == 0 || square_b == 0) {
    const char* which = square_a != 0   ? "the second vector is zero"
                        : square_b != 0 ? "the first vector is zero"
                                        : "both vectors are zero";
    result.reason = fmt::format("no direction: {}", which);
  } else {
    result.cosine = cosine_of(dot, square_a, square_b);
  }
  return result;
}

template <typename T>
void require_equal_lengths(base::View1<const T> a, base::View1<const T> b) {
  if (a.size() == b.size()) return;
  throw Error(
      ErrorKind::shape,
      fmt::format("similarity: the vectors have {} and {} numbers; only vectors of one length "
                  "can be compared",
                  a.size(), b.size()));
}

// What is still told of vectors that hold an infinity or a NaN.
template <typename T>
Similarity non_finite_similarity(base::View1<const T> a, base::View1<const T> b) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Similarity result{kNan, std::nullopt, kNan, kNan, kNan, ""};
  const bool finite_a = all_finite(a);
  const bool finite_b = all_finite(b);
  if (finite_a) result.norm_a = similarity(a, a).norm_a;
  if (finite_b) result.norm_b = similarity(b, b).norm_b;
  const char* which = finite_a   ? "the second vector holds"
                      : finite_b ? "the first vector holds"
                                 : "both vectors hold";
  result.reason = fmt::format("not finite: {} an infinity or a NaN", which);
  return result;
}

// The vector over a power of two that brings its largest value near 1: squares of doubles could
// overflow or vanish.
int scaled(base::View1<const double> values, std::vector<double>& out) {
  double largest = 0;
  for (double value : values) largest = std::max(largest, std::abs(value));
  int exponent = 0;
  std::frexp(largest, &exponent);
  out.resize(static_cast<std::size_t>(values.size()));
  std::transform(values.begin(), values.end(), out.begin(),
                 [&](double value) { return std::ldexp(value, -exponent); });
  return exponent;
}

// Squares of finite floats never overflow in double: a square that is not finite is a row that is
// not. Both kinds of row without a direction are marked by infinities, which no cosine is.
constexpr double kZeroRow = std::numeric_limits<double>::infinity();
constexpr double kNonFiniteRow = -std::numeric_limits<double>::infinity();

// The cosine of every row with the query, or a mark.
std::vector<double> row_cosines(base::ThreadPool& pool, base::View2<const float> table,
                                base::View1<const float> query, double square_query) {
  constexpr std::int64_t kGrain = 256;
  const std::int64_t dim = table.extent(1);
  std::vector<double> cosines(static_cast<std::size_t>(table.extent(0)));
  pool.parallel_ranges(table.extent(0), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float* row = table.data() + i * dim;
      const double square = sum_of_products(dim, row, row);
      double& cosine = cosines[static_cast<std::size_t>(i)];
      if (square == 0) {
        cosine = kZeroRow;
      } else if (!std::isfinite(square)) {
        cosine = kNonFiniteRow;
      } else {
        cosine = cosine_of(sum_of_products(dim, query.data(), row), square_query, square);
      }
    }
  });
  return cosines;
}

}  // namespace

Similarity similarity(base::View1<const float> a, base::View1<const float> b) {
  require_equal_lengths(a, b);
  if (!all_finite(a) || !all_finite(b)) return non_finite_similarity(a, b);
  return similarity_of(a, b, 0, 0);
}

Similarity similarity(base::View1<const double> a, base::View1<const double> b) {
  require_equal_lengths(a, b);
  if (!all_finite(a) || !all_finite(b)) return non_finite_similarity(a, b);
  std::vector<double> scaled_a;
  std::vector<double> scaled_b;
  const int exponent_a = scaled(a, scaled_a);
  const int exponent_b = scaled(b, scaled_b);
  return similarity_of<double>({scaled_a.data(), a.extents()}, {scaled_b.data(), b.extents()},
                               exponent_a, exponent_b);
}

Neighbours nearest_rows(base::ThreadPool& pool, base::View2<const float> table,
                        base::View1<const float> query, std::int64_t k,
                        const std::vector<Id>& left_out) {
  const std::int64_t rows = table.extent(0);
  const std::int64_t dim = table.extent(1);
  if (k < 1) {
    throw Error(
        ErrorKind::argument,
        fmt::format("nearest rows: k is {}, expected 1 or more; it is how many are listed", k));
  }
  if (query.size() != dim) {
    throw Error(ErrorKind::shape,
                fmt::format("nearest rows: the query has {} numbers, but the rows have {}",
                            query.size(), dim));
  }
  const double square_query = sum_of_products(dim, query.data(), query.data());
  if (square_query == 0 || !std::isfinite(square_query)) {
    throw Error(ErrorKind::numeric,
                fmt::format("nearest rows: the query has no direction, {}; choose another token",
                            square_query == 0 ? "it is zero" : "it holds an infinity or a NaN"));
  }
  std::vector<double> cosines = row_cosines(pool, table, query, square_query);
  Neighbours result;
  result.zero_rows = std::count(cosines.begin(), cosines.end(), kZeroRow);
  result.non_finite_rows = std::count(cosines.begin(), cosines.end(), kNonFiniteRow);
  for (Id id : left_out) {
    if (id >= 0 && id < rows) cosines[static_cast<std::size_t>(id)] = kZeroRow;
  }
  std::vector<Id> ids;
  ids.reserve(cosines.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    if (std::isfinite(cosines[static_cast<std::size_t>(i)])) ids.push_back(static_cast<Id>(i));
  }
  const std::int64_t listed = std::min(k, static_cast<std::int64_t>(ids.size()));
  std::partial_sort(ids.begin(), ids.begin() + listed, ids.end(), [&](Id a, Id b) {
    const double left = cosines[static_cast<std::size_t>(a)];
    const double right = cosines[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  });
  for (std::int64_t i = 0; i < listed; ++i) {
    const Id id = ids[static_cast<std::size_t>(i)];
    const double distance = similarity(query, table[id]).euclidean;
    result.nearest.push_back({id, cosines[static_cast<std::size_t>(id)], distance});
  }
  return result;
}

std::vector<float> mean_row(base::View2<const float> table, std::span<const Id> ids) {
  const std::int64_t rows = table.extent(0);
  const std::int64_t dim = table.extent(1);
  std::vector<double> sums(static_cast<std::size_t>(dim), 0.0);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= rows) {
      throw Error(ErrorKind::index,
                  fmt::format("mean of rows: position {} has id {}, but the table has {} rows", i,
                              ids[i], rows));
    }
    const float* row = table.data() + static_cast<std::int64_t>(ids[i]) * dim;
    for (std::int64_t j = 0; j < dim; ++j) sums[static_cast<std::size_t>(j)] += row[j];
  }
  const double count = std::max<double>(1, static_cast<double>(ids.size()));
  std::vector<float> mean(sums.size());
  std::transform(sums.begin(), sums.end(), mean.begin(),
                 [&](double sum) { return static_cast<float>(sum / count); });
  return mean;
}

}  // namespace lexirow::inspect
