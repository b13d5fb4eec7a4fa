#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "proof/parts.h"
#include "proof/recorded_run.h"

namespace lexirow::proof {

/// One fact of a recorded run beside what came out here.
struct ReplayFact {
  std::string name;  ///< the field of the recording
  double difference = 0;
  double limit = 0;
  bool passed = false;
  std::string text;  ///< one sentence for people
};

/// What came of training a recorded run again.
struct ReplayResult {
  std::string name;
  std::int64_t steps = 0;          ///< compared
  double max_loss_difference = 0;  ///< relative; NaN where a loss here was not finite
  std::int64_t worst_step = 0;     ///< where it stands, counted from 0
  double limit = 0;                ///< of max_loss_difference
  bool losses_passed = false;
  std::vector<ReplayFact> facts;
  std::string text;  ///< one sentence for people on the losses

  /// The losses and every fact.
  bool passed() const;
};

/// The relative difference that losses in float32 may have.
inline constexpr double kReplayTolerance = 2e-5;

/// Draws the run's model from its seed as PyTorch does, trains it here on the same batch for as
/// many steps, and compares every loss and every recorded fact:
///   losses                        relative, at most the larger of `tolerance` and 10 times the gap
///                                 between the recording's float32 and float64 losses
///   embedding_rows_with_gradient  the same rows
///   embedding_grad_norm           within 1e-5, relative where it is above 1
///   logits_0_0                    the same
///   final_embedding_row_sum       within 1e-4, relative where it is above 1
/// The same bits for any number of threads. Throws Error(file) for a run that needs more memory
/// than there is and Error(argument) for a tolerance below 0. `parts` is for tests.
ReplayResult replay_run(base::ThreadPool& pool, const RecordedRun& run, double tolerance,
                        const ModelParts<float>& parts = {});

}  // namespace lexirow::proof
