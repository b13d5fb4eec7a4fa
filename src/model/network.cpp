#include "model/network.h"

#include <algorithm>
#include <cassert>

#include "context/mixer.h"
#include "context/none.h"
#include "kernels/vector_ops.h"
#include "logits/linear.h"
#include "logits/mlp.h"
#include "rows/positions.h"

namespace lexirow::model {

namespace {

/// The sizes of a batch under a model.
struct Sizes {
  std::int64_t batch = 0;     ///< B
  std::int64_t rows = 0;      ///< P+T
  std::int64_t steps = 0;     ///< T
  std::int64_t dim = 0;       ///< D
  std::int64_t features = 0;  ///< F
  std::int64_t hidden = 0;    ///< H

  std::int64_t positions() const { return batch * steps; }  ///< N
  std::int64_t earlier() const { return rows - steps; }     ///< P
};

Sizes sizes_of(const ModelConfig& config, const BatchView& batch, std::int64_t positions) {
  const std::int64_t sequences = batch.ids.extent(0);
  assert(sequences >= 1 && positions % sequences == 0);
  assert(!batch.mask.present() || batch.mask.extents() == batch.ids.extents());
  const std::int64_t steps = positions / sequences;
  assert(steps <= batch.ids.extent(1));
  return {sequences,
          batch.ids.extent(1),
          steps,
          config.dim,
          context::feature_width(config.mixer, config.dim),
          config.hidden};
}

template <typename T>
base::View1<T> flat(base::View2<T> values) {
  return {values.data(), {values.size()}};
}

/// The rows are the context as they stand: `none` of every position, no mask. Nothing is copied.
bool passes_rows_on(const ModelConfig& config, const BatchView& batch, const Sizes& sizes) {
  return config.mixer.is(context::MixerKind::none) && sizes.rows == sizes.steps &&
         !batch.mask.present();
}

/// Rows, then positions, then context. Returns the context [N, F].
template <Real T>
base::View2<const T> mix_rows(base::ThreadPool& pool, const ModelConfig& config,
                              const Parameters<T>& parameters, const BatchView& batch,
                              const Sizes& sizes, Workspace<T>& workspace) {
  workspace.hidden.resize(sizes.batch * sizes.rows * sizes.dim);
  rows::lookup_forward(pool, parameters.token_embedding(), flat(batch.ids),
                       workspace.hidden.view(sizes.batch * sizes.rows, sizes.dim));
  if (const base::View2<const T> positions = parameters.position_rows(); positions.present()) {
    const base::View3<T> hidden = workspace.hidden.view(sizes.batch, sizes.rows, sizes.dim);
    rows::add_positions_forward<T>(pool, positions, sizes.earlier(), batch.mask, hidden, hidden);
  }
  if (passes_rows_on(config, batch, sizes)) {
    return workspace.hidden.view(sizes.positions(), sizes.dim);
  }
  workspace.context.resize(sizes.positions() * sizes.features);
  context::mixer_forward<T>(pool, config.mixer, {parameters.decay_rate(), batch.carried},
                            workspace.hidden.view(sizes.batch, sizes.rows, sizes.dim), batch.mask,
                            workspace.context.view(sizes.batch, sizes.steps, sizes.features));
  return workspace.context.view(sizes.positions(), sizes.features);
}

/// Adds each visible position's own row, as the mixer reads it, to what its MLP made. Its gradient
/// is that of the mixer none, which the backward runs for it.
template <Real T>
void add_current_rows(base::ThreadPool& pool, base::View3<const T> hidden,
                      base::View2<const std::uint8_t> mask, base::View3<T> out) {
  const std::int64_t rows = hidden.extent(1);
  const std::int64_t steps = out.extent(1);
  const std::int64_t dim = out.extent(2);
  pool.parallel_for(out.extent(0), [&](std::int64_t b) {
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t row = b * rows + rows - steps + t;
      if (mask.present() && mask.data()[row] == 0) continue;
      kernels::add(dim, hidden.data() + row * dim, out.data() + (b * steps + t) * dim);
    }
  });
}

/// Rows, context, MLP, current row. Returns what the head reads [N, D]; `context` is for the
/// backward.
template <Real T>
base::View2<const T> states_forward(base::ThreadPool& pool, const ModelConfig& config,
                                    const Parameters<T>& parameters, const BatchView& batch,
                                    const Sizes& sizes, Workspace<T>& workspace,
                                    base::View2<const T>& context) {
  context = mix_rows(pool, config, parameters, batch, sizes, workspace);
  if (sizes.hidden == 0) return context;
  const std::int64_t n = sizes.positions();
  workspace.out.resize(n * sizes.dim);
  logits::mlp_forward<T>(pool, config.mlp, context, parameters.mlp(), batch.dropout, workspace.mlp,
                         workspace.out.view(n, sizes.dim));
  if (config.skip) {
    add_current_rows<T>(pool, workspace.hidden.view(sizes.batch, sizes.rows, sizes.dim), batch.mask,
                        workspace.out.view(sizes.batch, sizes.steps, sizes.dim));
  }
  return workspace.out.view(n, sizes.dim);
}

/// What the gradient of the head becomes on its way back to the table.
template <Real T>
struct BackwardViews {
  base::View2<T> d_hidden;   ///< [B*(P+T), D]
  base::View2<T> d_context;  ///< [N, F]
  base::View2<T> d_out;      ///< [N, D]
};

/// Zeroed gradients. Where a stage is left out, its view is that of the stage before.
template <Real T>
BackwardViews<T> zeroed_gradients(const Sizes& sizes, bool passes_on, Workspace<T>& workspace) {
  const std::int64_t n = sizes.positions();
  BackwardViews<T> views;
  workspace.d_hidden.zeroed(sizes.batch * sizes.rows * sizes.dim);
  views.d_hidden = workspace.d_hidden.view(sizes.batch * sizes.rows, sizes.dim);
  views.d_context = views.d_hidden;
  if (!passes_on) {
    workspace.d_context.zeroed(n * sizes.features);
    views.d_context = workspace.d_context.view(n, sizes.features);
  }
  views.d_out = views.d_context;
  if (sizes.hidden > 0) {
    workspace.d_out.zeroed(n * sizes.dim);
    views.d_out = workspace.d_out.view(n, sizes.dim);
  }
  return views;
}

/// From d_out back into the rows, through the stages in reverse.
template <Real T>
void states_backward(base::ThreadPool& pool, const ModelConfig& config,
                     const Parameters<T>& parameters, const BatchView& batch, const Sizes& sizes,
                     base::View2<const T> context, const BackwardViews<T>& views,
                     Workspace<T>& workspace, Gradients<T>& gradients) {
  const base::View3<T> d_hidden(views.d_hidden.data(), {sizes.batch, sizes.rows, sizes.dim});
  if (sizes.hidden > 0) {
    logits::mlp_backward<T>(pool, config.mlp, context, parameters.mlp(), batch.dropout, views.d_out,
                            workspace.mlp, views.d_context, gradients.dense.mlp());
  }
  if (views.d_context.data() != views.d_hidden.data()) {
    const base::View3<const T> d_context(views.d_context.data(),
                                         {sizes.batch, sizes.steps, sizes.features});
    context::mixer_backward<T>(pool, config.mixer, {parameters.decay_rate(), {}},
                               workspace.hidden.view(sizes.batch, sizes.rows, sizes.dim),
                               batch.mask, d_context, d_hidden, gradients.dense.decay_rate());
  }
  if (config.skip) {
    const base::View3<const T> d_out(views.d_out.data(), {sizes.batch, sizes.steps, sizes.dim});
    context::none_backward<T>(pool, batch.mask, d_out, d_hidden);
  }
  if (const base::View2<T> d_positions = gradients.dense.position_embedding();
      d_positions.present()) {
    rows::add_positions_backward<T>(pool, sizes.earlier(), batch.mask, d_hidden, d_positions);
  }
  rows::make_scatter_plan(flat(batch.ids), flat(batch.mask), config.vocab_size, config.pad_id,
                          workspace.plan);
  if (config.tied) {
    rows::lookup_backward_dense<T>(pool, workspace.plan, views.d_hidden,
                                   gradients.dense.token_embedding());
  } else if (!gradients.leave_rows) {
    rows::lookup_backward<T>(pool, workspace.plan, views.d_hidden, gradients.rows);
  }
}

std::int64_t count_labels(base::View1<const Id> labels) {
  return std::count_if(labels.begin(), labels.end(), [](Id id) { return id != kIgnoredLabel; });
}

}  // namespace

