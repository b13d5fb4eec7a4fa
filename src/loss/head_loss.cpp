#include "loss/head_loss.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "kernels/vector_ops.h"
#include "logits/linear_tiles.h"

namespace lexirow::loss {
namespace {

/// Columns of one panel of the vocabulary, at most.
constexpr std::int64_t kPanelColumns = 2048;
/// Logits of one group: as many tokens as fit, but at least kLeastGroup, so that reading the head
/// and its gradient once a group stays cheap beside the products.
constexpr std::int64_t kGroupBytes = std::int64_t{16} << 20;
constexpr std::int64_t kLeastGroup = 256;

constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// How one call is cut: by sizes alone.
struct Cuts {
  Cuts(std::int64_t counted, std::int64_t vocabulary, std::int64_t bytes_per_value) {
    panels = ceil_divide(vocabulary, kPanelColumns);
    panel_columns = ceil_divide(ceil_divide(vocabulary, panels), 16) * 16;
    panels = ceil_divide(vocabulary, panel_columns);
    // An odd number of cache lines: rows a power of two apart would share a few cache sets.
    stride = (ceil_divide(vocabulary, 16) | 1) * 16;
    const std::int64_t fitting = kGroupBytes / (stride * bytes_per_value);
    group = std::max(kLeastGroup, fitting / kLeastGroup * kLeastGroup);
    group = std::min(group, counted);
    chunk = panels > 1 ? kLeastGroup : logits::rows_per_tile(group);
  }

  std::int64_t panels;         ///< of the vocabulary
  std::int64_t panel_columns;  ///< of a panel, the last may have fewer
  std::int64_t stride;         ///< between the rows of the logits
  std::int64_t group;          ///< tokens whose logits are held at a time
  std::int64_t chunk;          ///< tokens of one tile
};

/// What one call works on. A group goes through: gather, scores, finish, gradients, join.
template <Real T>
struct Pass {
  base::View2<const T> hidden;
  base::View2<const T> weight;
  base::View1<const T> bias;
  base::View1<const Id> labels;
  Id excluded;
  T scale;
  base::View2<T> d_hidden;  ///< absent: no gradients are wanted
  Cuts cuts;
  HeadLossWorkspace<T>& workspace;
  std::int64_t first = 0;  ///< the group's first token among those that count
  std::int64_t size = 0;   ///< its tokens

  std::int64_t chunks() const { return ceil_divide(size, cuts.chunk); }
  std::int64_t chunk_begin(std::int64_t chunk) const { return chunk * cuts.chunk; }
  std::int64_t chunk_end(std::int64_t chunk) const {
    return std::min(size, (chunk + 1) * cuts.chunk);
  }
  std::int64_t panel_begin(std::int64_t panel) const { return panel * cuts.panel_columns; }
  std::int64_t panel_end(std::int64_t panel) const {
    return std::min(weight.extent(0), (panel + 1) * cuts.panel_columns);
  }
  std::int64_t position(std::int64_t row) const { return workspace.rows[first + row]; }
  /// Values that a sweep over a panel's row covers: whole vectors, the surplus being -infinity.
  std::int64_t padded(std::int64_t columns) const { return ceil_divide(columns, 16) * 16; }
  T* logits_of(std::int64_t row) const { return workspace.logits.data() + row * cuts.stride; }
  /// Maximum, then sum of exp; after `finish` the first is the factor that makes exp a gradient.
  double* sums_of(std::int64_t row, std::int64_t panel) const {
    return workspace.sums.data() + 2 * (row * cuts.panels + panel);
  }
  base::View2<T> gathered(std::int64_t begin, std::int64_t end) const {
    return logits::row_range(workspace.hidden.view(size, hidden.extent(1)), begin, end);
  }
  base::View2<T> piece(std::int64_t panel, std::int64_t begin, std::int64_t end) const {
    const std::int64_t width = hidden.extent(1);
    return base::View2<T>(workspace.pieces.data() + (panel * cuts.group + begin) * width,
                          {end - begin, width});
  }

  void gather(std::int64_t chunk) const {
    const std::int64_t width = hidden.extent(1);
    for (std::int64_t row = chunk_begin(chunk); row < chunk_end(chunk); ++row) {
      std::copy_n(hidden.data() + position(row) * width, width,
                  workspace.hidden.data() + row * width);
    }
  }

