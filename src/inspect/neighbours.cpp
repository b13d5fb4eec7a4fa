#include "inspect/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "inspect/sum_of_products.h"
#include "kernels/row_scores_ops.h"
#include "lexirow/error.h"

namespace lexirow::inspect {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A float32 sum of products errs by at most this much of the product of the lengths (Higham,
// "Accuracy and stability of numerical algorithms", 3.1), for as many terms in a row as
// kernels::dots_and_squares adds, and one more for each rounding around it.
double error_of(std::int64_t dim) {
  return static_cast<double>(dim / 4 + 40) * 0x1.0p-24;
}

// Squares of rows beyond these are not trusted in float32.
constexpr float kSmallSquare = 1e-24F;
constexpr float kLargeSquare = 1e30F;

// A score, larger is nearer, and how far it may be off.
struct Estimate {
  double score = 0;
  double slack = 0;
};

// The search for one query: a pass in float32 that keeps what each row's score can be at most, and
// a limit that k rows are sure to reach; then the rows that can reach it, in double.
class Search {
 public:
  Search(const files::RowSource& table, base::View1<const float> query, std::int64_t k,
         std::vector<Id> left_out, Metric metric)
      : table_(table),
        query_(query),
        k_(static_cast<std::size_t>(std::min(k, table.rows()))),
        left_out_(std::move(left_out)),
        metric_(metric),
        error_(error_of(table.dim())) {
    std::sort(left_out_.begin(), left_out_.end());
    square_ = sum_of_products(query.size(), query.data(), query.data());
    // A power of two brings the query's values near 1; only the score's scale changes.
    float largest = 0;
    for (float value : query) largest = std::max(largest, std::abs(value));
    std::frexp(largest, &exponent_);
    for (float value : query) scaled_.push_back(std::ldexp(value, -exponent_));
    norm_ = std::ldexp(std::sqrt(square_), -exponent_);
  }

  Neighbours run(base::ThreadPool& pool) {
    pass(pool);
    std::vector<Id> open = candidates();
    std::vector<Neighbour> exact(open.size());
    constexpr std::int64_t kGrain = 64;
    pool.parallel_ranges(static_cast<std::int64_t>(open.size()), kGrain,
                         [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t i = begin; i < end; ++i) {
                             const auto at = static_cast<std::size_t>(i);
                             exact[at] = exactly(open[at]);
                           }
                         });
    const std::size_t listed = std::min(k_, exact.size());
    std::partial_sort(exact.begin(), exact.begin() + static_cast<std::ptrdiff_t>(listed),
                      exact.end(), [&](const Neighbour& a, const Neighbour& b) {
                        const double left = score(a);
                        const double right = score(b);
                        return left != right ? left > right : a.id < b.id;
                      });
    exact.resize(listed);
    Neighbours result;
    result.nearest = std::move(exact);
    for (const Tile& tile : tiles_) {
      result.zero_rows += tile.zero_rows;
      result.non_finite_rows += tile.non_finite_rows;
    }
    return result;
  }

 private:
  struct Tile {
    std::vector<double> sure;  // a heap: the largest scores that rows are sure to have, k at most
    std::int64_t zero_rows = 0;
    std::int64_t non_finite_rows = 0;
  };

  bool is_left_out(std::int64_t row) const {
    return std::binary_search(left_out_.begin(), left_out_.end(), static_cast<Id>(row));
  }

  double score(const Neighbour& neighbour) const {
    switch (metric_) {
      case Metric::dot:
        return neighbour.dot;
      case Metric::euclidean:
        return -neighbour.distance;
      default:
        return neighbour.cosine;
    }
  }

  Estimate estimate(double dot, double square) const {
    const double length = std::sqrt(square);
    switch (metric_) {
      case Metric::dot:
        return {dot, 3 * error_ * norm_ * length};
      case Metric::euclidean: {
        const double scaled = std::ldexp(length, -exponent_);
        const double sum = norm_ * norm_ + scaled * scaled;
        return {2 * std::ldexp(dot, -exponent_) - sum, 3 * error_ * (sum + 2 * norm_ * scaled)};
      }
      default:
        return {dot / (norm_ * length), 3 * error_};
    }
  }

  void pass(base::ThreadPool& pool) {
    constexpr std::int64_t kValues = std::int64_t{1} << 16;
    const std::int64_t dim = table_.dim();
    const std::int64_t grain = std::max<std::int64_t>(1, kValues / std::max<std::int64_t>(1, dim));
    const base::View2<const float> values = table_.in_place();
    tiles_.resize(static_cast<std::size_t>((table_.rows() + grain - 1) / grain));
    most_.resize(static_cast<std::size_t>(table_.rows()));
    pool.parallel_ranges(table_.rows(), grain, [&](std::int64_t begin, std::int64_t end) {
      Tile& tile = tiles_[static_cast<std::size_t>(begin / grain)];
      std::vector<float> buffer;
      const float* rows = nullptr;
      if (values.present()) {
        rows = values.data() + begin * dim;
      } else {
        buffer.resize(static_cast<std::size_t>((end - begin) * dim));
        table_.read(begin, end, buffer.data());
        rows = buffer.data();
      }
      std::vector<float> sums(static_cast<std::size_t>(2 * (end - begin)));
      float* squares = sums.data() + (end - begin);
      kernels::dots_and_squares(end - begin, dim, scaled_.data(), rows, sums.data(), squares);
      for (std::int64_t i = begin; i < end; ++i) {
        judge(i, rows + (i - begin) * dim, sums[static_cast<std::size_t>(i - begin)],
              squares[i - begin], tile);
      }
    });
  }

  void judge(std::int64_t row, const float* values, float dot, float square, Tile& tile) {
    float& most = most_[static_cast<std::size_t>(row)];
    if (!(square > kSmallSquare && square < kLargeSquare)) {
      // Squares of finite floats never overflow in double.
      const double exact = sum_of_products(table_.dim(), values, values);
      const bool usable = exact > 0 && std::isfinite(exact);
      if (exact == 0) ++tile.zero_rows;
      if (!std::isfinite(exact)) ++tile.non_finite_rows;
      most = static_cast<float>(usable ? kInfinity : -kInfinity);
      return;
    }
    const Estimate found = estimate(dot, square);
    // The slack covers that this is rounded to a float; a distance may be too long for one.
    constexpr double kLowest = std::numeric_limits<float>::lowest();
    most = static_cast<float>(std::max(found.score + found.slack, kLowest));
    const double least = found.score - found.slack;
    if (tile.sure.size() == k_ && !(least > tile.sure.front())) return;
    if (is_left_out(row)) return;
    if (tile.sure.size() == k_) {
      std::pop_heap(tile.sure.begin(), tile.sure.end(), std::greater<>());
      tile.sure.pop_back();
    }
    tile.sure.push_back(least);
    std::push_heap(tile.sure.begin(), tile.sure.end(), std::greater<>());
  }

  // Rows whose score can be among the k largest, ascending.
  std::vector<Id> candidates() const {
    std::vector<double> sure;
    for (const Tile& tile : tiles_) sure.insert(sure.end(), tile.sure.begin(), tile.sure.end());
    double limit = -kInfinity;
    if (sure.size() >= k_ && k_ > 0) {
      const auto kth = sure.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
      std::nth_element(sure.begin(), kth, sure.end(), std::greater<>());
      limit = *kth;
    }
    std::vector<Id> open;
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      const double most = most_[static_cast<std::size_t>(row)];
      if (most == -kInfinity || most < limit || is_left_out(row)) continue;
      open.push_back(static_cast<Id>(row));
    }
    return open;
  }

