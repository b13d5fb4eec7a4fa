#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "kernels/optimizer_ops.h"
#include "optim/gradient_norm.h"
#include "optim/slots.h"

namespace lexirow::optim {

enum class OptimizerKind { adamw, sgd, adagrad, adagrad_row };
enum class RowUpdates { dense, lazy };

/// `adamw`, `sgd`, `adagrad`, `adagrad-row`. Throws Error(argument) that lists them.
OptimizerKind parse_optimizer(std::string_view text);
std::string optimizer_name(OptimizerKind kind);
/// `dense` or `lazy`. Throws Error(argument) that lists them.
RowUpdates parse_row_updates(std::string_view text);
std::string row_updates_name(RowUpdates updates);

/// The eps of both adagrads, as PyTorch's.
inline constexpr double kAdagradEps = 1e-10;

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::adamw;
  RowUpdates row_updates = RowUpdates::dense;
  double beta1 = 0.9;          ///< adamw only
  double beta2 = 0.999;        ///< adamw only
  double eps = 1e-8;           ///< adamw only: both adagrads use kAdagradEps
  double momentum = 0;         ///< sgd only
  double weight_decay = 0.01;  ///< adamw: decoupled; the others: added to the gradient
  bool decay_vectors = true;   ///< false: weight_decay leaves slots that are vectors alone

  bool operator==(const OptimizerConfig&) const = default;
};

/// Throws Error(argument) naming the setting that is out of range, its value and the range.
void validate(const OptimizerConfig& config);

/// Whether the optimizer takes TableSlot::unsummed: not adagrad_row, which needs whole rows.
bool sums_rows(const OptimizerConfig& config);

/// Steps parameters. What happens to a row of the table that no position read:
///   dense  PyTorch's semantics: it steps with a gradient of zeros, so decay and moments move it
///   lazy   nothing: row and state keep their bits. Bias is corrected by the global step, as in
///          PyTorch's SparseAdam; decay reaches only the rows that were read
/// adagrad_row keeps one accumulator a row of the table (and of a DenseSlot with row_width), the
/// mean square of the row's gradient; other parameters step as adagrad.
/// The table's gradient may come unsummed where every value steps by itself (sums_rows): bit-equal
/// to the scatter-add followed by the step, without storing the touched rows.
/// The same bytes for any number of threads. Sources: kernels/optimizer_ops.h.
template <Real T>
class Optimizer {
 public:
  /// State for the slots' sizes, all zero. Throws Error(argument) on settings that do not fit
  /// (lazy without a table slot, a pad row in no slot, rates out of range) and Error(shape).
  Optimizer(const OptimizerConfig& config, const Slots<T>& slots);

  /// One step of rate `lr`; gradients are multiplied by `gradient_scale` first (see clip_scale).
  /// Throws Error(argument) on a rate that is negative or not finite or on unsummed rows
  /// that it does not take, Error(shape) when the slots
  /// are not those of the constructor, Error(index) on a touched row outside the table.
  void step(base::ThreadPool& pool, const Slots<T>& slots, double lr, T gradient_scale);

  /// Steps taken so far.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

  /// A tensor of the state, e.g. `token_embedding.weight.moment1`, to save and restore. Suffixes:
  /// moment1, moment2 (adamw), momentum (sgd with momentum), sum_of_squares (adagrads).
  struct StateTensor {
    std::string name;
    base::View1<T> values;
  };
  /// The tables' first, then the dense slots' in order. With steps() it is the whole state.
  std::vector<StateTensor> state();

 private:
  struct SlotState {
    std::string name;
    std::int64_t size = 0;
    std::int64_t row_width = 0;  // above 0: one accumulator a row of this width
    double decay = 0;            // weight decay
    base::Array<T> first;        // moment1, momentum or sum of squares
    base::Array<T> second;       // moment2
  };
  /// What all tiles of one step share.
  struct Step {
    kernels::AdamWStep adamw;
    double lr = 0;
    T gradient_scale = 1;
  };
  SlotState make_state(const std::string& name, std::int64_t size, std::int64_t row_width,
                       double decay) const;
  void check_slots(const Slots<T>& slots) const;
  void cut_tiles(const Slots<T>& slots);
  void move_values(const Step& step, SlotState& state, std::int64_t begin, std::int64_t size,
                   const T* gradient, T* value) const;
  void move_tile(const Step& step, const Slots<T>& slots, const Tile& tile);
  void move_all_rows(const Step& step, const TableSlot<T>& table, SlotState& state, Id pad,
                     const Tile& tile) const;
  void move_touched_rows(const Step& step, const TableSlot<T>& table, SlotState& state, Id pad,
                         const Tile& tile) const;
  void move_unsummed_rows(base::ThreadPool& pool, const Step& step, const TableSlot<T>& table,
                          SlotState& state, Id pad) const;

  OptimizerConfig config_;
  std::int64_t steps_ = 0;
  std::vector<SlotState> tables_;
  std::vector<SlotState> dense_;
  std::vector<Tile> tiles_;
};

}  // namespace lexirow::optim