template <Real T>
void hidden_states(base::ThreadPool& pool, const ModelConfig& config,
                   const Parameters<T>& parameters, const BatchView& batch, bool zero_padding,
                   Workspace<T>& workspace, base::View2<T> out) {
  const Sizes sizes = sizes_of(config, batch, out.extent(0));
  assert(out.extent(1) == sizes.dim);
  base::View2<const T> context;
  const base::View2<const T> states =
      states_forward(pool, config, parameters, batch, sizes, workspace, context);
  std::copy(states.begin(), states.end(), out.begin());
  if (!zero_padding || !batch.mask.present()) return;
  for (std::int64_t i = 0; i < sizes.positions(); ++i) {
    const std::int64_t t = sizes.rows - sizes.steps + i % sizes.steps;
    if (batch.mask[i / sizes.steps][t] == 0) std::fill(out[i].begin(), out[i].end(), T{0});
  }
}

template <Real T>
void all_logits(base::ThreadPool& pool, const ModelConfig& config, const Parameters<T>& parameters,
                const BatchView& batch, Workspace<T>& workspace, base::View2<T> logits) {
  const Sizes sizes = sizes_of(config, batch, logits.extent(0));
  base::View2<const T> context;
  const base::View2<const T> states =
      states_forward(pool, config, parameters, batch, sizes, workspace, context);
  logits::linear_forward(pool, states, parameters.head_weight(), parameters.head_bias(), logits);
}

