#include "model/sampled_head.h"

#include <algorithm>

namespace lexirow::model {
namespace {

/// Which rows of the head are read, and what is added to their logits.
template <Real T>
void list_rows(base::ThreadPool& pool, base::View1<const Id> labels,
               const loss::Negatives& negatives, base::View1<const T> bias,
               SampledHeadWorkspace<T>& workspace) {
  workspace.ids.assign(labels.begin(), labels.end());
  workspace.mask.assign(workspace.ids.size(), 1);
  for (std::size_t n = 0; n < workspace.ids.size(); ++n) {
    if (workspace.ids[n] != kIgnoredLabel) continue;
    workspace.ids[n] = 0;
    workspace.mask[n] = 0;
  }
  workspace.ids.insert(workspace.ids.end(), negatives.ids.begin(), negatives.ids.end());
  workspace.mask.resize(workspace.ids.size(), 1);
  workspace.offsets.resize(workspace.count());
  constexpr std::int64_t kTile = 512;
  pool.parallel_for((workspace.count() + kTile - 1) / kTile, [&](std::int64_t tile) {
    for (std::int64_t m = tile * kTile; m < std::min(workspace.count(), (tile + 1) * kTile); ++m) {
      const Id id = workspace.ids[static_cast<std::size_t>(m)];
      const auto expected = static_cast<T>(negatives.sampler->log_expected(id, negatives.draws));
      workspace.offsets[m] = (bias.present() ? bias[id] : T{0}) - expected;
    }
  });
}

/// The rows of the labels and those of the negatives, out of all that are read.
template <typename T>
loss::SampledHead<T> split(T* rows, T* offsets, std::int64_t n, std::int64_t k, std::int64_t dim) {
  return {{rows, {n, dim}}, {offsets, {n}}, {rows + n * dim, {k, dim}}, {offsets + n, {k}}};
}

}  // namespace

template <Real T>
loss::LossSum sampled_head_loss(base::ThreadPool& pool, const ModelConfig& config,
                                const Parameters<T>& parameters, base::View2<const T> states,
                                base::View1<const Id> labels, const loss::Negatives& negatives,
                                T scale, base::View2<T> d_states,
                                SampledHeadWorkspace<T>& workspace, Gradients<T>& gradients) {
  const std::int64_t n = labels.size();
  const auto k = static_cast<std::int64_t>(negatives.ids.size());
  const std::int64_t dim = states.extent(1);
  list_rows(pool, labels, negatives, parameters.head_bias(), workspace);
  workspace.rows.resize(workspace.count() * dim);
  workspace.d_rows.resize(workspace.count() * dim);
  workspace.d_offsets.resize(workspace.count());
  const base::View1<const Id> ids(workspace.ids.data(), {workspace.count()});
  rows::lookup_forward(pool, parameters.head_weight(), ids,
                       workspace.rows.view(workspace.count(), dim));
  const loss::LossSum sum = loss::sampled_loss_forward_backward<T>(
      pool, states, labels, {negatives.ids.data(), {k}},
      split<const T>(workspace.rows.data(), workspace.offsets.data(), n, k, dim), scale, d_states,
      split<T>(workspace.d_rows.data(), workspace.d_offsets.data(), n, k, dim), workspace.loss);
  const base::View1<T> d_bias = gradients.dense.head_bias();
  for (std::int64_t m = 0; d_bias.present() && m < workspace.count(); ++m) {
    d_bias[ids[m]] += workspace.d_offsets[m];
  }
  rows::make_scatter_plan(ids, {workspace.mask.data(), {workspace.count()}}, config.vocab_size,
                          kNoId, workspace.plan);
  const base::View2<const T> d_rows = workspace.d_rows.view(workspace.count(), dim);
  if (config.tied) {
    rows::lookup_backward_dense<T>(pool, workspace.plan, d_rows, gradients.dense.token_embedding());
  } else if (!gradients.leave_rows) {
    rows::lookup_backward<T>(pool, workspace.plan, d_rows, gradients.head_rows);
  }
  return sum;
}

template loss::LossSum sampled_head_loss<float>(base::ThreadPool&, const ModelConfig&,
                                                const Parameters<float>&, base::View2<const float>,
                                                base::View1<const Id>, const loss::Negatives&,
                                                float, base::View2<float>,
                                                SampledHeadWorkspace<float>&, Gradients<float>&);
template loss::LossSum sampled_head_loss<double>(base::ThreadPool&, const ModelConfig&,
                                                 const Parameters<double>&,
                                                 base::View2<const double>, base::View1<const Id>,
                                                 const loss::Negatives&, double,
                                                 base::View2<double>, SampledHeadWorkspace<double>&,
                                                 Gradients<double>&);

}  // namespace lexirow::model
