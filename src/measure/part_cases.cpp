#include "measure/part_cases.h"

#include <algorithm>

#include "base/array.h"
#include "context/mixer.h"
#include "loss/head_loss.h"
#include "measure/some_values.h"
#include "measure/zipf.h"
#include "optim/optimizer.h"
#include "rows/lookup.h"
#include "train/derive.h"

namespace lexirow::measure {
namespace {

constexpr double kFloat = sizeof(float);

base::View1<const Id> view(const std::vector<Id>& ids) {
  return {ids.data(), {static_cast<std::int64_t>(ids.size())}};
}

double as_real(std::int64_t value) {
  return static_cast<double>(value);
}

}  // namespace

Measurement lookup_case(base::ThreadPool& pool, const CaseSizes& sizes) {
  const std::int64_t n = sizes.positions();
  const std::int64_t dim = sizes.settings.dim;
  const base::Array<float> table = some_values<float>(sizes.vocab_size * dim);
  const std::vector<Id> ids =
      zipf_ids(sizes.vocab_size, n, static_cast<std::uint64_t>(sizes.settings.seed));
  base::Array<float> out(n * dim);
  Measurement result;
  result.tokens = n;
  result.work = 2 * as_real(n * dim) * kFloat;
  result.timing = repeat(sizes.seconds, [&] {
    rows::lookup_forward<float>(pool, table.view(sizes.vocab_size, dim), view(ids),
                                out.view(n, dim));
  });
  return result;
}

Measurement scatter_add_case(base::ThreadPool& pool, const CaseSizes& sizes) {
  const std::int64_t n = sizes.positions();
  const std::int64_t dim = sizes.settings.dim;
  const std::vector<Id> ids =
      zipf_ids(sizes.vocab_size, n, static_cast<std::uint64_t>(sizes.settings.seed));
  const base::Array<float> d_out = some_values<float>(n * dim);
  rows::ScatterPlan plan;
  rows::TouchedRows<float> d_rows;
  Measurement result;
  result.timing = repeat(
      sizes.seconds,
      [&] {
        rows::make_scatter_plan(view(ids), {}, sizes.vocab_size, kNoId, plan);
        rows::lookup_backward<float>(pool, plan, d_out.view(n, dim), d_rows);
      },
      [&] { d_rows.ids.clear(); });
  result.tokens = n;
  result.work = as_real((n + d_rows.count()) * dim) * kFloat;
  return result;
}

Measurement mixer_case(base::ThreadPool& pool, const CaseSizes& sizes) {
  const std::int64_t batch = sizes.settings.batch;
  const std::int64_t steps = sizes.settings.context;
  const std::int64_t dim = sizes.settings.dim;
  const context::Mixer mixer = context::parse_mixer(sizes.settings.mixer);
  const std::int64_t features = context::feature_width(mixer, dim);
  const base::Array<float> hidden = some_values<float>(batch * steps * dim);
  base::Array<float> out(batch * steps * features);
  base::Array<float> d_hidden(batch * steps * dim);
  const base::Array<float> decay_rate = some_values<float>(context::learned_rates(mixer));
  base::Array<float> d_decay_rate(decay_rate.size());
  const base::Array<float> d_out = some_values<float>(batch * steps * features);
  Measurement result;
  result.tokens = batch * steps;
  // Rows and d_out are read, the context written, d_hidden read and written.
  result.work = as_real(batch * steps * (3 * dim + 2 * features)) * kFloat;
  result.timing = repeat(sizes.seconds, [&] {
    const context::MixerViews<float> inputs{decay_rate.view(), {}};
    context::mixer_forward<float>(pool, mixer, inputs, hidden.view(batch, steps, dim), {},
                                  out.view(batch, steps, features));
    context::mixer_backward<float>(pool, mixer, inputs, hidden.view(batch, steps, dim), {},
                                   d_out.view(batch, steps, features),
                                   d_hidden.view(batch, steps, dim), d_decay_rate.view());
  });
  return result;
}

Measurement head_case(base::ThreadPool& pool, const CaseSizes& sizes) {
  const std::int64_t n = sizes.positions();
  const std::int64_t vocab = sizes.vocab_size;
  const std::int64_t dim = sizes.settings.dim;
  const base::Array<float> hidden = some_values<float>(n * dim);
  const base::Array<float> weight = some_values<float>(vocab * dim);
  const base::Array<float> bias = some_values<float>(vocab);
  const std::vector<Id> labels =
      zipf_ids(vocab, n, static_cast<std::uint64_t>(sizes.settings.seed));
  base::Array<float> d_hidden(n * dim);
  base::Array<float> d_weight(vocab * dim);
  base::Array<float> d_bias(vocab);
  loss::HeadLossWorkspace<float> workspace;
  Measurement result;
  result.tokens = n;
  result.limit = Limit::matrix_rate;
  result.work = 6 * as_real(n * vocab) * as_real(dim);
  result.timing = repeat(sizes.seconds, [&] {
    loss::head_loss_forward_backward<float>(pool, hidden.view(n, dim), weight.view(vocab, dim),
                                            bias.view(), view(labels), kNoId,
                                            1.0F / static_cast<float>(n), d_hidden.view(n, dim),
                                            d_weight.view(vocab, dim), d_bias.view(), workspace);
  });
  return result;
}

Measurement optimizer_case(base::ThreadPool& pool, const CaseSizes& sizes) {
  const std::int64_t vocab = sizes.vocab_size;
  const std::int64_t dim = sizes.settings.dim;
  const std::int64_t touched = std::min(sizes.positions(), vocab);
  base::Array<float> table = some_values<float>(vocab * dim);
  rows::TouchedRows<float> gradient;
  gradient.dim = dim;
  gradient.values = some_values<float>(touched * dim);
  for (std::int64_t u = 0; u < touched; ++u) {
    gradient.ids.push_back(static_cast<Id>(u * vocab / touched));
  }
  optim::Slots<float> slots;
  slots.tables.push_back({"token_embedding.weight", table.view(vocab, dim), &gradient});
  slots.dim = dim;
  const optim::OptimizerConfig config = train::optimizer_config(sizes.settings);
  optim::Optimizer<float> optimizer(config, slots);
  std::int64_t state_values = 0;
  for (const auto& tensor : optimizer.state()) state_values += tensor.values.size();
  Measurement result;
  result.tokens = sizes.positions();
  // Values and state of the rows that move are read and written, gradients read.
  const std::int64_t moving = config.row_updates == optim::RowUpdates::lazy ? touched : vocab;
  const double state_of_a_row = as_real(state_values) / as_real(vocab);
  result.work =
      (2 * as_real(moving) * (as_real(dim) + state_of_a_row) + as_real(touched * dim)) * kFloat;
  result.timing = repeat(sizes.seconds, [&] { optimizer.step(pool, slots, 1e-3, 1.0F); });
  return result;
}

}  // namespace lexirow::measure
