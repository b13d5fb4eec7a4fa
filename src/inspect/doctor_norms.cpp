// What shows only beside the other rows: lengths apart from all others, and rows that lie where the
// unused ones do. A continuous spread of lengths is what training gives; only what a gap separates
// is told.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/wording.h"
#include "inspect/doctor_parts.h"
#include "inspect/sum_of_products.h"

namespace lexirow::inspect {

namespace {

constexpr double kShortGap = 2.5;  // the gap: a length over the next one
// fastText's </s> has no n-grams to be averaged with, and is three times as long as any word.
constexpr double kLongGap = 4;
constexpr double kFarFactor = 5;    // from the median on
constexpr double kSpreads = 10;     // robust deviations of the logarithm from the median on
constexpr double kFewShare = 0.02;  // outliers are few
constexpr std::int64_t kFewestRows = 16;
// In fewer dimensions short rows are drawn by chance: a length below x has a probability of x^D.
constexpr std::int64_t kLeastNormDim = 8;

struct LengthOf {
  double length = 0;
  std::int64_t row = 0;
  bool operator<(const LengthOf& other) const {
    return length != other.length ? length < other.length : row < other.row;
  }
};

// The figures of the lengths that a gap is judged by.
struct Lengths {
  std::vector<LengthOf> sorted;
  double median = 0;
  double least_factor = kFarFactor;  // how far from the median an outlier is at the least
};

Lengths lengths_of(const ExaminedTable& table) {
  Lengths lengths;
  for (std::int64_t row = 0; row < table.figures.rows; ++row) {
    if (!table.figures.is_usable(row) || row == table.pad) continue;
    lengths.sorted.push_back({table.figures.norm(row), row});
  }
  std::sort(lengths.sorted.begin(), lengths.sorted.end());
  if (lengths.sorted.empty()) return lengths;
  lengths.median = lengths.sorted[lengths.sorted.size() / 2].length;
  std::vector<double> deviations;
  for (const LengthOf& one : lengths.sorted) {
    deviations.push_back(std::abs(std::log(one.length / lengths.median)));
  }
  const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
  std::nth_element(deviations.begin(), middle, deviations.end());
  constexpr double kMadToDeviation = 1.4826;
  lengths.least_factor = std::max(kFarFactor, std::exp(kSpreads * kMadToDeviation * *middle));
  return lengths;
}

std::vector<std::int64_t> rows_of(const std::vector<LengthOf>& lengths, std::size_t begin,
                                  std::size_t end) {
  std::vector<std::int64_t> rows;
  for (std::size_t i = begin; i < end; ++i) rows.push_back(lengths[i].row);
  std::sort(rows.begin(), rows.end());
  return rows;
}

void find_long(const ExaminedTable& table, const Lengths& lengths, Findings& findings) {
  const auto& sorted = lengths.sorted;
  const auto few = static_cast<std::size_t>(
      std::max(1.0, std::floor(kFewShare * static_cast<double>(sorted.size()))));
  // The lowest gap within the few longest rows.
  for (std::size_t i = sorted.size() - few; i < sorted.size(); ++i) {
    const bool gap = sorted[i].length >= kLongGap * sorted[i - 1].length &&
                     sorted[i].length >= lengths.least_factor * lengths.median;
    if (!gap) continue;
    const auto rows = rows_of(sorted, i, sorted.size());
    findings.push_back(
        {"outlier_norm", Severity::warning, table.name, rows,
         fmt::format("{} of length {:.4g} or more; the next longest has {:.4g}, the median is "
                     "{:.4g}: {} outweigh{} all others in sums and scores",
                     base::counted(std::int64_t(rows.size()), "row"), sorted[i].length,
                     sorted[i - 1].length, lengths.median, rows.size() == 1 ? "it" : "they",
                     rows.size() == 1 ? "s" : "")});
    return;
  }
}

void find_short(const ExaminedTable& table, const Lengths& lengths, Findings& findings) {
  const auto& sorted = lengths.sorted;
  if (table.figures.dim < kLeastNormDim) return;
  // The highest gap below the median.
  for (std::size_t i = sorted.size() / 2; i > 0; --i) {
    const bool gap = sorted[i].length >= kShortGap * sorted[i - 1].length &&
                     sorted[i - 1].length * kFarFactor <= lengths.median;
    if (!gap) continue;
    const auto rows = rows_of(sorted, 0, i);
    findings.push_back(
        {"under_trained", Severity::warning, table.name, rows,
         fmt::format("{} of length {:.4g} or less; the next shortest has {:.4g}, the median is "
                     "{:.4g}: probably never trained, or decayed",
                     base::counted(std::int64_t(rows.size()), "row"), sorted[i - 1].length,
                     sorted[i].length, lengths.median)});
    return;
  }
}

// Distances to the middle of the unused rows, after the mean direction was taken out of all.
class UnusedPlace {
 public:
  UnusedPlace(const ExaminedTable& table, const std::vector<std::int64_t>& unused)
      : table_(table), dim_(table.figures.dim), mean_(table.figures.mean) {
    const double length = std::sqrt(sum_of_products(dim_, mean_.data(), mean_.data()));
    for (double& value : mean_) value = length > 0 ? value / length : 0.0;
    middle_.resize(std::size_t(dim_));
    std::vector<float> row(static_cast<std::size_t>(dim_));
    for (const std::int64_t id : unused) {
      table.rows->read(id, id + 1, row.data());
      for (std::size_t j = 0; j < row.size(); ++j) middle_[j] += row[j];
    }
    for (double& value : middle_) value /= static_cast<double>(unused.size());
    const double along = sum_of_products(dim_, middle_.data(), mean_.data());
    for (std::size_t j = 0; j < middle_.size(); ++j) middle_[j] -= along * mean_[j];
    square_ = sum_of_products(dim_, middle_.data(), middle_.data());
  }

