#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lexirow::train {

/// Where a run stands: everything beside the tensors that the next step depends on.
struct RunState {
  std::int64_t step = 0;            ///< optimizer updates made
  std::int64_t steps = 0;           ///< to be made
  std::int64_t schedule_steps = 0;  ///< what the schedule is made for: the first run's steps
  std::int64_t epoch = 0;
  std::int64_t window = 0;  ///< windows of the epoch already used
  std::int64_t tokens = 0;  ///< counted labels so far
  double loss_sum = 0;      ///< since the last log line
  std::int64_t loss_count = 0;
  double train_loss = 0;  ///< of the last log line
  double first_loss = 0;  ///< of the first step: what divergence is measured against
  double best_loss = std::numeric_limits<double>::infinity();  ///< held out, with patience
  std::int64_t best_step = 0;
  std::int64_t without_gain = 0;                                  ///< evaluations since the best
  double plateau_loss = std::numeric_limits<double>::infinity();  ///< best, with schedule plateau
  std::int64_t plateau_waits = 0;  ///< evaluations since then or since the last halving
  std::int64_t halvings = 0;       ///< of the learning rate
  bool evaluation_due = false;    ///< of this step: it was broken off, a resumed run makes it first
  std::uint64_t fingerprint = 0;  ///< of the corpus' ids
};

nlohmann::json to_json(const RunState& state);
/// Throws Error(file) naming `where`.
RunState run_state_from_json(const nlohmann::json& json, const std::string& where);

}  // namespace lexirow::train
