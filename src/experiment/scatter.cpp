#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/random.h"
#include "experiment/experiments.h"
#include "experiment/statistics.h"
#include "experiment/tiny_text.h"
#include "rows/lookup.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kScatterDim = 8;
constexpr double kEps = 1e-5;
constexpr const char* kPhrase = "the boats";
// What a central difference in float64 may be off by, relative and absolute (proof/gradient.cpp).
constexpr double kRelative = 1e-6;
constexpr double kAbsolute = 1e-9;
// NumPy's seeds of table and upstream gradient when the user's seed is 1.
constexpr std::uint32_t kTableSeed = 42;
constexpr std::uint32_t kUpstreamSeed = 0;

std::vector<double> normal_values(std::uint32_t seed, std::int64_t size) {
  base::NumpyStream stream(seed);
  std::vector<double> values(static_cast<std::size_t>(size));
  for (double& value : values) value = stream.normal();
  return values;
}

/// "the boats" where the text has its letters, else the first tokens up to one that came before;
/// where none does, the first one is put behind them.
std::vector<Id> choose_phrase(const TextIds& text) {
  constexpr std::size_t kMost = 64;
  const std::string phrase = kPhrase;
  if (std::all_of(phrase.begin(), phrase.end(), [&](char letter) {
        return text.tokenizer->find(std::string(1, letter)).has_value();
      })) {
    return text.tokenizer->encode(phrase);
  }
  std::vector<Id> ids;
  for (Id id : text.ids) {
    const bool repeated = std::find(ids.begin(), ids.end(), id) != ids.end();
    ids.push_back(id);
    if (repeated) return ids;
    if (ids.size() == kMost) break;
  }
  ids.push_back(ids.front());
  return ids;
}

/// A table, the ids that are looked up, and the linear loss sum(rows * upstream).
struct Lookup {
  base::ThreadPool& pool;
  std::int64_t vocab_size;
  std::vector<Id> ids;
  std::vector<double> table;     // [V, D]
  std::vector<double> upstream;  // [N, D]

  std::int64_t positions() const { return static_cast<std::int64_t>(ids.size()); }

  double loss() const {
    std::vector<double> rows(upstream.size());
    rows::lookup_forward<double>(pool, {table.data(), {vocab_size, kScatterDim}},
                                 {ids.data(), {positions()}},
                                 {rows.data(), {positions(), kScatterDim}});
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] *= upstream[i];
    return pairwise_sum(rows);
  }

  double central_difference(std::size_t entry) {
    const double saved = table[entry];
    table[entry] = saved + kEps;
    const double above = loss();
    table[entry] = saved - kEps;
    const double below = loss();
    table[entry] = saved;
    return (above - below) / (2 * kEps);
  }

  std::vector<double> scatter_add() const {
    rows::ScatterPlan plan;
    rows::make_scatter_plan({ids.data(), {positions()}}, {}, vocab_size, kNoId, plan);
    std::vector<double> gradient(table.size());
    rows::lookup_backward_dense<double>(pool, plan, {upstream.data(), {positions(), kScatterDim}},
                                        {gradient.data(), {vocab_size, kScatterDim}});
    return gradient;
  }

  /// Wrong on purpose: what `gradient[ids] += upstream` does in NumPy. The rows are read once,
  /// added to and written back, so that of a repeated row the last writing stays.
  std::vector<double> buffered_assignment() const {
    std::vector<double> gradient(table.size());
    std::vector<double> buffer(upstream.size());
    for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = gradient[entry_of(i)] + upstream[i];
    for (std::size_t i = 0; i < buffer.size(); ++i) gradient[entry_of(i)] = buffer[i];
    return gradient;
  }

  /// Positions that read a row.
  std::int64_t times(Id id) const { return std::count(ids.begin(), ids.end(), id); }

  /// The table's entry behind value i of the rows.
  std::size_t entry_of(std::size_t i) const {
    constexpr auto kWidth = static_cast<std::size_t>(kScatterDim);
    return static_cast<std::size_t>(ids[i / kWidth]) * kWidth + i % kWidth;
  }
};

/// The largest error of the entries of one row.
struct RowError {
  double relative = 0;  // |a - n| over the larger of both
  double share = 0;     // |a - n| over what a correct gradient may be off by
};

/// Of each row of a gradient, [V].
std::vector<RowError> row_errors(const std::vector<double>& gradient,
                                 const std::vector<double>& numeric) {
  std::vector<RowError> errors(gradient.size() / static_cast<std::size_t>(kScatterDim));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double difference = std::abs(gradient[i] - numeric[i]);
    const double larger = std::max(std::abs(gradient[i]), std::abs(numeric[i]));
    RowError& row = errors[i / static_cast<std::size_t>(kScatterDim)];
    row.relative = std::max(row.relative, difference / (larger + 1e-12));
    row.share = std::max(row.share, difference / (kRelative * larger + kAbsolute));
  }
  return errors;
}

double row_norm(const std::vector<double>& gradient, Id id) {
  double squares = 0;
  for (std::int64_t c = 0; c < kScatterDim; ++c) {
    const double value = gradient[static_cast<std::size_t>(id * kScatterDim + c)];
    squares += value * value;
  }
  return std::sqrt(squares);
}

