#pragma once

#include <cstdint>

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "logits/mlp.h"
#include "loss/cross_entropy.h"
#include "loss/head_loss.h"
#include "model/config.h"
#include "model/parameters.h"
#include "model/sampled_head.h"
#include "rows/lookup.h"

namespace lexirow::model {

/// A batch as the model reads it. Ids are checked (text/batch.h). B >= 1.
///   ids     [B, P+T]
///   mask    [B, P+T]  1 visible, 0 padding; absent: all visible
///   labels  [B, T]    of the last T positions; kIgnoredLabel where none counts; hidden_states and
///                     all_logits do not read it: their T is that of `out`
struct BatchView {
  base::View2<const Id> ids;
  base::View2<const std::uint8_t> mask;
  base::View2<const Id> labels;
  /// What the mixer's running averages hold of the tokens before the first ones; [B, S, 1+D] as in
  /// context::MixerViews. Absent: nothing, as always where gradients are computed.
  base::View3<const double> carried = {};
  /// What evaluate_with_gradients scores the labels against; null: the whole vocabulary. Needs
  /// gradients for a sampled head. Nothing else reads it.
  const loss::Negatives* negatives = nullptr;
  /// Which hidden units the losses of this batch do without; off but in training.
  logits::DropoutDraw dropout = {};
};

/// Memory kept from step to step. What the backward needs stands here by name.
template <Real T>
struct Workspace {
  base::Array<T> hidden;                      ///< rows, with what their positions add [B, P+T, D]
  base::Array<T> context;                     ///< mixer's output  [B*T, F]
  logits::MlpWorkspace<T> mlp;                ///< of the hidden layers
  base::Array<T> out;                         ///< what the head reads [N, D]
  base::Array<T> d_hidden, d_context, d_out;  ///< gradients of the above
  rows::ScatterPlan plan;
  loss::HeadLossWorkspace<T> head;
  SampledHeadWorkspace<T> sampled_head;
};

/// Hidden states that the head reads: rows (+ positions) -> context -> MLP (-> + row).
///   out  [B*T, D]  out
/// A masked position keeps what its MLP makes of a context (its own row adds nothing, skip or not).
/// With `zero_padding` the states of padded positions are set to zero (for showing and pooling).
template <Real T>
void hidden_states(base::ThreadPool& pool, const ModelConfig& config,
                   const Parameters<T>& parameters, const BatchView& batch, bool zero_padding,
                   Workspace<T>& workspace, base::View2<T> out);

/// All next-token scores, for small models, checks and tests.
///   logits  [B*T, V]  out
template <Real T>
void all_logits(base::ThreadPool& pool, const ModelConfig& config, const Parameters<T>& parameters,
                const BatchView& batch, Workspace<T>& workspace, base::View2<T> logits);

/// Loss only. `losses` [B*T] receives each position's loss; may be absent.
template <Real T>
loss::LossSum evaluate(base::ThreadPool& pool, const ModelConfig& config,
                       const Parameters<T>& parameters, const BatchView& batch,
                       Workspace<T>& workspace, base::View1<T> losses);

/// Loss and the gradient of its mean over the counted labels, added to `gradients`; touched rows of
/// another batch are replaced, so clear the gradients between batches. No counted label: gradients
/// stay as they are and `counted` is 0. With negatives it is their loss, a little below the true
/// one.
template <Real T>
loss::LossSum evaluate_with_gradients(base::ThreadPool& pool, const ModelConfig& config,
                                      const Parameters<T>& parameters, const BatchView& batch,
                                      Workspace<T>& workspace, Gradients<T>& gradients);

}  // namespace lexirow::model
