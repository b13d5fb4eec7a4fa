#include "inspect/alike_rows.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

namespace lexirow::inspect {

namespace {

// Comparisons of projections, and values read to compare rows, before the search ends.
constexpr std::int64_t kMostLooks = std::int64_t{3} << 30;
constexpr std::int64_t kMostValues = std::int64_t{1} << 32;
// Open pairs kept for a row: rows that are alike in great numbers are joined by a chain as well.
constexpr int kMostPairs = 32;

// Groups that grow together.
class Groups {
 public:
  explicit Groups(std::int64_t size) : parent_(static_cast<std::size_t>(size)) {
    std::iota(parent_.begin(), parent_.end(), std::int64_t{0});
  }
  std::int64_t root(std::int64_t row) {
    while (parent_[std::size_t(row)] != row) {
      parent_[std::size_t(row)] = parent_[std::size_t(parent_[std::size_t(row)])];
      row = parent_[std::size_t(row)];
    }
    return row;
  }
  void join(std::int64_t a, std::int64_t b) {
    const auto [low, high] = std::minmax({root(a), root(b)});
    parent_[std::size_t(high)] = low;  // the first row stands for its group
  }
  // The number of rows of each group, by the row that stands for it.
  std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> counts(parent_.size(), 0);
    for (std::size_t row = 0; row < parent_.size(); ++row) {
      ++counts[std::size_t(root(std::int64_t(row)))];
    }
    return counts;
  }
  // Groups of two or more.
  std::vector<std::vector<std::int64_t>> all() {
    std::vector<std::vector<std::int64_t>> members(parent_.size());
    for (std::size_t row = 0; row < parent_.size(); ++row) {
      members[std::size_t(root(std::int64_t(row)))].push_back(std::int64_t(row));
    }
    std::vector<std::vector<std::int64_t>> result;
    for (auto& group : members) {
      if (group.size() > 1) result.push_back(std::move(group));
    }
    return result;
  }

 private:
  std::vector<std::int64_t> parent_;
};

class RowReader {
 public:
  explicit RowReader(const files::RowSource& table)
      : table_(table), a_(std::size_t(table.dim())), b_(std::size_t(table.dim())) {}

  // The squared distance of two rows.
  double distance(std::int64_t a, std::int64_t b) {
    table_.read(a, a + 1, a_.data());
    table_.read(b, b + 1, b_.data());
    // A page may hold parts of several rows, so all are released together, now and then.
    if (++reads_ % kReadsUntilRelease == 0) table_.release(0, table_.rows());
    double sum = 0;
    for (std::size_t j = 0; j < a_.size(); ++j) {
      const double step = static_cast<double>(a_[j]) - static_cast<double>(b_[j]);
      sum += step * step;
    }
    values_ += 2 * table_.dim();
    return sum;
  }
  std::int64_t values() const { return values_; }

 private:
  static constexpr std::int64_t kReadsUntilRelease = 4096;

  const files::RowSource& table_;
  std::vector<float> a_, b_;
  std::int64_t values_ = 0;
  std::int64_t reads_ = 0;
};

// Joins equal rows and returns the rows that stand for all that are finite and not zero.
std::vector<std::int64_t> join_equal(RowReader& reader, const RowFigures& figures, Groups& groups) {
  std::vector<std::int64_t> order;
  for (std::int64_t row = 0; row < figures.rows; ++row) {
    if (figures.is_usable(row)) order.push_back(row);
  }
  const auto print = [&](std::int64_t row) { return figures.fingerprints[std::size_t(row)]; };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return print(a) != print(b) ? print(a) < print(b) : a < b;
  });
  std::vector<std::int64_t> others;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && print(order[i]) == print(order[i - 1]);
    if (same && reader.distance(order[i - 1], order[i]) == 0) {
      groups.join(order[i - 1], order[i]);
    } else {
      others.push_back(order[i]);
    }
  }
  return others;
}