  double length() const { return std::sqrt(square_); }

  std::vector<double> distances(base::ThreadPool& pool) const {
    constexpr std::int64_t kTiles = 64;
    std::vector<double> all(static_cast<std::size_t>(table_.figures.rows));
    sweep_rows(pool, *table_.rows, kTiles,
               [&](std::int64_t, std::int64_t first, std::int64_t last, const float* values) {
                 std::vector<double> row(static_cast<std::size_t>(dim_));
                 for (std::int64_t i = first; i < last; ++i) {
                   const float* own = values + (i - first) * dim_;
                   std::copy(own, own + dim_, row.begin());
                   const double along = sum_of_products(dim_, row.data(), mean_.data());
                   const double shared = sum_of_products(dim_, row.data(), middle_.data());
                   const double square = table_.figures.squares[std::size_t(i)] - along * along -
                                         2 * shared + square_;
                   all[std::size_t(i)] = std::sqrt(std::max(0.0, square));
                 }
               });
    return all;
  }

 private:
  const ExaminedTable& table_;
  std::int64_t dim_;
  std::vector<double> mean_;    // of length 1, or zeros
  std::vector<double> middle_;  // of the unused rows
  double square_ = 0;
};

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

void examine_norms(const ExaminedTable& table, bool untrained, Findings& findings) {
  const Lengths lengths = lengths_of(table);
  if (std::int64_t(lengths.sorted.size()) < kFewestRows) return;
  find_long(table, lengths, findings);
  if (untrained) find_short(table, lengths, findings);
}

void examine_unused(base::ThreadPool& pool, const ExaminedTable& table,
                    const std::vector<std::int64_t>& unused, Findings& findings) {
  constexpr std::size_t kLeastKnown = 3;
  constexpr double kTight = 0.5;  // the unused rows' distance from their middle, over its length
  constexpr double kFarther = 4;  // and the other rows' distance over the unused ones'
  std::vector<std::int64_t> known;
  for (const std::int64_t row : unused) {
    if (row < table.figures.rows && table.figures.is_usable(row)) known.push_back(row);
  }
  if (known.size() < kLeastKnown) return;
  const UnusedPlace place(table, known);
  const std::vector<double> distances = place.distances(pool);
  std::vector<double> own;
  std::vector<double> others;
  for (std::int64_t row = 0; row < table.figures.rows; ++row) {
    if (!table.figures.is_usable(row) || row == table.pad) continue;
    const bool is_known = std::binary_search(known.begin(), known.end(), row);
    (is_known ? own : others).push_back(distances[std::size_t(row)]);
  }
  if (others.empty() || own.empty()) return;
  // As near as most of them, and half as far again: others are four times as far at the least.
  const double most = quantile(own, 0.9);
  const double reach = 1.5 * most;
  // Rows as they were drawn lie all about: there is no place at which to look for others.
  if (most > kTight * place.length() || quantile(others, 0.5) < kFarther * most) return;
  std::vector<std::int64_t> found;
  for (std::int64_t row = 0; row < table.figures.rows; ++row) {
    if (!table.figures.is_usable(row) || row == table.pad) continue;
    if (std::binary_search(known.begin(), known.end(), row)) continue;
    if (distances[std::size_t(row)] <= reach) found.push_back(row);
  }
  if (found.empty()) return;
  findings.push_back(
      {"under_trained", Severity::warning, table.name, found,
       fmt::format(
           "{} within {:.4g} of the mean of the {} rows that no text uses, where half of all "
           "rows are farther than {:.4g}: probably never trained",
           base::counted(std::int64_t(found.size()), "row"), reach, known.size(),
           quantile(others, 0.5))});
}

}  // namespace lexirow::inspect
