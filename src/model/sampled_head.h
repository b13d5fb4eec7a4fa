#pragma once

#include <cstdint>
#include <vector>

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "loss/negative_sampler.h"
#include "loss/sampled_loss.h"
#include "model/parameters.h"
#include "rows/lookup.h"

namespace lexirow::model {

/// Memory of the head under a sampled loss: M = N + K rows of it are read, those of the labels and
/// those of the negatives.
template <Real T>
struct SampledHeadWorkspace {
  std::vector<Id> ids;             ///< [M] labels, then negatives; 0 where a label is ignored
  std::vector<std::uint8_t> mask;  ///< [M] 0 where a label is ignored
  base::Array<T> rows;             ///< [M, D]
  base::Array<T> offsets;          ///< [M] bias less log of the expected count
  base::Array<T> d_rows;           ///< [M, D]
  base::Array<T> d_offsets;        ///< [M]
  rows::ScatterPlan plan;          ///< of ids and mask
  loss::SampledLossWorkspace<T> loss;

  std::int64_t count() const { return static_cast<std::int64_t>(ids.size()); }  ///< M
};

/// Head and loss against shared negatives, forward and backward: gathers the head's rows as the
/// table's are gathered and scatters their gradient as the table's is.
///   states     [N, D]  in     what the head reads
///   labels     [N]     in     or kIgnoredLabel
///   negatives          in     at least one; ids below V
///   scale              in     1 / counted labels
///   d_states   [N, D]  accum
/// Adds to `gradients`: tied, to the dense table; untied, to head_rows, or left unsummed in the
/// workspace where the gradients say leave_rows. Throws: nothing.
template <Real T>
loss::LossSum sampled_head_loss(base::ThreadPool& pool, const ModelConfig& config,
                                const Parameters<T>& parameters, base::View2<const T> states,
                                base::View1<const Id> labels, const loss::Negatives& negatives,
                                T scale, base::View2<T> d_states,
                                SampledHeadWorkspace<T>& workspace, Gradients<T>& gradients);

}  // namespace lexirow::model
