#include "logits/mlp.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>

#include "base/random.h"
#include "kernels/layer_ops.h"
#include "kernels/vector_ops.h"
#include "lexirow/error.h"
#include "logits/linear_tiles.h"

namespace lexirow::logits {
namespace {

/// Rows [begin, begin + rows) of the [*, N, H] arrays of a workspace, layer by layer.
template <Real T>
struct Rows {
  MlpWorkspace<T>& workspace;
  std::int64_t n, hidden, begin, rows;

  std::int64_t size() const { return rows * hidden; }
  T* of(base::Array<T>& array, std::int64_t layer) const {
    return array.data() + (layer * n + begin) * hidden;
  }
  T* before(std::int64_t layer) const { return of(workspace.before, layer); }
  T* activated(std::int64_t layer) const { return of(workspace.activated, layer); }
  base::View2<T> view(T* values) const { return {values, {rows, hidden}}; }
};

template <Real T>
void activate(Activation activation, std::int64_t size, const T* x, T* out) {
  if (activation == Activation::gelu) return kernels::gelu<T>(size, x, out);
  kernels::relu<T>(size, x, out);
}

template <Real T>
void activation_gradient(Activation activation, std::int64_t size, const T* x, const T* d_out,
                         T* d_x) {
  if (activation == Activation::gelu) return kernels::gelu_gradient<T>(size, x, d_out, d_x);
  kernels::relu_gradient<T>(size, x, d_out, d_x);
}

/// Leaves out the units that a layer's outputs, or their gradients, are to do without.
template <Real T>
void drop_units(const MlpForm& form, const DropoutDraw& dropout, std::int64_t layer,
                const Rows<T>& rows, T* values) {
  if (!dropout.on || form.dropout == 0) return;
  const auto threshold = static_cast<std::uint32_t>(std::lround(form.dropout * 0x1p24));
  const T scale = static_cast<T>(1 / (1 - form.dropout));
  const std::uint64_t of_step = base::mix_bits(base::mix_bits(dropout.seed) + dropout.step);
  const std::uint64_t of_layer = base::mix_bits(of_step + static_cast<std::uint64_t>(layer));
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const auto position = static_cast<std::uint64_t>(rows.begin + row);
    kernels::dropout<T>(rows.hidden, base::mix_bits(of_layer + position), threshold, scale,
                        values + row * rows.hidden);
  }
}

/// What the linear layer after hidden layer `layer` reads: that layer's output, or its norm.
template <Real T>
const T* input_of_next(const MlpForm& form, std::int64_t layer, const Rows<T>& rows) {
  return layer < form.norms() ? rows.of(rows.workspace.normed, layer) : rows.activated(layer);
}

/// Normalises the output of hidden layer `layer` where a norm follows it.
template <Real T>
void norm_tile(const MlpForm& form, std::int64_t layer, const Rows<T>& rows,
               const MlpViews<const T>& parameters) {
  if (layer >= form.norms()) return;
  const auto& norm = parameters.norms[static_cast<std::size_t>(layer)];
  const std::int64_t at = layer * rows.n + rows.begin;
  kernels::layer_norm<T>(rows.rows, rows.hidden, rows.activated(layer), norm.weight.data(),
                         norm.bias.data(), rows.of(rows.workspace.normed, layer),
                         rows.workspace.means.data() + at,
                         rows.workspace.inverse_deviations.data() + at);
}

template <Real T>
void resize_for_forward(const MlpForm& form, std::int64_t n, std::int64_t hidden,
                        MlpWorkspace<T>& workspace) {
  workspace.before.resize(form.layers * n * hidden);
  workspace.activated.resize(form.layers * n * hidden);
  workspace.normed.resize(form.norms() * n * hidden);
  workspace.means.resize(form.norms() * n);
  workspace.inverse_deviations.resize(form.norms() * n);
}

template <Real T>
void resize_for_backward(const MlpForm& form, std::int64_t n, std::int64_t hidden,
                         MlpWorkspace<T>& workspace) {
  const std::int64_t norms = form.norms();
  const std::int64_t tiles = (n + rows_per_tile(n) - 1) / rows_per_tile(n);
  workspace.d_before.resize(form.layers * n * hidden);
  workspace.d_state.resize(form.residual ? n * hidden : 0);
  workspace.d_normed.resize(norms > 0 ? n * hidden : 0);
  workspace.d_norms.zeroed(tiles * norms * 2 * hidden);
}

/// The gradient on its way back through one tile of rows.
template <Real T>
class BackwardTile {
 public:
  BackwardTile(const MlpForm& form, const MlpViews<const T>& parameters, const Rows<T>& rows)
      : form_(form), parameters_(parameters), rows_(rows) {}

  /// Where the gradient of hidden layer `layer`'s output stands. Residual layers pass it on and add
  /// to it, others overwrite it: it then shares the memory of d_before.
  T* d_output(std::int64_t layer) const {
    MlpWorkspace<T>& workspace = rows_.workspace;
    return form_.residual ? rows_.of(workspace.d_state, 0) : rows_.of(workspace.d_before, layer);
  }

