#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/array.h"
#include "base/random.h"
#include "experiment/experiments.h"
#include "inspect/neighbours.h"
#include "kernels/matmul.h"
#include "rows/lookup.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kSizes[] = {100, 1000, 10000, 50257};
constexpr std::int64_t kPairsOf = 12;  // one-hot vectors that are compared with each other

/// A table, some ids, and the same ids as one-hot rows.
struct Lookups {
  Lookups(std::int64_t rows, std::int64_t width, std::int64_t positions, std::uint64_t seed)
      : vocab_size(rows),
        dim(width),
        count(positions),
        table(rows * width),
        one_hot(positions * rows) {
    base::TorchStream(seed).fill_normal(table.view());
    base::SplitMix random(seed);
    for (std::int64_t i = 0; i < count; ++i) {
      ids.push_back(static_cast<Id>(random.uniform() * static_cast<double>(vocab_size)));
    }
    // The ends of the table and a repeated id always belong to it.
    ids[0] = 0;
    ids[1] = static_cast<Id>(vocab_size - 1);
    ids[2] = ids[3];
    for (std::int64_t i = 0; i < count; ++i) {
      one_hot[i * vocab_size + ids[static_cast<std::size_t>(i)]] = 1;
    }
  }

  void look_up(base::ThreadPool& pool, base::Array<float>& out) const {
    out.resize(count * dim);
    rows::lookup_forward<float>(pool, table.view(vocab_size, dim), {ids.data(), {count}},
                                out.view(count, dim));
  }
  void multiply(base::Array<float>& out) const {
    out.resize(count * dim);
    kernels::matmul(false, false, count, dim, vocab_size, one_hot.data(), vocab_size, table.data(),
                    dim, false, out.data(), dim);
  }

  std::int64_t vocab_size, dim, count;
  std::vector<Id> ids;
  base::Array<float> table;    // [V, D]
  base::Array<float> one_hot;  // [N, V]
};

/// Values that differ; a value that is not a number differs from everything.
std::int64_t differing(const base::Array<float>& a, const base::Array<float>& b) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) count += !(a[i] == b[i]);
  return count;
}

/// The transposed product against the scatter-add, for whole upstream values, whose sums are exact.
std::int64_t differing_gradients(base::ThreadPool& pool, const Lookups& lookups) {
  base::Array<float> upstream(lookups.count * lookups.dim);
  for (std::int64_t i = 0; i < upstream.size(); ++i) upstream[i] = static_cast<float>(i % 9 - 4);
  base::Array<float> product(lookups.vocab_size * lookups.dim);
  kernels::matmul(true, false, lookups.vocab_size, lookups.dim, lookups.count,
                  lookups.one_hot.data(), lookups.vocab_size, upstream.data(), lookups.dim, false,
                  product.data(), lookups.dim);
  rows::ScatterPlan plan;
  rows::make_scatter_plan({lookups.ids.data(), {lookups.count}}, {}, lookups.vocab_size, kNoId,
                          plan);
  base::Array<float> added(lookups.vocab_size * lookups.dim);
  rows::lookup_backward_dense<float>(pool, plan,
                                     std::as_const(upstream).view(lookups.count, lookups.dim),
                                     added.view(lookups.vocab_size, lookups.dim));
  return differing(product, added);
}

/// Over all pairs of some one-hot vectors of different ids.
struct PairFigures {
  double cosine = 0;    // largest, without sign
  double distance = 0;  // largest difference from the square root of 2
  std::int64_t pairs = 0;
};

PairFigures compare_pairs(const Lookups& lookups) {
  PairFigures result;
  const auto row = [&](std::int64_t i) {
    return base::View1<const float>(lookups.one_hot.data() + i * lookups.vocab_size,
                                    {lookups.vocab_size});
  };
  for (std::int64_t i = 0; i < kPairsOf; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (lookups.ids[static_cast<std::size_t>(i)] == lookups.ids[static_cast<std::size_t>(j)]) {
        continue;
      }
      const inspect::Similarity s = inspect::similarity(row(i), row(j));
      result.cosine = std::max(result.cosine, std::abs(s.cosine.value_or(1)));
      result.distance = std::max(result.distance, std::abs(s.euclidean - std::sqrt(2.0)));
      ++result.pairs;
    }
  }
  return result;
}