// The rows' projections over their lengths, sorted so that near ones stand near.
class NearSearch {
 public:
  NearSearch(const RowFigures& figures, std::vector<std::int64_t> rows)
      : count_(figures.directions), rows_(std::move(rows)) {
    const auto [first, second] = widest(figures);
    std::vector<std::pair<std::int64_t, float>> keys(std::size_t(figures.rows));
    for (const std::int64_t row : rows_) {
      const float* own = figures.projections.data() + row * count_;
      const auto length = static_cast<float>(figures.norm(row));
      keys[std::size_t(row)] = {static_cast<std::int64_t>(std::floor(own[first] / length / kReach)),
                                own[second] / length};
    }
    std::sort(rows_.begin(), rows_.end(), [&](std::int64_t a, std::int64_t b) {
      return keys[std::size_t(a)] != keys[std::size_t(b)]
                 ? keys[std::size_t(a)] < keys[std::size_t(b)]
                 : a < b;
    });
    for (const std::int64_t row : rows_) {
      cells_.push_back(keys[std::size_t(row)].first);
      places_.push_back(keys[std::size_t(row)].second);
      const auto length = static_cast<float>(figures.norm(row));
      norms_.push_back(length);
      const float* own = figures.projections.data() + row * count_;
      for (std::int64_t j = 0; j < count_; ++j) points_.push_back(own[j] / length);
    }
  }

  // Pairs whose projections leave open that they are nearly the same.
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(base::ThreadPool& pool, bool& complete) {
    constexpr std::int64_t kGrain = 1024;
    const auto size = static_cast<std::int64_t>(rows_.size());
    using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
    std::vector<Pairs> found(std::size_t((size + kGrain - 1) / kGrain));
    // A fixed share for each piece, so that what is left out does not hang on the threads.
    const std::int64_t most = found.empty() ? 0 : kMostLooks / std::int64_t(found.size());
    std::atomic<bool> cut{false};
    pool.parallel_ranges(size, kGrain, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t looks = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        look_from(i, found[std::size_t(begin / kGrain)], looks);
        if (looks <= most) continue;
        cut = true;
        break;
      }
    });
    complete = complete && !cut;
    Pairs all;
    for (const Pairs& some : found) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  // Directions of two vectors differ by at most twice their distance over the sum of their lengths
  // (Dunkl and Williams); the rest is for rounding in float32.
  static constexpr float kReach = static_cast<float>(1.01 * kCrowd * kNearlySame + 2e-5);

  // The two directions in which the rows lie farthest apart.
  std::pair<std::int64_t, std::int64_t> widest(const RowFigures& figures) const {
    std::vector<std::pair<double, std::int64_t>> spreads;
    for (std::int64_t j = 0; j < count_; ++j) {
      double sum = 0;
      double squares = 0;
      for (const std::int64_t row : rows_) {
        const double place = figures.projections[std::size_t(row * count_ + j)] / figures.norm(row);
        sum += place;
        squares += place * place;
      }
      const auto size = static_cast<double>(rows_.size());
      spreads.emplace_back(sum * sum / size - squares, j);
    }
    std::sort(spreads.begin(), spreads.end());
    return {spreads[0].second, spreads[1].second};
  }

  // Looks at the rows that follow in the own cell, and in the next one.
  void look_from(std::int64_t i, std::vector<std::pair<std::int64_t, std::int64_t>>& found,
                 std::int64_t& looks) const {
    int kept = 0;
    const std::int64_t own = cells_[std::size_t(i)];
    const float place = places_[std::size_t(i)];
    const auto size = static_cast<std::int64_t>(rows_.size());
    const auto look = [&](std::int64_t j) {
      ++looks;
      if (!may_be_near(i, j)) return;
      ++kept;
      found.push_back(std::minmax(rows_[std::size_t(i)], rows_[std::size_t(j)]));
    };
    for (std::int64_t j = i + 1; j < size && cells_[std::size_t(j)] == own &&
                                 places_[std::size_t(j)] - place <= kReach && kept < kMostPairs;
         ++j) {
      look(j);
    }
    // Cells and places are sorted together: the first row of the next cell that is near enough.
    std::int64_t low = i;
    std::int64_t high = size;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const bool before =
          cells_[std::size_t(middle)] < own + 1 ||
          (cells_[std::size_t(middle)] == own + 1 && places_[std::size_t(middle)] < place - kReach);
      (before ? low : high) = before ? middle + 1 : middle;
    }
    for (std::int64_t j = low; j < size && cells_[std::size_t(j)] == own + 1 &&
                               places_[std::size_t(j)] - place <= kReach && kept < kMostPairs;
         ++j) {
      look(j);
    }
  }

  bool may_be_near(std::int64_t i, std::int64_t j) const {
    const float a = norms_[std::size_t(i)];
    const float b = norms_[std::size_t(j)];
    if (std::abs(a - b) > kReach * std::max(a, b)) return false;
    const float* left = points_.data() + i * count_;
    const float* right = points_.data() + j * count_;
    float sum = 0;
    for (std::int64_t k = 0; k < count_; ++k) {
      const float step = left[k] - right[k];
      sum += step * step;
      if (sum > kReach * kReach) return false;
    }
    return true;
  }

  std::int64_t count_;
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> cells_;
  std::vector<float> places_;
  std::vector<float> norms_;
  std::vector<float> points_;  // [rows, P]
};