  /// From the gradient of what linear layer `layer` + 1 gives to that of hidden layer `layer`.
  void through_linear(std::int64_t layer, const T* d_out, std::int64_t stride) const {
    const auto& linear = parameters_.linears[static_cast<std::size_t>(layer + 1)];
    const bool first = layer + 1 == form_.layers;  // nothing has come back yet
    const bool add = form_.residual && !first;
    T* const d_below = d_output(layer);
    if (layer >= form_.norms()) {
      input_gradient_tile<T>(linear.weight, d_out, stride, add, rows_.view(d_below));
      return;
    }
    T* const d_normed = rows_.of(rows_.workspace.d_normed, 0);
    input_gradient_tile<T>(linear.weight, d_out, stride, false, rows_.view(d_normed));
    if (!add) std::fill_n(d_below, rows_.size(), T{0});
    through_norm(layer, d_normed, d_below);
  }

 private:
  void through_norm(std::int64_t layer, const T* d_normed, T* d_below) const {
    MlpWorkspace<T>& workspace = rows_.workspace;
    const auto& norm = parameters_.norms[static_cast<std::size_t>(layer)];
    const std::int64_t at = layer * rows_.n + rows_.begin;
    const std::int64_t tile = rows_.begin / rows_per_tile(rows_.n);
    T* const d_norm = workspace.d_norms.data() + (tile * form_.norms() + layer) * 2 * rows_.hidden;
    kernels::layer_norm_gradient<T>(rows_.rows, rows_.hidden, rows_.activated(layer),
                                    norm.weight.data(), workspace.means.data() + at,
                                    workspace.inverse_deviations.data() + at, d_normed, d_below,
                                    d_norm, d_norm + rows_.hidden);
  }

  const MlpForm& form_;
  const MlpViews<const T>& parameters_;
  const Rows<T>& rows_;
};

/// Adds one norm's gradients of all tiles of rows, in order.
template <Real T>
void join_norm_gradients(std::int64_t norm, std::int64_t norms, std::int64_t hidden,
                         const base::Array<T>& parts, const typename MlpViews<T>::Norm& d_norm) {
  const std::int64_t tiles = parts.size() / (norms * 2 * hidden);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const T* part = parts.data() + (tile * norms + norm) * 2 * hidden;
    kernels::add<T>(hidden, part, d_norm.weight.data());
    kernels::add<T>(hidden, part + hidden, d_norm.bias.data());
  }
}

/// Gradients of weights, biases and norms, once d_before stands for all rows.
template <Real T>
void parameter_gradients(base::ThreadPool& pool, const MlpForm& form, base::View2<const T> x,
                         base::View2<const T> d_out, MlpWorkspace<T>& workspace,
                         const MlpViews<T>& d_parameters) {
  const std::int64_t n = x.extent(0);
  const std::int64_t hidden = d_parameters.linears.front().weight.extent(0);
  const std::int64_t of_hidden = weight_tiles(hidden);
  const std::int64_t of_linears = form.layers * of_hidden + weight_tiles(d_out.extent(1));
  const Rows<T> all{workspace, n, hidden, 0, n};
  pool.parallel_for(of_linears + form.norms(), [&](std::int64_t tile) {
    if (tile >= of_linears) {
      const std::int64_t norm = tile - of_linears;
      join_norm_gradients<T>(norm, form.norms(), hidden, workspace.d_norms,
                             d_parameters.norms[static_cast<std::size_t>(norm)]);
      return;
    }
    const std::int64_t layer = std::min(tile / of_hidden, form.layers);
    const auto& linear = d_parameters.linears[static_cast<std::size_t>(layer)];
    const base::View2<const T> input =
        layer == 0 ? x : base::View2<const T>(input_of_next(form, layer - 1, all), {n, hidden});
    const T* d = layer == form.layers ? d_out.data() : all.of(workspace.d_before, layer);
    weight_gradient_tile<T>(tile - layer * of_hidden, input, d, linear.weight.extent(0),
                            linear.weight, linear.bias);
  });
}

}  // namespace

Activation parse_activation(std::string_view text) {
  if (text == "gelu") return Activation::gelu;
  if (text == "relu") return Activation::relu;
  throw Error(ErrorKind::argument,
              fmt::format("activation: got \"{}\", expected gelu or relu", text));
}

std::string activation_name(Activation activation) {
  return activation == Activation::gelu ? "gelu" : "relu";
}

