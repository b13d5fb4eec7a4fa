#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.h"
#include "base/types.h"
#include "base/view.h"
#include "model/config.h"
#include "model/parameters.h"
#include "text/token_stream.h"
#include "text/windows.h"
#include "train/settings.h"

namespace lexirow::train {

/// The running averages of a text (mean, decay) before each of its windows: with `--carry` a
/// held-out loss goes on where the window before ended, as reading the text token by token does.
class CarriedStates {
 public:
  /// Borrows everything but the settings.
  CarriedStates(const Settings& settings, const model::ModelConfig& config,
                const model::Parameters<float>& parameters, const text::TokenStream& stream,
                const text::WindowPlan& plan);

  /// States before the first tokens that the windows `indices` read, [B, S, 1+D]; absent where
  /// nothing is carried. Fast where windows come in their order.
  base::View3<const double> before(std::span<const std::int64_t> indices);

 private:
  base::View1<const float> row_at(Id id, std::int64_t index);
  void read_to(std::int64_t document, std::int64_t position);

  const model::Parameters<float>& parameters_;
  const text::TokenStream& stream_;
  const text::WindowPlan& plan_;
  std::vector<double> rates_;  // empty: nothing is carried
  std::int64_t dim_;
  std::int64_t document_ = -1;  // state_ is that of the tokens [document_, position_)
  std::int64_t position_ = 0;
  std::vector<float> row_;      // [D]
  std::vector<double> state_;   // [S, 1+D]
  base::Array<double> states_;  // [B, S, 1+D]
};

}  // namespace lexirow::train