  /// Logits of one panel; each row's maximum and sum of exp(logit - maximum). Where gradients are
  /// wanted the exps take the place of the logits.
  void scores(std::int64_t chunk, std::int64_t panel) const {
    const std::int64_t begin = panel_begin(panel);
    const std::int64_t columns = panel_end(panel) - begin;
    base::View1<const T> panel_bias;
    if (bias.present()) panel_bias = base::View1<const T>(bias.data() + begin, {columns});
    logits::linear_tile<T>(gathered(chunk_begin(chunk), chunk_end(chunk)),
                           logits::row_range(weight, begin, begin + columns), panel_bias,
                           logits_of(chunk_begin(chunk)) + begin, cuts.stride);
    for (std::int64_t row = chunk_begin(chunk); row < chunk_end(chunk); ++row) {
      T* const values = logits_of(row) + begin;
      const std::int64_t label = labels[position(row)] - begin;
      // The loss is completed in `finish`, once all panels are known.
      if (label >= 0 && label < columns) {
        workspace.losses[first + row] = -static_cast<double>(values[label]);
      }
      constexpr T kNothing = -std::numeric_limits<T>::infinity();
      if (excluded >= begin && excluded < begin + columns) values[excluded - begin] = kNothing;
      std::fill(values + columns, values + padded(columns), kNothing);
      const T largest = kernels::max_value<T>(padded(columns), values);
      const T shift = largest == kNothing ? T{0} : largest;
      const T sum = d_hidden.present()
                        ? kernels::exp_shifted<T>(padded(columns), shift, values, values)
                        : kernels::sum_exp_shifted<T>(padded(columns), shift, values);
      sums_of(row, panel)[0] = static_cast<double>(largest);
      sums_of(row, panel)[1] = static_cast<double>(sum);
    }
  }

  /// Joins the panels' sums in order: the loss, and for each panel scale exp(maximum) / sum.
  void finish(std::int64_t chunk) const {
    for (std::int64_t row = chunk_begin(chunk); row < chunk_end(chunk); ++row) {
      double largest = sums_of(row, 0)[0];
      for (std::int64_t panel = 1; panel < cuts.panels; ++panel) {
        const double here = sums_of(row, panel)[0];
        if (!(here <= largest)) largest = here;  // NaN wins
      }
      double sum = 0;
      for (std::int64_t panel = 0; panel < cuts.panels; ++panel) {
        double* const at = sums_of(row, panel);
        at[0] = std::exp(at[0] - largest);
        sum += at[0] * at[1];
      }
      workspace.losses[first + row] += largest + std::log(sum);
      for (std::int64_t panel = 0; panel < cuts.panels; ++panel) {
        sums_of(row, panel)[0] *= static_cast<double>(scale) / sum;
      }
    }
  }

  /// scale (softmax - one-hot) in place of the exps, and the panel's part of d_hidden.
  void gradients(std::int64_t chunk, std::int64_t panel) const {
    const std::int64_t begin = panel_begin(panel);
    const std::int64_t columns = panel_end(panel) - begin;
    for (std::int64_t row = chunk_begin(chunk); row < chunk_end(chunk); ++row) {
      T* const values = logits_of(row) + begin;
      kernels::scale<T>(padded(columns), static_cast<T>(sums_of(row, panel)[0]), values);
      const std::int64_t label = labels[position(row)] - begin;
      if (label >= 0 && label < columns) values[label] -= scale;
    }
    logits::input_gradient_tile<T>(logits::row_range(weight, begin, begin + columns),
                                   logits_of(chunk_begin(chunk)) + begin, cuts.stride, false,
                                   piece(panel, chunk_begin(chunk), chunk_end(chunk)));
  }

