#include "inspect/similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "inspect/sum_of_products.h"
#include "lexirow/error.h"

namespace lexirow::inspect {

namespace {

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

}  // namespace lexirow::inspect
