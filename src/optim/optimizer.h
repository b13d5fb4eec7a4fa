#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "rows/touched_rows.h"

namespace lexirow::optim {

enum class OptimizerKind { adamw, sgd, adagrad, adagrad_row };
enum class RowUpdates { dense, lazy };

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::adamw;
  RowUpdates row_updates = RowUpdates::dense;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;           ///< adagrad uses 1e-10, as PyTorch
  double momentum = 0;         ///< sgd only
  double weight_decay = 0.01;
};

/// One dense parameter with its gradient.
template <Real T>
struct DenseSlot {
  std::string name;
  base::View1<T> value;
  base::View1<const T> gradient;
};

/// The table of an untied model: its gradient is touched rows.
template <Real T>
struct TableSlot {
  std::string name;             ///< empty: no such slot (tied: the table is a DenseSlot)
  base::View2<T> value;         ///< [V, D]
  const rows::TouchedRows<T>* gradient = nullptr;
};

/// What optimizer to run on what.
template <Real T>
struct Slots {
  TableSlot<T> table;
  std::vector<DenseSlot<T>> dense;
  /// The pad row, kNoId if none. In `table`, or in the dense slot named `pad_slot` (tied), it is
  /// never moved: not by gradient, decay or momentum.
  Id pad_id = kNoId;
  std::string pad_slot;
  std::int64_t dim = 0;
};

/// Global norm of all gradients, duplicates already summed, dense and touched rows together.
template <Real T>
double gradient_norm(base::ThreadPool& pool, const Slots<T>& slots);

/// Steps parameters. `lazy` leaves absent rows untouched (their moments too) and corrects bias by
/// the global step, as PyTorch's SparseAdam; `dense` has PyTorch's semantics: every row every step.
/// adagrad_row keeps one accumulator a row: the mean square of the row's gradient.
template <Real T>
class Optimizer {
 public:
  /// State for the slots' sizes, all zero. Throws Error(argument) on settings that do not fit
  /// (lazy without a table slot, rates out of range).
  Optimizer(const OptimizerConfig& config, const Slots<T>& slots);

  /// One step of rate `lr`; gradients are multiplied by `gradient_scale` first.
  void step(base::ThreadPool& pool, const Slots<T>& slots, double lr, T gradient_scale);

  /// Steps taken so far.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

  /// A tensor of the state, e.g. `token_embedding.weight.moment1`, to save and restore.
  struct StateTensor {
    std::string name;
    base::View1<T> values;
  };
  std::vector<StateTensor> state();

 private:
  struct SlotState {
    std::string name;
    base::Array<T> first;   // moment1, momentum buffer or sum of squares
    base::Array<T> second;  // moment2
  };
  SlotState make_state(const std::string& name, std::int64_t size, std::int64_t rows) const;
  void step_dense(base::ThreadPool& pool, const DenseSlot<T>& slot, SlotState& state, double lr,
                  T gradient_scale, Id pad_row, std::int64_t dim);
  void step_table(base::ThreadPool& pool, const TableSlot<T>& slot, SlotState& state, double lr,
                  T gradient_scale, Id pad_row);

  OptimizerConfig config_;
  std::int64_t steps_ = 0;
  SlotState table_;
  std::vector<SlotState> dense_;
};

}  // namespace lexirow::optim