void validate(const MlpForm& form) {
  const auto require = [](bool holds, const std::string& text) {
    if (!holds) throw Error(ErrorKind::argument, text);
  };
  constexpr std::int64_t kMostLayers = 1024;
  require(form.layers >= 1 && form.layers <= kMostLayers,
          fmt::format("layers: got {}, expected 1 to {} hidden layers", form.layers, kMostLayers));
  require(!form.residual || form.layers > 1,
          "residual: it adds to the second hidden layer and those after it, but layers is 1; set "
          "layers to 2 or more");
  require(!form.layer_norm || form.layers > 1,
          "layer-norm: it normalises what the second hidden layer and those after it read, but "
          "layers is 1; set layers to 2 or more");
  require(form.dropout >= 0 && form.dropout < 1,
          fmt::format("dropout: got {}, expected a share from 0 to below 1", form.dropout));
}

template <Real T>
void mlp_forward(base::ThreadPool& pool, const MlpForm& form, base::View2<const T> x,
                 const MlpViews<const T>& parameters, const DropoutDraw& dropout,
                 MlpWorkspace<T>& workspace, base::View2<T> out) {
  const std::int64_t n = x.extent(0);
  const std::int64_t hidden = parameters.linears.front().weight.extent(0);
  assert(static_cast<std::int64_t>(parameters.linears.size()) == form.layers + 1);
  assert(static_cast<std::int64_t>(parameters.norms.size()) == form.norms());
  resize_for_forward(form, n, hidden, workspace);
  // All layers of a tile while it is in the cache.
  pool.parallel_ranges(n, rows_per_tile(n), [&](std::int64_t begin, std::int64_t end) {
    const Rows<T> rows{workspace, n, hidden, begin, end - begin};
    base::View2<const T> input = row_range(x, begin, end);
    for (std::int64_t layer = 0; layer < form.layers; ++layer) {
      const auto& linear = parameters.linears[static_cast<std::size_t>(layer)];
      linear_tile<T>(input, linear.weight, linear.bias, rows.before(layer), hidden);
      activate<T>(form.activation, rows.size(), rows.before(layer), rows.activated(layer));
      drop_units<T>(form, dropout, layer, rows, rows.activated(layer));
      if (form.residual && layer > 0) {
        kernels::add<T>(rows.size(), rows.activated(layer - 1), rows.activated(layer));
      }
      norm_tile<T>(form, layer, rows, parameters);
      input = {input_of_next(form, layer, rows), {rows.rows, hidden}};
    }
    const auto& projection = parameters.linears.back();
    linear_tile<T>(input, projection.weight, projection.bias, out.data() + begin * out.extent(1),
                   out.extent(1));
  });
}

template <Real T>
void mlp_backward(base::ThreadPool& pool, const MlpForm& form, base::View2<const T> x,
                  const MlpViews<const T>& parameters, const DropoutDraw& dropout,
                  base::View2<const T> d_out, MlpWorkspace<T>& workspace, base::View2<T> d_x,
                  const MlpViews<T>& d_parameters) {
  const std::int64_t n = x.extent(0);
  const std::int64_t hidden = parameters.linears.front().weight.extent(0);
  const std::int64_t width = d_out.extent(1);
  resize_for_backward(form, n, hidden, workspace);
  pool.parallel_ranges(n, rows_per_tile(n), [&](std::int64_t begin, std::int64_t end) {
    const Rows<T> rows{workspace, n, hidden, begin, end - begin};
    const BackwardTile<T> tile(form, parameters, rows);
    tile.through_linear(form.layers - 1, d_out.data() + begin * width, width);
    for (std::int64_t layer = form.layers - 1; layer >= 0; --layer) {
      T* const d_before = rows.of(workspace.d_before, layer);
      activation_gradient<T>(form.activation, rows.size(), rows.before(layer), tile.d_output(layer),
                             d_before);
      drop_units<T>(form, dropout, layer, rows, d_before);
      if (layer > 0) tile.through_linear(layer - 1, d_before, hidden);
    }
    if (d_x.present()) {
      input_gradient_tile<T>(parameters.linears.front().weight, rows.of(workspace.d_before, 0),
                             hidden, true, row_range(d_x, begin, end));
    }
  });
  parameter_gradients<T>(pool, form, x, d_out, workspace, d_parameters);
}

template void mlp_forward<float>(base::ThreadPool&, const MlpForm&, base::View2<const float>,
                                 const MlpViews<const float>&, const DropoutDraw&,
                                 MlpWorkspace<float>&, base::View2<float>);
template void mlp_forward<double>(base::ThreadPool&, const MlpForm&, base::View2<const double>,
                                  const MlpViews<const double>&, const DropoutDraw&,
                                  MlpWorkspace<double>&, base::View2<double>);
template void mlp_backward<float>(base::ThreadPool&, const MlpForm&, base::View2<const float>,
                                  const MlpViews<const float>&, const DropoutDraw&,
                                  base::View2<const float>, MlpWorkspace<float>&,
                                  base::View2<float>, const MlpViews<float>&);
template void mlp_backward<double>(base::ThreadPool&, const MlpForm&, base::View2<const double>,
                                   const MlpViews<const double>&, const DropoutDraw&,
                                   base::View2<const double>, MlpWorkspace<double>&,
                                   base::View2<double>, const MlpViews<double>&);

}  // namespace lexirow::logits
