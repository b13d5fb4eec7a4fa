#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/types.h"
#include "context/mixer.h"
#include "logits/mlp.h"
#include "rows/positions.h"

namespace lexirow::model {

/// What the pad row holds: zeros, or the values that it was drawn or given with. Under either it
/// gets no gradient and is never moved, not by decay or momentum.
enum class PadPolicy { zero, keep };

/// The architecture: enough to know every parameter's name, shape and place.
struct ModelConfig {
  std::int64_t vocab_size = 0;                        ///< V, rows of the table
  std::int64_t dim = 64;                              ///< D, width of a row
  rows::Positions positions = rows::Positions::none;  ///< what is added to a row where it stands
  std::int64_t max_positions = 0;  ///< M, after which positions begin anew; 0 without positions
  context::Mixer mixer;
  std::int64_t hidden = 0;  ///< H; 0: no MLP
  logits::MlpForm mlp;      ///< its hidden layers, where there is one
  bool skip = false;        ///< add the current row after the MLP
  bool tied = false;        ///< the head is a view of the table
  bool bias = true;         ///< the head has a bias
  Id pad_id = kNoId;        ///< the pad row, which is frozen; kNoId: there is none
  PadPolicy pad_policy = PadPolicy::zero;

  bool operator==(const ModelConfig&) const = default;
};

/// Throws Error(argument) naming the field, its value and what is possible.
void validate(const ModelConfig& config);

/// The id that is left out of the softmax, or kNoId: a tied pad row is no token that could follow.
Id excluded_id(const ModelConfig& config);

nlohmann::json to_json(const ModelConfig& config);
/// Throws Error(file) naming the missing or wrong field.
ModelConfig model_config_from_json(const nlohmann::json& json);

}  // namespace lexirow::model