  Neighbour exactly(Id id) const {
    std::vector<float> row(static_cast<std::size_t>(table_.dim()));
    table_.read(id, id + 1, row.data());
    const Similarity pair = similarity(query_, {row.data(), {table_.dim()}});
    return {id, pair.cosine.value_or(0), pair.euclidean, pair.dot};
  }

  const files::RowSource& table_;
  base::View1<const float> query_;
  std::size_t k_;
  std::vector<Id> left_out_;
  Metric metric_;
  double error_;
  double square_ = 0;
  double norm_ = 0;  // of the scaled query
  int exponent_ = 0;
  std::vector<float> scaled_;
  std::vector<Tile> tiles_;
  std::vector<float> most_;  // [rows] what a score can be at most; -infinity: not listed
};

}  // namespace

Neighbours nearest_rows(base::ThreadPool& pool, const files::RowSource& table,
                        base::View1<const float> query, std::int64_t k,
                        const std::vector<Id>& left_out, Metric metric) {
  if (k < 1) {
    throw Error(
        ErrorKind::argument,
        fmt::format("nearest rows: k is {}, expected 1 or more; it is how many are listed", k));
  }
  if (query.size() != table.dim()) {
    throw Error(ErrorKind::shape,
                fmt::format("nearest rows: the query has {} numbers, but the rows have {}",
                            query.size(), table.dim()));
  }
  const double square = sum_of_products(query.size(), query.data(), query.data());
  if (square == 0 || !std::isfinite(square)) {
    throw Error(ErrorKind::numeric,
                fmt::format("nearest rows: the query has no direction, {}; choose another token",
                            square == 0 ? "it is zero" : "it holds an infinity or a NaN"));
  }
  return Search(table, query, k, left_out, metric).run(pool);
}

