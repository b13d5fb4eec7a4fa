#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/real.h"
#include "base/view.h"
#include "logits/mlp.h"
#include "model/config.h"
#include "rows/touched_rows.h"

namespace lexirow::model {

/// A tensor by name, as `files` moves it and `optim` steps it.
template <typename T>
struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  base::View1<T> values;
};

/// Every parameter of a model, or a dense gradient of the same shapes. Absent parts have size 0.
template <Real T>
class Parameters {
 public:
  Parameters() = default;
  /// All zeros. Throws Error(shape) when the sizes do not fit in memory's range.
  explicit Parameters(const ModelConfig& config);
  /// Every tensor as `source` gives it by name and shape, in declaration order, of the size that
  /// its shape says. Throws Error(shape) as above, and what `source` throws.
  using Source = std::function<base::Array<T>(const char* name, const std::vector<std::int64_t>&)>;
  Parameters(const ModelConfig& config, const Source& source);
  /// The same without the tables that give touched rows: the dense gradients of an untied model.
  static Parameters without_tables(const ModelConfig& config, bool head_too);

  base::View2<T> token_embedding();
  base::View2<const T> token_embedding() const;
  /// Learned rates of the mixer before the sigmoid; absent where none are learned.
  base::View1<T> decay_rate();
  base::View1<const T> decay_rate() const;
  logits::MlpViews<T> mlp();
  logits::MlpViews<const T> mlp() const;
  /// lm_head.weight, or the table when tied.
  base::View2<T> head_weight();
  base::View2<const T> head_weight() const;
  base::View1<T> head_bias();
  base::View1<const T> head_bias() const;
  /// Learned rows of the positions [M, D]; absent where none are learned.
  base::View2<T> position_embedding();
  base::View2<const T> position_embedding() const;
  /// What is added to a row at each position [M, D]: the learned rows, or computed ones, which are
  /// no parameter; absent where nothing is.
  base::View2<const T> position_rows() const;

  /// In declaration order: token_embedding.weight, decay.rate, mixer.0.weight, mixer.0.bias,
  /// mixer.2.weight, mixer.2.bias and so on, norm.1.weight, norm.1.bias and so on, lm_head.weight,
  /// lm_head.bias, position_embedding.weight; what the model lacks (a tied head) is left out.
  std::vector<NamedTensor<T>> tensors();
  std::vector<NamedTensor<const T>> tensors() const;

  /// Distinct values; a tied head counts once.
  std::int64_t count() const;

 private:
  template <typename Value, typename Self>
  static std::vector<NamedTensor<Value>> list_tensors(Self& self);
  template <typename Value, typename Self>
  static logits::MlpViews<Value> mlp_views(Self& self);

  struct Affine {
    base::Array<T> weight, bias;
    std::int64_t outputs = 0, inputs = 0;
  };

  ModelConfig config_;
  base::Array<T> table_;
  base::Array<T> decay_rate_;    // [K]
  std::vector<Affine> linears_;  // hidden layers and the projection; none without an MLP
  std::vector<Affine> norms_;    // weight and bias [H]
  base::Array<T> head_weight_, head_bias_;
  base::Array<T> position_embedding_;  // [M, D], learned
  base::Array<T> sinusoids_;           // [M, D], computed
};

/// The gradient of every parameter. The table's is touched rows when untied; tied, it is dense. So
/// is the head's, but for a sampled loss, which reads only some of its rows.
/// Untied with `leave_rows`, the rows are left unsummed in the workspace (plan and d_hidden; those
/// of sampled_head), for an optimizer that sums them itself.
template <Real T>
struct Gradients {
  Gradients() = default;
  /// `sampled_head`: the loss is sampled.
  explicit Gradients(const ModelConfig& config, bool sampled_head = false);

  /// Everything but what is in `rows` and `head_rows`, which is absent here.
  Parameters<T> dense;
  rows::TouchedRows<T> rows;
  rows::TouchedRows<T> head_rows;  ///< untied, of a sampled loss
  bool leave_rows = false;

  /// Sets every dense part to zero and forgets the touched rows.
  void clear();
};

/// How parameters are drawn.
enum class Init {
  automatic,  ///< as torch, but a table that is the head, or that reaches it without an MLP, scaled
              ///< to deviation D^-0.5, learned positions to 0.02
  torch,      ///< what PyTorch draws for the same seed
};

/// Draws every parameter in declaration order (embedding, MLP, head, positions as nn.Embedding)
/// from PyTorch's CPU stream; a tied head still consumes its draw. The pad row ends as zero unless
/// the policy is keep. A float64 model widens the float32 draw.
template <Real T>
void initialize(const ModelConfig& config, std::uint64_t seed, Init init,
                Parameters<T>& parameters);

/// Sets the pad row to zero where the policy says so; returns true if that changed a value.
template <Real T>
bool apply_pad_policy(const ModelConfig& config, Parameters<T>& parameters);

/// Widens a float32 model.
Parameters<double> widen(const ModelConfig& config, const Parameters<float>& parameters);

}  // namespace lexirow::model