bool has_finite_projections(const RowFigures& figures, std::int64_t row) {
  const float* own = figures.projections.data() + row * figures.directions;
  return std::all_of(own, own + figures.directions,
                     [](float value) { return std::isfinite(value); }) &&
         std::isnormal(static_cast<float>(figures.norm(row)));
}

}  // namespace

AlikeRows alike_rows(base::ThreadPool& pool, const files::RowSource& table,
                     const RowFigures& figures) {
  AlikeRows alike;
  RowReader reader(table);
  Groups equal(figures.rows);
  std::vector<std::int64_t> others = join_equal(reader, figures, equal);
  alike.equal = equal.all();
  std::erase_if(others, [&](std::int64_t row) { return !has_finite_projections(figures, row); });
  if (figures.dim < kLeastDim || others.size() < 2) return alike;
  Groups nearly(figures.rows);
  Groups crowds(figures.rows);
  NearSearch search(figures, std::move(others));
  for (const auto& [a, b] : search.pairs(pool, alike.complete)) {
    if (nearly.root(a) == nearly.root(b)) continue;
    if (reader.values() > kMostValues) {
      alike.complete = false;
      break;
    }
    const double limit = kNearlySame * std::max(figures.norm(a), figures.norm(b));
    const double square = reader.distance(a, b);
    if (square < limit * limit) nearly.join(a, b);
    if (square < kCrowd * kCrowd * limit * limit) crowds.join(a, b);
  }
  const std::vector<std::int64_t> sizes = crowds.sizes();
  for (std::vector<std::int64_t>& group : nearly.all()) {
    const std::int64_t first = group.front();
    const auto around = sizes[std::size_t(crowds.root(first))];
    // A chain of rows, each near the next one, is a crowd too.
    const bool together = std::all_of(group.begin() + 1, group.end(), [&](std::int64_t row) {
      const double limit = kNearlySame * std::max(figures.norm(first), figures.norm(row));
      return reader.distance(first, row) < limit * limit;
    });
    if (together && around == std::int64_t(group.size())) {
      alike.nearly.push_back(std::move(group));
    } else {
      alike.crowded.insert(alike.crowded.end(), group.begin(), group.end());
    }
  }
  std::sort(alike.crowded.begin(), alike.crowded.end());
  return alike;
}

}  // namespace lexirow::inspect