  /// Adds the panels' parts of d_hidden in order.
  void join(std::int64_t chunk) const {
    const std::int64_t width = hidden.extent(1);
    for (std::int64_t row = chunk_begin(chunk); row < chunk_end(chunk); ++row) {
      for (std::int64_t panel = 0; panel < cuts.panels; ++panel) {
        kernels::add<T>(width, piece(panel, row, row + 1).data(),
                        d_hidden.data() + position(row) * width);
      }
    }
  }
};

/// The steps of one group up to the gradient of its logits. One panel needs no waiting between
/// them: each chunk goes through all of them while it is in the cache.
template <Real T>
void run_group(base::ThreadPool& pool, const Pass<T>& pass) {
  const bool wanted = pass.d_hidden.present();
  if (pass.cuts.panels == 1) {
    pool.parallel_for(pass.chunks(), [&](std::int64_t chunk) {
      pass.gather(chunk);
      pass.scores(chunk, 0);
      pass.finish(chunk);
      if (!wanted) return;
      pass.gradients(chunk, 0);
      pass.join(chunk);
    });
    return;
  }
  const std::int64_t tiles = pass.chunks() * pass.cuts.panels;
  pool.parallel_for(pass.chunks(), [&](std::int64_t chunk) { pass.gather(chunk); });
  pool.parallel_for(
      tiles, [&](std::int64_t tile) { pass.scores(tile % pass.chunks(), tile / pass.chunks()); });
  pool.parallel_for(pass.chunks(), [&](std::int64_t chunk) { pass.finish(chunk); });
  if (!wanted) return;
  pool.parallel_for(tiles, [&](std::int64_t tile) {
    pass.gradients(tile % pass.chunks(), tile / pass.chunks());
  });
  pool.parallel_for(pass.chunks(), [&](std::int64_t chunk) { pass.join(chunk); });
}

/// Lists the positions that count and makes room for one group. Returns how many count.
template <Real T>
std::int64_t list_counted(base::View1<const Id> labels, [[maybe_unused]] std::int64_t vocabulary,
                          [[maybe_unused]] Id excluded, HeadLossWorkspace<T>& workspace) {
  workspace.rows.resize(labels.size());
  std::int64_t counted = 0;
  for (std::int64_t n = 0; n < labels.size(); ++n) {
    if (labels[n] == kIgnoredLabel) continue;
    assert(labels[n] >= 0 && labels[n] < vocabulary && labels[n] != excluded);
    workspace.rows[counted++] = n;
  }
  workspace.losses.resize(counted);
  return counted;
}

template <Real T>
void make_room(const Cuts& cuts, std::int64_t width, bool gradients,
               HeadLossWorkspace<T>& workspace) {
  workspace.hidden.resize(cuts.group * width);
  workspace.logits.resize(cuts.group * cuts.stride);
  workspace.sums.resize(2 * cuts.group * cuts.panels);
  if (gradients) workspace.pieces.resize(cuts.panels * cuts.group * width);
}

/// All groups in order, then the sum of the losses in order.
template <Real T>
LossSum run_groups(base::ThreadPool& pool, Pass<T>& pass, std::int64_t counted,
                   base::View2<T> d_weight, base::View1<T> d_bias) {
  HeadLossWorkspace<T>& workspace = pass.workspace;
  make_room(pass.cuts, pass.hidden.extent(1), pass.d_hidden.present(), workspace);
  for (; pass.first < counted; pass.first += pass.cuts.group) {
    pass.size = std::min(pass.cuts.group, counted - pass.first);
    run_group(pool, pass);
    if (!pass.d_hidden.present()) continue;
    pool.parallel_for(logits::weight_tiles(d_weight.extent(0)), [&](std::int64_t tile) {
      logits::weight_gradient_tile<T>(tile, pass.gathered(0, pass.size), pass.logits_of(0),
                                      pass.cuts.stride, d_weight, d_bias);
    });
  }
  LossSum result{.sum = 0, .counted = counted, .total = pass.labels.size()};
  for (std::int64_t i = 0; i < counted; ++i) result.sum += workspace.losses[i];
  return result;
}

}  // namespace

// no backward: head_loss_forward_backward returns the loss and the gradients in one pass.
template <Real T>
LossSum head_loss_forward(base::ThreadPool& pool, base::View2<const T> hidden,
                          base::View2<const T> weight, base::View1<const T> bias,
                          base::View1<const Id> labels, Id excluded, base::View1<T> losses,
                          HeadLossWorkspace<T>& workspace) {
  const std::int64_t counted = list_counted(labels, weight.extent(0), excluded, workspace);
  const Cuts cuts(counted, weight.extent(0), sizeof(T));
  Pass<T> pass{hidden, weight, bias, labels, excluded, T{0}, {}, cuts, workspace};
  const LossSum result = run_groups<T>(pool, pass, counted, {}, {});
  if (losses.present()) {
    std::fill(losses.begin(), losses.end(), T{0});
    for (std::int64_t i = 0; i < counted; ++i) {
      losses[workspace.rows[i]] = static_cast<T>(workspace.losses[i]);
    }
  }
  return result;
}

template <Real T>
LossSum head_loss_forward_backward(base::ThreadPool& pool, base::View2<const T> hidden,
                                   base::View2<const T> weight, base::View1<const T> bias,
                                   base::View1<const Id> labels, Id excluded, T scale,
                                   base::View2<T> d_hidden, base::View2<T> d_weight,
                                   base::View1<T> d_bias, HeadLossWorkspace<T>& workspace) {
  const std::int64_t counted = list_counted(labels, weight.extent(0), excluded, workspace);
  const Cuts cuts(counted, weight.extent(0), sizeof(T));
  Pass<T> pass{hidden, weight, bias, labels, excluded, scale, d_hidden, cuts, workspace};
  return run_groups(pool, pass, counted, d_weight, d_bias);
}

template LossSum head_loss_forward<float>(base::ThreadPool&, base::View2<const float>,
                                          base::View2<const float>, base::View1<const float>,
                                          base::View1<const Id>, Id, base::View1<float>,
                                          HeadLossWorkspace<float>&);
template LossSum head_loss_forward<double>(base::ThreadPool&, base::View2<const double>,
                                           base::View2<const double>, base::View1<const double>,
                                           base::View1<const Id>, Id, base::View1<double>,
                                           HeadLossWorkspace<double>&);
template LossSum head_loss_forward_backward<float>(base::ThreadPool&, base::View2<const float>,
                                                   base::View2<const float>,
                                                   base::View1<const float>, base::View1<const Id>,
                                                   Id, float, base::View2<float>,
                                                   base::View2<float>, base::View1<float>,
                                                   HeadLossWorkspace<float>&);
template LossSum head_loss_forward_backward<double>(
    base::ThreadPool&, base::View2<const double>, base::View2<const double>,
    base::View1<const double>, base::View1<const Id>, Id, double, base::View2<double>,
    base::View2<double>, base::View1<double>, HeadLossWorkspace<double>&);

}  // namespace lexirow::loss
