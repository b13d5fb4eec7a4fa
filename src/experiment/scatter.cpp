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

constexpr std::int64_t kDim = 8;
constexpr double kEps = 1e-5;
constexpr const char* kPhrase = "the boats";
// Of a central difference of a linear loss in float64, in any order of summation.
constexpr double kLimit = 1e-8;
// NumPy's seeds of table and upstream gradient when the user's seed is 1.
constexpr std::uint32_t kTableSeed = 42;
constexpr std::uint32_t kUpstreamSeed = 0;

std::vector<double> normal_values(std::uint64_t seed, std::int64_t size) {
  base::NumpyStream stream(static_cast<std::uint32_t>(seed));
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
    rows::lookup_forward<double>(pool, {table.data(), {vocab_size, kDim}},
                                 {ids.data(), {positions()}}, {rows.data(), {positions(), kDim}});
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
    rows::lookup_backward_dense<double>(pool, plan, {upstream.data(), {positions(), kDim}},
                                        {gradient.data(), {vocab_size, kDim}});
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

  /// The table's entry behind value i of the rows.
  std::size_t entry_of(std::size_t i) const {
    constexpr auto kWidth = static_cast<std::size_t>(kDim);
    return static_cast<std::size_t>(ids[i / kWidth]) * kWidth + i % kWidth;
  }
};

/// The largest relative error of each row of a gradient, [V].
std::vector<double> row_errors(const std::vector<double>& gradient,
                               const std::vector<double>& numeric) {
  std::vector<double> errors(gradient.size() / static_cast<std::size_t>(kDim));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double a = gradient[i];
    const double n = numeric[i];
    const double error = std::abs(a - n) / (std::max(std::abs(a), std::abs(n)) + 1e-12);
    double& largest = errors[i / static_cast<std::size_t>(kDim)];
    largest = std::max(largest, error);
  }
  return errors;
}

double row_norm(const std::vector<double>& gradient, Id id) {
  double squares = 0;
  for (std::int64_t c = 0; c < kDim; ++c) {
    const double value = gradient[static_cast<std::size_t>(id * kDim + c)];
    squares += value * value;
  }
  return std::sqrt(squares);
}

/// Values of a repeated row under assignment that are not, bit for bit, the upstream gradient of
/// its last position.
std::int64_t differs_from_last(const Lookup& lookup, const std::vector<double>& assigned) {
  std::int64_t different = 0;
  for (std::size_t i = 0; i < lookup.upstream.size(); ++i) {
    const auto position = lookup.ids.begin() + static_cast<std::ptrdiff_t>(i) / kDim;
    if (std::find(position + 1, lookup.ids.end(), *position) != lookup.ids.end()) continue;
    different += assigned[lookup.entry_of(i)] != lookup.upstream[i];
  }
  return different;
}

/// Both gradients row by row, with the conditions that the claim stands on.
void compare(Outcome& outcome, const TextIds& text, Lookup& lookup) {
  const std::vector<double> added = lookup.scatter_add();
  const std::vector<double> assigned = lookup.buffered_assignment();
  std::vector<double> numeric(lookup.table.size());
  for (std::size_t i = 0; i < numeric.size(); ++i) numeric[i] = lookup.central_difference(i);
  const std::vector<double> added_errors = row_errors(added, numeric);
  const std::vector<double> assigned_errors = row_errors(assigned, numeric);
  const std::set<Id> read(lookup.ids.begin(), lookup.ids.end());
  double repeated = std::numeric_limits<double>::infinity();
  double repeated_worst = 0;
  double single = 0;
  Table table{"rows",
              "The rows that are read",
              {"token", "id", "positions", "gradient norm, added", "gradient norm, assigned",
               "relative error, added", "relative error, assigned"},
              {}};
  BarChart chart{"Rows that are read", "norm of the gradient", {}, {"added", "assigned"}, {}, {}};
  for (Id id : read) {
    const auto times = std::count(lookup.ids.begin(), lookup.ids.end(), id);
    const double error = assigned_errors[static_cast<std::size_t>(id)];
    if (times > 1) {
      repeated = std::min(repeated, error);
      repeated_worst = std::max(repeated_worst, error);
    } else {
      single = std::max(single, error);
    }
    table.rows.push_back({text.spelling(id), std::int64_t{id}, static_cast<std::int64_t>(times),
                          row_norm(added, id), row_norm(assigned, id),
                          added_errors[static_cast<std::size_t>(id)], error});
    chart.groups.push_back(text.spelling(id));
    chart.values.insert(chart.values.end(), {row_norm(added, id), row_norm(assigned, id)});
  }
  double absent = 0;
  for (Id id = 0; id < lookup.vocab_size; ++id) {
    if (!read.contains(id)) absent = std::max(absent, row_norm(added, id));
  }
  const double worst = *std::max_element(added_errors.begin(), added_errors.end());
  outcome.figures.push_back({"loss", lookup.loss()});
  outcome.figures.push_back({"largest relative error, added", worst});
  outcome.figures.push_back({"largest relative error, assigned", repeated_worst});
  outcome.require("added: largest relative error of all rows", worst, Relation::at_most, kLimit);
  outcome.require("added: largest gradient norm of a row that is not read", absent, Relation::equal,
                  0);
  outcome.require("assigned: largest relative error of rows that are read once", single,
                  Relation::at_most, kLimit);
  outcome.require("assigned: smallest relative error of rows that are read more than once",
                  repeated, Relation::greater, kLimit);
  outcome.require("assigned: values that are not those of the row's last position",
                  static_cast<double>(differs_from_last(lookup, assigned)), Relation::equal, 0);
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(chart));
}

}  // namespace

Outcome run_scatter(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const std::uint64_t shift = setting.seed - 1;
  std::vector<Id> ids = choose_phrase(text);
  const auto count = static_cast<std::int64_t>(ids.size());
  Lookup lookup{setting.pool, text.vocab_size(), std::move(ids),
                normal_values(kTableSeed + shift, text.vocab_size() * kDim),
                normal_values(kUpstreamSeed + shift, count * kDim)};
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
      "every entry of the table, step {}.{}",
      count, phrase, text.vocab_size(), kDim, kTableSeed + shift, kUpstreamSeed + shift, kEps,
      text.note);
  outcome.reading =
      "Assignment keeps only the last contribution of a repeated row and loses the others, without "
      "any error message; rows that are read once hide the fault.";
  return outcome;
}

}  // namespace lexirow::experiment
