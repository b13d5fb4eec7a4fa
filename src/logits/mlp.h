#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"

namespace lexirow::logits {

enum class Activation { gelu, relu };

/// `gelu` or `relu`. Throws Error(argument) that lists them.
Activation parse_activation(std::string_view text);
std::string activation_name(Activation activation);

/// How the hidden layers are stacked. The initial values are the plain Linear, GELU, Linear.
struct MlpForm {
  std::int64_t layers = 1;  ///< L hidden layers
  Activation activation = Activation::gelu;
  bool residual = false;    ///< from the second hidden layer on: state + act(W state + b)
  bool layer_norm = false;  ///< before the second to last hidden layer, and after a residual stack
  double dropout = 0;       ///< share of each hidden layer's units left out in training

  /// Layer norms: one before each hidden layer but the first, one more after a residual stack,
  /// whose states have only been added to.
  std::int64_t norms() const {
    if (!layer_norm) return 0;
    return layers - 1 + (residual ? 1 : 0);
  }
  bool operator==(const MlpForm&) const = default;
};

/// Throws Error(argument) naming what is out of range or has no effect, and what is possible.
void validate(const MlpForm& form);

/// The parameters, or their gradients. Names as in the model folder.
template <typename T>
struct MlpViews {
  struct Linear {
    base::View2<T> weight;  ///< mixer.0.weight [H, F], mixer.2.weight [H, H], ...; the last [D, H]
    base::View1<T> bias;    ///< mixer.0.bias [H], ...; the last [D]
  };
  struct Norm {
    base::View1<T> weight;  ///< norm.1.weight [H], ...
    base::View1<T> bias;    ///< norm.1.bias [H], ...
  };
  std::vector<Linear> linears;  ///< L + 1
  std::vector<Norm> norms;      ///< norm.1 before the second hidden layer, and so on
};

/// Which units a training step leaves out: a pure function of these, layer, position and unit.
struct DropoutDraw {
  bool on = false;  ///< false: none, as in evaluation
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

/// What the forward leaves for the backward, and what the backward needs beside it; kept from step
/// to step. K: norms.
template <Real T>
struct MlpWorkspace {
  base::Array<T> before;              ///< W h + b of each hidden layer                [L, N, H]
  base::Array<T> activated;           ///< what each hidden layer gives                [L, N, H]
  base::Array<T> normed;              ///< what each norm gives                        [K, N, H]
  base::Array<T> means;               ///< of each norm's rows                         [K, N]
  base::Array<T> inverse_deviations;  ///< of each norm's rows                         [K, N]
  base::Array<T> d_before;            ///< gradient of `before`                        [L, N, H]
  base::Array<T> d_state;             ///< residual: gradient of the states            [N, H]
  base::Array<T> d_normed;            ///< gradient of what a norm gives               [N, H]
  base::Array<T> d_norms;             ///< norms' gradients of each tile of positions  [.., K, 2, H]
};

/// Hidden layers, then the projection to the width of a row:
///   h1 = drop(act(W0 x + b0));  h(l+1) = [h(l) +] drop(act(W norm(h(l)) + b));
///   out = W norm(h(L)) + b
/// where norm is the identity but where form.norms() has one, [h(l) +] stands with `residual`, and
/// drop leaves units out and scales the others by 1 / (1 - dropout).
///   form                in
///   x           [N, F]  in
///   parameters          in
///   dropout             in
///   out         [N, D]  out
/// Pair: mlp_backward. Throws: nothing. Sources: He et al. 2016 (residual), Ba et al. 2016 (layer
/// norm), Xiong et al. 2020 (its place), Srivastava et al. 2014 (dropout).
template <Real T>
void mlp_forward(base::ThreadPool& pool, const MlpForm& form, base::View2<const T> x,
                 const MlpViews<const T>& parameters, const DropoutDraw& dropout,
                 MlpWorkspace<T>& workspace, base::View2<T> out);

/// Gradients of mlp_forward, after it with the same form, parameters, dropout and workspace.
///   form                    in
///   x, parameters, dropout  in
///   d_out           [N, D]  in
///   d_x             [N, F]  accum  may be absent: not wanted
///   d_parameters            accum
template <Real T>
void mlp_backward(base::ThreadPool& pool, const MlpForm& form, base::View2<const T> x,
                  const MlpViews<const T>& parameters, const DropoutDraw& dropout,
                  base::View2<const T> d_out, MlpWorkspace<T>& workspace, base::View2<T> d_x,
                  const MlpViews<T>& d_parameters);

}  // namespace lexirow::logits