/// Values of a repeated row under assignment that are not, bit for bit, the upstream gradient of
/// its last position.
std::int64_t differs_from_last(const Lookup& lookup, const std::vector<double>& assigned) {
  std::int64_t different = 0;
  for (std::size_t i = 0; i < lookup.upstream.size(); ++i) {
    const auto position = lookup.ids.begin() + static_cast<std::ptrdiff_t>(i) / kScatterDim;
    if (std::find(position + 1, lookup.ids.end(), *position) != lookup.ids.end()) continue;
    different += assigned[lookup.entry_of(i)] != lookup.upstream[i];
  }
  return different;
}

/// Smallest and largest error over some rows.
struct ErrorRange {
  RowError least = {std::numeric_limits<double>::infinity(),
                    std::numeric_limits<double>::infinity()};
  RowError most;

  void add(const RowError& error) {
    least.relative = std::min(least.relative, error.relative);
    least.share = std::min(least.share, error.share);
    most.relative = std::max(most.relative, error.relative);
    most.share = std::max(most.share, error.share);
  }
};

/// The rows that are read as table and picture.
void show(Outcome& outcome, const TextIds& text, const Lookup& lookup,
          const std::vector<double>& added, const std::vector<double>& assigned,
          const std::vector<double>& numeric) {
  const std::vector<RowError> added_errors = row_errors(added, numeric);
  const std::vector<RowError> assigned_errors = row_errors(assigned, numeric);
  Table table{"rows",
              "The rows that are read",
              {"token", "id", "positions", "gradient norm, added", "gradient norm, assigned",
               "relative error, added", "relative error, assigned"},
              {}};
  BarChart chart{"Rows that are read", "norm of the gradient", {}, {"added", "assigned"}, {}, {}};
  for (Id id : std::set<Id>(lookup.ids.begin(), lookup.ids.end())) {
    const auto place = static_cast<std::size_t>(id);
    table.rows.push_back({text.spelling(id), std::int64_t{id}, lookup.times(id),
                          row_norm(added, id), row_norm(assigned, id), added_errors[place].relative,
                          assigned_errors[place].relative});
    chart.groups.push_back(text.spelling(id));
    chart.values.insert(chart.values.end(), {row_norm(added, id), row_norm(assigned, id)});
  }
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(chart));
}

/// Both gradients against central differences.
void compare(Outcome& outcome, const TextIds& text, Lookup& lookup) {
  const std::vector<double> added = lookup.scatter_add();
  const std::vector<double> assigned = lookup.buffered_assignment();
  std::vector<double> numeric(lookup.table.size());
  for (std::size_t i = 0; i < numeric.size(); ++i) numeric[i] = lookup.central_difference(i);
  const std::vector<RowError> added_errors = row_errors(added, numeric);
  const std::vector<RowError> assigned_errors = row_errors(assigned, numeric);
  ErrorRange all;
  ErrorRange single;
  ErrorRange repeated;
  double absent = 0;
  for (Id id = 0; id < lookup.vocab_size; ++id) {
    const auto place = static_cast<std::size_t>(id);
    all.add(added_errors[place]);
    if (lookup.times(id) == 0) absent = std::max(absent, row_norm(added, id));
    if (lookup.times(id) == 1) single.add(assigned_errors[place]);
    if (lookup.times(id) > 1) repeated.add(assigned_errors[place]);
  }
  outcome.figures = {{"loss", lookup.loss()},
                     {"largest relative error, added", all.most.relative},
                     {"largest relative error, assigned", repeated.most.relative}};
  outcome.require("added: largest error of all rows, share of what is allowed", all.most.share,
                  Relation::at_most, 1);
  outcome.require("added: largest gradient norm of a row that is not read", absent, Relation::equal,
                  0);
  outcome.require("assigned: largest error of rows that are read once, share of what is allowed",
                  single.most.share, Relation::at_most, 1);
  outcome.require(
      "assigned: smallest error of rows that are read more than once, share of what is allowed",
      repeated.least.share, Relation::greater, 1);
  outcome.require("assigned: values that are not those of the row's last position",
                  static_cast<double>(differs_from_last(lookup, assigned)), Relation::equal, 0);
  show(outcome, text, lookup, added, assigned, numeric);
}

}  // namespace

Outcome run_scatter(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const auto shift = static_cast<std::uint32_t>(setting.seed - 1);
  std::vector<Id> ids = choose_phrase(text);
  const auto count = static_cast<std::int64_t>(ids.size());
  Lookup lookup{setting.pool, text.vocab_size(), std::move(ids),
                normal_values(kTableSeed + shift, text.vocab_size() * kScatterDim),
                normal_values(kUpstreamSeed + shift, count * kScatterDim)};
  compare(outcome, text, lookup);
  std::string phrase;
  for (Id id : lookup.ids) phrase += text.spelling(id);
  outcome.method = fmt::format(
      "The {} characters of \"{}\" are looked up in a table of {} rows of {} values in float64. "
      "The "
      "loss is the sum of all values of the rows times an upstream gradient; both are drawn from "
      "NumPy's stream, seeds {} and {}. The gradient of the table is found twice, by adding the "
      "upstream rows into the rows they came from and by writing them there in one assignment "
      "(what "
      "NumPy's gradient[ids] += upstream does), and both are compared with central differences "
      "over "
      "every entry of the table, step {}; a correct gradient may be off by {} of its value and "
      "{}.{}",
      count, phrase, text.vocab_size(), kScatterDim, kTableSeed + shift, kUpstreamSeed + shift,
      kEps, kRelative, kAbsolute, text.note);
  outcome.reading =
      "Assignment keeps only the last contribution of a repeated row and loses the others, without "
      "any error message; rows that are read once hide the fault.";
  return outcome;
}

}  // namespace lexirow::experiment