template <Real T>
loss::LossSum evaluate(base::ThreadPool& pool, const ModelConfig& config,
                       const Parameters<T>& parameters, const BatchView& batch,
                       Workspace<T>& workspace, base::View1<T> losses) {
  const Sizes sizes = sizes_of(config, batch, batch.labels.size());
  base::View2<const T> context;
  const base::View2<const T> states =
      states_forward(pool, config, parameters, batch, sizes, workspace, context);
  return loss::head_loss_forward(pool, states, parameters.head_weight(), parameters.head_bias(),
                                 flat(batch.labels), excluded_id(config), losses, workspace.head);
}

template <Real T>
loss::LossSum evaluate_with_gradients(base::ThreadPool& pool, const ModelConfig& config,
                                      const Parameters<T>& parameters, const BatchView& batch,
                                      Workspace<T>& workspace, Gradients<T>& gradients) {
  const Sizes sizes = sizes_of(config, batch, batch.labels.size());
  const std::int64_t counted = count_labels(flat(batch.labels));
  if (counted == 0) return {.sum = 0, .counted = 0, .total = sizes.positions()};
  base::View2<const T> context;
  const base::View2<const T> states =
      states_forward(pool, config, parameters, batch, sizes, workspace, context);
  const BackwardViews<T> views =
      zeroed_gradients(sizes, passes_rows_on(config, batch, sizes), workspace);
  const T scale = T{1} / static_cast<T>(counted);
  const loss::LossSum sum =
      batch.negatives != nullptr
          ? sampled_head_loss<T>(pool, config, parameters, states, flat(batch.labels),
                                 *batch.negatives, scale, views.d_out, workspace.sampled_head,
                                 gradients)
          : loss::head_loss_forward_backward(
                pool, states, parameters.head_weight(), parameters.head_bias(), flat(batch.labels),
                excluded_id(config), scale, views.d_out, gradients.dense.head_weight(),
                gradients.dense.head_bias(), workspace.head);
  states_backward(pool, config, parameters, batch, sizes, context, views, workspace, gradients);
  return sum;
}

template void hidden_states<float>(base::ThreadPool&, const ModelConfig&, const Parameters<float>&,
                                   const BatchView&, bool, Workspace<float>&, base::View2<float>);
template void all_logits<float>(base::ThreadPool&, const ModelConfig&, const Parameters<float>&,
                                const BatchView&, Workspace<float>&, base::View2<float>);
template loss::LossSum evaluate<float>(base::ThreadPool&, const ModelConfig&,
                                       const Parameters<float>&, const BatchView&,
                                       Workspace<float>&, base::View1<float>);
template loss::LossSum evaluate_with_gradients<float>(base::ThreadPool&, const ModelConfig&,
                                                      const Parameters<float>&, const BatchView&,
                                                      Workspace<float>&, Gradients<float>&);

template void hidden_states<double>(base::ThreadPool&, const ModelConfig&,
                                    const Parameters<double>&, const BatchView&, bool,
                                    Workspace<double>&, base::View2<double>);
template void all_logits<double>(base::ThreadPool&, const ModelConfig&, const Parameters<double>&,
                                 const BatchView&, Workspace<double>&, base::View2<double>);
template loss::LossSum evaluate<double>(base::ThreadPool&, const ModelConfig&,
                                        const Parameters<double>&, const BatchView&,
                                        Workspace<double>&, base::View1<double>);
template loss::LossSum evaluate_with_gradients<double>(base::ThreadPool&, const ModelConfig&,
                                                       const Parameters<double>&, const BatchView&,
                                                       Workspace<double>&, Gradients<double>&);

}  // namespace lexirow::model
