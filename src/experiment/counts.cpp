#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/array.h"
#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "rows/lookup.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kCountsDim = 8;
constexpr std::size_t kTextBytes = std::size_t{1} << 20;
constexpr std::size_t kCountsShown = 24;
constexpr std::size_t kCountsListed = 200;

using Mask = std::vector<std::uint8_t>;

/// The gradient of a table of V + 1 rows under an upstream gradient of ones, both forms: [V+1, D].
template <Real T>
struct OnesGradient {
  base::Array<T> dense;
  base::Array<T> from_rows;
};

template <Real T>
OnesGradient<T> ones_gradient(base::ThreadPool& pool, const TextIds& text, const Mask& mask) {
  const std::int64_t rows = text.vocab_size() + 1;
  const base::View1<const std::uint8_t> visible(mask.data(), {text.size()});
  rows::ScatterPlan plan;
  rows::make_scatter_plan({text.ids.data(), {text.size()}}, visible, rows, kNoId, plan);
  base::Array<T> ones(text.size() * kCountsDim);
  ones.fill(1);
  const base::View2<const T> upstream = std::as_const(ones).view(text.size(), kCountsDim);
  OnesGradient<T> gradient{base::Array<T>(rows * kCountsDim), base::Array<T>(rows * kCountsDim)};
  rows::lookup_backward_dense<T>(pool, plan, upstream, gradient.dense.view(rows, kCountsDim));
  rows::TouchedRows<T> touched;
  rows::lookup_backward<T>(pool, plan, upstream, touched);
  for (std::int64_t u = 0; u < touched.count(); ++u) {
    const std::int64_t id = touched.ids[static_cast<std::size_t>(u)];
    std::copy_n(touched.row(u), kCountsDim, gradient.from_rows.data() + id * kCountsDim);
  }
  return gradient;
}

/// Values that are not the count of their row's token; the spare row's count is 0.
template <Real T>
std::int64_t wrong_values(const base::Array<T>& gradient, const std::vector<std::int64_t>& counts) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < gradient.size(); ++i) {
    const auto id = static_cast<std::size_t>(i / kCountsDim);
    const std::int64_t count = id < counts.size() ? counts[id] : 0;
    wrong += !(gradient[i] == static_cast<T>(count));
  }
  return wrong;
}

template <Real T>
void require_counts(Outcome& outcome, const std::string& what, const OnesGradient<T>& gradient,
                    const std::vector<std::int64_t>& counts) {
  const std::int64_t wrong =
      wrong_values(gradient.dense, counts) + wrong_values(gradient.from_rows, counts);
  outcome.require(fmt::format("{}: values of the gradient that are not their token's count", what),
                  static_cast<double>(wrong), Relation::equal, 0);
}

void show_counts(Outcome& outcome, const TextIds& text, const base::Array<float>& gradient,
                 const std::vector<std::int64_t>& counts) {
  Table table{"rows",
              "Each row's count and its gradient",
              {"token", "id", "occurrences", "gradient, every value"},
              {}};
  BarChart chart{
      "The commonest tokens", "gradient of a row, every value", {}, {"gradient"}, {}, {}};
  for (Id id : commonest_tokens(text, kCountsListed)) {
    const auto value = static_cast<double>(gradient[id * kCountsDim]);
    table.rows.push_back(
        {text.spelling(id), std::int64_t{id}, counts[static_cast<std::size_t>(id)], value});
    if (chart.groups.size() == kCountsShown) continue;
    chart.groups.push_back(text.spelling(id));
    chart.values.push_back(value);
  }
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(chart));
}

}  // namespace

Outcome run_counts(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character, kTextBytes);
  std::vector<std::int64_t> counts = count_tokens(text);
  Mask mask(text.ids.size(), 1);
  const OnesGradient<float> single = ones_gradient<float>(setting.pool, text, mask);
  require_counts(outcome, "float32", single, counts);
  require_counts(outcome, "float64", ones_gradient<double>(setting.pool, text, mask), counts);
  show_counts(outcome, text, single.dense, counts);
  double spare = 0;
  for (std::int64_t c = 0; c < kCountsDim; ++c) {
    spare = std::max(
        spare, std::abs(static_cast<double>(single.dense[text.vocab_size() * kCountsDim + c])));
  }
  outcome.require("a spare row that no position reads: largest value of its gradient", spare,
                  Relation::equal, 0);
  for (std::size_t i = 0; i < mask.size(); i += 3) {
    mask[i] = 0;
    --counts[static_cast<std::size_t>(text.ids[i])];
  }
  require_counts(outcome, "float32, every third position masked",
                 ones_gradient<float>(setting.pool, text, mask), counts);
  outcome.method = fmt::format(
      "The {} characters of the text are looked up in a table of {} rows and one spare row, {} "
      "values each. Every value of the upstream gradient is 1, so that the scatter-add has nothing "
      "to add but ones; its result is compared with counts made without it, in float32 and "
      "float64, "
      "as a dense gradient and as touched rows, and once with every third position masked.{}",
      text.size(), text.vocab_size(), kCountsDim, text.note);
  outcome.reading =
      "The gradient of a row is a sum over the places that read it: a token that occurs 100 times "
      "gets 100 contributions, and one that does not occur gets exactly none.";
  outcome.figures.push_back({"positions", static_cast<double>(text.size())});
  outcome.figures.push_back({"rows", static_cast<double>(text.vocab_size())});
  return outcome;
}

}  // namespace lexirow::experiment
