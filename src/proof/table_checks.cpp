#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/matmul.h"
#include "proof/examination.h"

namespace lexirow::proof {
namespace {

/// An untied copy of a tied model in float64: table and head hold the same values apart.
struct UntiedCopy {
  explicit UntiedCopy(const Examination& examination, const model::Parameters<double>& tied)
      : config(examination.config()) {
    config.tied = false;
    config.bias = true;
    parameters = model::Parameters<double>(config);
    const auto sources = tied.tensors();
    for (const auto& target : parameters.tensors()) {
      for (const auto& source : sources) {
        if (source.name == target.name) {
          std::copy(source.values.begin(), source.values.end(), target.values.begin());
        }
      }
    }
    const base::View2<const double> table = tied.token_embedding();
    std::copy(table.begin(), table.end(), parameters.head_weight().begin());
    // A tied pad row is left out of the softmax; here its bias does that.
    if (config.pad_id != kNoId) parameters.head_bias()[config.pad_id] = -1e30;
  }

  model::ModelConfig config;
  model::Parameters<double> parameters;
};

/// The gradient of the table, [V, D].
base::Array<double> table_gradient(const Examination& examination, const model::ModelConfig& config,
                                   const model::Parameters<double>& parameters,
                                   const text::Batch& batch, base::Array<double>* head) {
  model::Workspace<double> workspace;
  model::Gradients<double> gradients(config);
  gradients.clear();
  examination.parts.wide.evaluate_with_gradients(examination.pool, config, parameters,
                                                 view_of(batch), workspace, gradients);
  std::vector<base::Array<double>> flat = flat_gradients(parameters, gradients);
  const auto tensors = parameters.tensors();
  for (std::size_t i = 0; head != nullptr && i < flat.size(); ++i) {
    if (tensors[i].values.data() == parameters.head_weight().data()) *head = std::move(flat[i]);
  }
  return std::move(flat.front());
}

}  // namespace

Verdict check_tied_head(const Examination& examination) {
  if (!examination.config().tied) return skip("head and table are two tensors: nothing is tied");
  const model::Parameters<float>& single = examination.parameters();
  if (examination.parts.head_weight(single).data() != single.token_embedding().data()) {
    return judge(1, 0, "The head is a copy of the table, not the table itself.");
  }
  text::Batch batch = make_batch(examination, 2, examination.subject.length);
  hide_some(examination, batch);
  const model::Parameters<double> tied = model::widen(examination.config(), single);
  const base::Array<double> both =
      table_gradient(examination, examination.config(), tied, batch, nullptr);
  const UntiedCopy untied(examination, tied);
  base::Array<double> as_head;
  const base::Array<double> as_rows =
      table_gradient(examination, untied.config, untied.parameters, batch, &as_head);
  double largest = 0;
  double difference = 0;
  for (std::int64_t i = 0; i < both.size(); ++i) {
    largest = std::max(largest, std::abs(as_rows[i] + as_head[i]));
    difference = std::max(difference, std::abs(both[i] - (as_rows[i] + as_head[i])));
    if (std::isnan(both[i] - as_rows[i] - as_head[i])) {
      return judge(std::abs(both[i] - as_rows[i] - as_head[i]), 1e-12,
                   fmt::format("Value {} of the gradient is not a number.", i));
    }
  }
  return judge(largest > 0 ? difference / largest : difference, 1e-12,
               "Head and table are one tensor, and its gradient is that of its rows plus that of "
               "its use as head, each taken from an untied copy in float64; the figure is the "
               "largest difference over the largest value.");
}

Verdict check_one_hot(const Examination& examination) {
  const base::View2<const float> table = examination.parameters().token_embedding();
  const std::int64_t vocab_size = table.extent(0);
  const std::int64_t dim = table.extent(1);
  std::vector<Id> ids = subject_ids(examination.subject, 32);
  // Rows all over the table, the last one included.
  constexpr std::int64_t kSpread = 16;
  for (std::int64_t i = 0; i <= kSpread; ++i) {
    ids.push_back(static_cast<Id>(i * (vocab_size - 1) / kSpread));
  }
  const auto count = static_cast<std::int64_t>(ids.size());
  base::Array<float> one_hot(count * vocab_size);
  for (std::int64_t i = 0; i < count; ++i) {
    one_hot[i * vocab_size + ids[static_cast<std::size_t>(i)]] = 1;
  }
  base::Array<float> product(count * dim);
  base::Array<float> rows(count * dim);
  kernels::matmul(false, false, count, dim, vocab_size, one_hot.data(), vocab_size, table.data(),
                  dim, false, product.data(), dim);
  examination.parts.lookup_forward(examination.pool, table, {ids.data(), {count}},
                                   rows.view(count, dim));
  std::int64_t different = 0;
  // By value, not by bits: the product turns a row's -0 into 0.
  for (std::int64_t i = 0; i < rows.size(); ++i) different += !(product[i] == rows[i]);
  return judge(static_cast<double>(different), 0,
               fmt::format("{} of {} values differ between {} one-hot rows times the table and the "
                           "lookup of their ids.",
                           different, rows.size(), count));
}

/// What each row must get where position i brings `upstream[i]` in every column: sums of small
/// whole numbers, which float32 holds exactly.
std::vector<float> sums_by_row(const std::vector<Id>& ids, const std::vector<float>& upstream,
                               std::int64_t vocab_size, Id pad) {
  std::vector<float> sums(static_cast<std::size_t>(vocab_size));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != pad) sums[static_cast<std::size_t>(ids[i])] += upstream[i];
  }
  return sums;
}