/// Seconds of one call: the median of several rounds of as many calls as last a millisecond.
double seconds_of(const std::function<void()>& action) {
  using Clock = std::chrono::steady_clock;
  const auto time = [&](int calls) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) action();
    return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
  };
  const int calls = std::clamp(static_cast<int>(1e-3 / std::max(1e-9, time(1))), 1, 10000);
  std::vector<double> rounds;
  for (int i = 0; i < 5; ++i) rounds.push_back(time(calls));
  std::nth_element(rounds.begin(), rounds.begin() + 2, rounds.end());
  return rounds[2];
}

std::int64_t not_finite(const base::Array<float>& values) {
  return std::count_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
}

/// What all sizes together show.
struct Findings {
  std::int64_t different = 0;  // values, lookup against product
  std::int64_t gradients = 0;  // values, scatter-add against transposed product
  PairFigures pairs;
  std::int64_t spoiled = 0;          // values of the product that an infinity elsewhere spoils
  std::int64_t spoiled_lookups = 0;  // the same of the lookup

  void add(base::ThreadPool& pool, Lookups& lookups) {
    base::Array<float> rows;
    base::Array<float> product;
    lookups.look_up(pool, rows);
    lookups.multiply(product);
    different += differing(rows, product);
    gradients += differing_gradients(pool, lookups);
    const PairFigures these = compare_pairs(lookups);
    pairs.cosine = std::max(pairs.cosine, these.cosine);
    pairs.distance = std::max(pairs.distance, these.distance);
    pairs.pairs += these.pairs;
    if (lookups.count < lookups.vocab_size) spoil(pool, lookups);
  }

  void judge(Outcome& outcome) const {
    outcome.figures = {
        {"pairs of one-hot vectors", static_cast<double>(pairs.pairs)},
        {"values of the product that an infinity in an unread row spoils",
         static_cast<double>(spoiled)},
        {"values of the lookup that it spoils", static_cast<double>(spoiled_lookups)}};
    outcome.require("values that differ between the lookup and the product, all V",
                    static_cast<double>(different), Relation::equal, 0);
    outcome.require("values that differ between the scatter-add and the transposed product",
                    static_cast<double>(gradients), Relation::equal, 0);
    outcome.require("one-hot vectors of two ids: largest cosine", pairs.cosine, Relation::equal, 0);
    outcome.require("one-hot vectors of two ids: largest difference of distance and sqrt 2",
                    pairs.distance, Relation::equal, 0);
    outcome.require("an infinity in an unread row: values of the lookup that are not finite",
                    static_cast<double>(spoiled_lookups), Relation::equal, 0);
  }

 private:
  /// Puts one infinity in a row that nobody reads, for one run.
  void spoil(base::ThreadPool& pool, Lookups& lookups) {
    Id unread = 0;
    while (std::find(lookups.ids.begin(), lookups.ids.end(), unread) != lookups.ids.end()) ++unread;
    float& value = lookups.table[unread * lookups.dim];
    const float saved = std::exchange(value, std::numeric_limits<float>::infinity());
    base::Array<float> out;
    lookups.look_up(pool, out);
    spoiled_lookups += not_finite(out);
    lookups.multiply(out);
    spoiled += not_finite(out);
    value = saved;
  }
};

/// A table that can be followed by hand: the row of id 1, both ways.
void show_small_table(base::ThreadPool& pool, Outcome& outcome) {
  const std::vector<float> table = {0.1F, 0.2F, 0.4F, 0.6F, 0.7F, 0.9F};
  const std::vector<float> one_hot = {0, 1, 0};
  const Id id = 1;
  std::vector<float> row(2);
  std::vector<float> product(2);
  rows::lookup_forward<float>(pool, {table.data(), {3, 2}}, {&id, {1}}, {row.data(), {1, 2}});
  kernels::matmul(false, false, 1, 2, 3, one_hot.data(), 3, table.data(), 2, false, product.data(),
                  2);
  Table example{"by_hand",
                "Three rows (0.1, 0.2), (0.4, 0.6), (0.7, 0.9) and id 1, one-hot (0, 1, 0)",
                {"way", "first value", "second value"},
                {}};
  const auto add = [&](const char* way, const std::vector<float>& values) {
    // Through text: 0.4 is to be read as 0.4, not as the nearest float's 0.4000000059604645.
    example.rows.push_back({way, fmt::format("{:g}", values[0]), fmt::format("{:g}", values[1])});
  };
  add("row 1 of the table", row);
  add("one-hot times table", product);
  outcome.tables.push_back(std::move(example));
  outcome.require("three rows by hand: values that differ",
                  static_cast<double>((row[0] != product[0]) + (row[1] != product[1])),
                  Relation::equal, 0);
}