Neighbours nearest_rows(base::ThreadPool& pool, base::View2<const float> table,
                        base::View1<const float> query, std::int64_t k,
                        const std::vector<Id>& left_out, Metric metric) {
  return nearest_rows(pool, *files::rows_of_view(table), query, k, left_out, metric);
}

std::vector<float> mean_row(const files::RowSource& table, std::span<const Id> ids) {
  const auto dim = static_cast<std::size_t>(table.dim());
  std::vector<double> sums(dim, 0.0);
  std::vector<float> row(dim);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= table.rows()) {
      throw Error(ErrorKind::index,
                  fmt::format("mean of rows: position {} has id {}, but the table has {} rows", i,
                              ids[i], table.rows()));
    }
    table.read(ids[i], ids[i] + 1, row.data());
    for (std::size_t j = 0; j < dim; ++j) sums[j] += row[j];
  }
  const double count = std::max<double>(1, static_cast<double>(ids.size()));
  std::vector<float> mean(dim);
  std::transform(sums.begin(), sums.end(), mean.begin(),
                 [&](double sum) { return static_cast<float>(sum / count); });
  return mean;
}

std::vector<float> mean_row(base::View2<const float> table, std::span<const Id> ids) {
  return mean_row(*files::rows_of_view(table), ids);
}

std::vector<float> signed_sum(const std::vector<SignedVector>& vectors) {
  const std::size_t dim = vectors.empty() ? 0 : vectors.front().values.size();
  std::vector<double> sums(dim, 0.0);
  for (const SignedVector& one : vectors) {
    if (one.values.size() != dim) {
      throw Error(ErrorKind::shape,
                  fmt::format("sum of vectors: {} and {} numbers", dim, one.values.size()));
    }
    const double square =
        sum_of_products(static_cast<std::int64_t>(dim), one.values.data(), one.values.data());
    if (square == 0 || !std::isfinite(square)) {
      throw Error(ErrorKind::numeric,
                  fmt::format("sum of vectors: one of them has no direction, {}",
                              square == 0 ? "it is zero" : "it holds an infinity or a NaN"));
    }
    const double factor = one.sign / std::sqrt(square);
    for (std::size_t j = 0; j < dim; ++j) sums[j] += factor * one.values[j];
  }
  std::vector<float> sum(dim);
  std::transform(sums.begin(), sums.end(), sum.begin(),
                 [](double value) { return static_cast<float>(value); });
  return sum;
}

}  // namespace lexirow::inspect
