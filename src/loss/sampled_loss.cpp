#include "loss/sampled_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/vector_ops.h"
#include "logits/linear_tiles.h"

namespace lexirow::loss {
namespace {

/// One call: positions in tiles, each through scores, softmax and the gradients of its rows.
template <Real T>
struct Positions {
  base::View2<const T> hidden;
  base::View1<const Id> labels;
  base::View1<const Id> negative_ids;
  const SampledHead<const T>& head;
  T scale;
  base::View2<T> d_hidden;
  const SampledHead<T>& d_head;
  SampledLossWorkspace<T>& workspace;

  std::int64_t negatives() const { return negative_ids.size(); }
  /// Whole vectors: what is behind the negatives scores -infinity.
  std::int64_t stride() const { return (negatives() + 15) / 16 * 16; }
  T* scores_of(std::int64_t n) const { return workspace.scores.data() + n * stride(); }

  void tile(std::int64_t begin, std::int64_t end) const {
    logits::linear_tile<T>(logits::row_range(hidden, begin, end), head.negative_rows,
                           head.negative_offsets, scores_of(begin), stride());
    for (std::int64_t n = begin; n < end; ++n) softmax(n);
    logits::input_gradient_tile<T>(head.negative_rows, scores_of(begin), stride(), true,
                                   logits::row_range(d_hidden, begin, end));
  }

  /// The loss of one position; scale (softmax - one-hot) in place of its scores, and the gradients
  /// of its label's row and of its hidden row by that row.
  void softmax(std::int64_t n) const {
    const std::int64_t dim = hidden.extent(1);
    T* const scores = scores_of(n);
    T* const d_label_row = d_head.label_rows.data() + n * dim;
    if (labels[n] == kIgnoredLabel) {
      std::fill_n(scores, stride(), T{0});
      std::fill_n(d_label_row, dim, T{0});
      d_head.label_offsets[n] = 0;
      workspace.losses[n] = 0;
      return;
    }
    constexpr T kNothing = -std::numeric_limits<T>::infinity();
    std::fill(scores + negatives(), scores + stride(), kNothing);
    const Id* const own = std::lower_bound(negative_ids.begin(), negative_ids.end(), labels[n]);
    if (own != negative_ids.end() && *own == labels[n])
      scores[own - negative_ids.begin()] = kNothing;
    const T* const row = hidden.data() + n * dim;
    const T* const label_row = head.label_rows.data() + n * dim;
    const T score = kernels::dot(dim, row, label_row) + head.label_offsets[n];
    const T largest = kernels::max_value<T>(stride(), scores);
    // Not std::max: a NaN must reach the loss.
    const T shift = largest <= score ? score : largest;
    const T others = kernels::exp_shifted<T>(stride(), shift, scores, scores);
    const double own_exp = std::exp(static_cast<double>(score - shift));
    const double sum = own_exp + static_cast<double>(others);
    workspace.losses[n] = static_cast<double>(shift) + std::log(sum) - static_cast<double>(score);
    kernels::scale<T>(stride(), static_cast<T>(static_cast<double>(scale) / sum), scores);
    // softmax - 1 by the others' share: exact where the label has nearly all of it.
    const T d_score =
        static_cast<T>(-static_cast<double>(scale) * static_cast<double>(others) / sum);
    d_head.label_offsets[n] = d_score;
    for (std::int64_t d = 0; d < dim; ++d) d_label_row[d] = d_score * row[d];
    kernels::add_scaled<T>(dim, d_score, label_row, d_hidden.data() + n * dim);
  }
};

template <Real T>
void run_positions(base::ThreadPool& pool, const Positions<T>& positions) {
  const std::int64_t n = positions.labels.size();
  const std::int64_t rows = logits::rows_per_tile(n);
  pool.parallel_for((n + rows - 1) / rows, [&](std::int64_t tile) {
    positions.tile(tile * rows, std::min(n, (tile + 1) * rows));
  });
  const SampledHead<T>& d_head = positions.d_head;
  std::fill(d_head.negative_rows.begin(), d_head.negative_rows.end(), T{0});
  std::fill(d_head.negative_offsets.begin(), d_head.negative_offsets.end(), T{0});
  pool.parallel_for(logits::weight_tiles(positions.negatives()), [&](std::int64_t tile) {
    logits::weight_gradient_tile<T>(tile, positions.hidden, positions.scores_of(0),
                                    positions.stride(), d_head.negative_rows,
                                    d_head.negative_offsets);
  });
}

}  // namespace

template <Real T>
LossSum sampled_loss_forward_backward(base::ThreadPool& pool, base::View2<const T> hidden,
                                      base::View1<const Id> labels,
                                      base::View1<const Id> negative_ids,
                                      const SampledHead<const T>& head, T scale,
                                      base::View2<T> d_hidden, const SampledHead<T>& d_head,
                                      SampledLossWorkspace<T>& workspace) {
  const Positions<T> positions{hidden, labels,   negative_ids, head,
                               scale,  d_hidden, d_head,       workspace};
  workspace.scores.resize(labels.size() * positions.stride());
  workspace.losses.resize(labels.size());
  run_positions(pool, positions);
  LossSum result{.sum = 0, .counted = 0, .total = labels.size()};
  for (std::int64_t n = 0; n < labels.size(); ++n) {
    result.sum += workspace.losses[n];
    result.counted += labels[n] == kIgnoredLabel ? 0 : 1;
  }
  return result;
}

template LossSum sampled_loss_forward_backward<float>(base::ThreadPool&, base::View2<const float>,
                                                      base::View1<const Id>, base::View1<const Id>,
                                                      const SampledHead<const float>&, float,
                                                      base::View2<float>, const SampledHead<float>&,
                                                      SampledLossWorkspace<float>&);
template LossSum sampled_loss_forward_backward<double>(base::ThreadPool&, base::View2<const double>,
                                                       base::View1<const Id>, base::View1<const Id>,
                                                       const SampledHead<const double>&, double,
                                                       base::View2<double>,
                                                       const SampledHead<double>&,
                                                       SampledLossWorkspace<double>&);

}  // namespace lexirow::loss