/// Values that are wrong when position i brings `upstream[i]`, as touched rows and dense.
std::int64_t count_wrong_sums(const Examination& examination, const std::vector<Id>& ids,
                              const std::vector<float>& upstream) {
  const std::int64_t vocab_size = examination.config().vocab_size;
  const std::int64_t dim = examination.config().dim;
  const Id pad = examination.config().pad_id;
  const auto count = static_cast<std::int64_t>(ids.size());
  const std::vector<float> sums = sums_by_row(ids, upstream, vocab_size, pad);
  rows::ScatterPlan plan;
  rows::make_scatter_plan({ids.data(), {count}}, {}, vocab_size, pad, plan);
  base::Array<float> d_out(count * dim);
  for (std::int64_t i = 0; i < count; ++i) {
    std::fill_n(d_out.data() + i * dim, dim, upstream[static_cast<std::size_t>(i)]);
  }
  const base::View2<const float> d_rows = std::as_const(d_out).view(count, dim);
  rows::TouchedRows<float> touched;
  base::Array<float> dense(vocab_size * dim);
  examination.parts.lookup_backward(examination.pool, plan, d_rows, touched);
  examination.parts.lookup_backward_dense(examination.pool, plan, d_rows,
                                          dense.view(vocab_size, dim));
  const auto wrong_values = [&](std::int64_t id, const float* row) {
    return dim - std::count(row, row + dim, sums[static_cast<std::size_t>(id)]);
  };
  std::int64_t wrong =
      std::abs(touched.count() - (vocab_size - std::count(sums.begin(), sums.end(), 0.0F)));
  for (std::int64_t u = 0; u < touched.count(); ++u) {
    wrong += wrong_values(touched.ids[static_cast<std::size_t>(u)], touched.row(u));
  }
  for (std::int64_t id = 0; id < vocab_size; ++id) {
    wrong += wrong_values(id, dense.data() + id * dim);
  }
  return wrong;
}

Verdict check_scatter_add(const Examination& examination) {
  constexpr std::int64_t kMaxIds = 16384;
  constexpr std::size_t kNumbers = 251;  // their sums stay below 2^24
  const auto available = static_cast<std::int64_t>(examination.subject.ids.size());
  const std::vector<Id> ids =
      subject_ids(examination.subject, std::clamp<std::int64_t>(available, 1024, kMaxIds));
  const std::vector<float> ones(ids.size(), 1.0F);
  std::vector<float> numbers;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    numbers.push_back(static_cast<float>(1 + i % kNumbers));
  }
  const std::vector<float> counts =
      sums_by_row(ids, ones, examination.config().vocab_size, examination.config().pad_id);
  const std::int64_t unread = std::count(counts.begin(), counts.end(), 0.0F);
  const std::int64_t wrong =
      count_wrong_sums(examination, ids, ones) + count_wrong_sums(examination, ids, numbers);
  return judge(static_cast<double>(wrong), 0,
               fmt::format("Adding ones back into the rows of {} ids counts each of {} ids exactly "
                           "and leaves the {} rows never read at zero, and adding the positions' "
                           "numbers gives their sums; {} values are wrong.",
                           ids.size(), examination.config().vocab_size - unread, unread, wrong));
}

}  // namespace lexirow::proof