/// The tables and curves over V.
struct Growth {
  Table computed{"work",
                 "What each way has to do",
                 {"V, rows", "values the lookup copies", "multiplications of the product",
                  "bytes of the ids", "bytes of the one-hot matrix"},
                 {}};
  Table measured{"seconds",
                 "Time on this machine",
                 {"V, rows", "lookup, seconds", "product, seconds", "product over lookup"},
                 {}};
  LineChart work{"Work over V",
                 "V, rows of the table",
                 "operations",
                 true,
                 true,
                 {{"lookup: values copied", {}, {}}, {"product: multiplications", {}, {}}},
                 {}};
  LineChart times{"Time over V, on this machine",
                  "V, rows of the table",
                  "seconds",
                  true,
                  true,
                  {{"lookup", {}, {}}, {"one-hot product", {}, {}}},
                  {}};

  void add(base::ThreadPool& pool, const Lookups& lookups) {
    const std::int64_t v = lookups.vocab_size;
    const std::int64_t copied = lookups.count * lookups.dim;
    constexpr auto kFloat = static_cast<std::int64_t>(sizeof(float));
    computed.rows.push_back({v, copied, copied * v,
                             lookups.count * static_cast<std::int64_t>(sizeof(Id)),
                             lookups.one_hot.size() * kFloat});
    base::Array<float> out;
    const double lookup = seconds_of([&] { lookups.look_up(pool, out); });
    const double product = seconds_of([&] { lookups.multiply(out); });
    measured.rows.push_back({v, lookup, product, product / lookup});
    const auto x = static_cast<double>(v);
    const double works[] = {static_cast<double>(copied), static_cast<double>(copied * v)};
    const double seconds[] = {lookup, product};
    for (std::size_t i = 0; i < 2; ++i) {
      work.lines[i].x.push_back(x);
      work.lines[i].y.push_back(works[i]);
      times.lines[i].x.push_back(x);
      times.lines[i].y.push_back(seconds[i]);
    }
  }
};

}  // namespace

Outcome run_one_hot(const Setting& setting) {
  Outcome outcome;
  const std::int64_t dim = setting.quick ? 64 : 256;
  const std::int64_t count = setting.quick ? 32 : 128;
  Growth growth;
  Findings findings;
  for (std::int64_t vocab_size : kSizes) {
    Lookups lookups(vocab_size, dim, count, setting.seed);
    findings.add(setting.pool, lookups);
    growth.add(setting.pool, lookups);
  }
  findings.judge(outcome);
  show_small_table(setting.pool, outcome);
  outcome.tables.push_back(std::move(growth.computed));
  outcome.pictures.emplace_back(std::move(growth.work));
  outcome.measured_tables.push_back(std::move(growth.measured));
  outcome.measured_pictures.emplace_back(std::move(growth.times));
  outcome.method = fmt::format(
      "For tables of 100 to 50257 rows of {} values (PyTorch's normal stream, seed {}), {} ids are "
      "looked up, and the same ids, as rows of zeros with a single 1, are multiplied with the "
      "table "
      "in float32; the values are compared one by one. The same for the gradient: scatter-add "
      "against the transposed product, with small whole numbers as upstream gradient, whose sums "
      "are exact. Work and memory are counted, times are measured and decide nothing.",
      dim, setting.seed, count);
  outcome.reading = fmt::format(
      "An id is a short way to write a one-hot vector: the lookup copies one row, the product adds "
      "that row to zeros, and the zeros cost more with every row of the table. One-hot vectors "
      "know "
      "no likeness, all of them are equally far apart; rows can. One limit: an infinity in a row "
      "that nobody reads makes {} of the product's values not a number, and {} of the lookup's.",
      findings.spoiled, findings.spoiled_lookups);
  return outcome;
}

}  // namespace lexirow::experiment
