#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "model/config.h"
#include "optim/optimizer.h"
#include "text/windows.h"

namespace lexirow::proof {

/// What a recording tells of the first step, before any update.
struct FirstStep {
  std::vector<Id> rows_with_gradient;  ///< ascending; rows of the table with any value but zero
  double embedding_grad_norm = 0;      ///< 2-norm of the table's whole gradient
  std::vector<double> logits;          ///< the first logits of the first position
};

/// One training run as PyTorch made it: the same batch at every step.
struct RecordedRun {
  std::string name;
  model::ModelConfig config;
  std::uint64_t seed = 0;  ///< draws the parameters
  optim::OptimizerConfig optimizer;
  double learning_rate = 0;
  text::Batch batch;                   ///< ids, mask (all ones where none was given) and labels
  std::vector<double> losses;          ///< of each step, before its update
  std::vector<double> losses_float64;  ///< the same run in float64; empty where none was recorded
  double float64_gap = 0;              ///< largest relative difference between the two
  FirstStep first_step;
  std::vector<double> final_row_sums;  ///< [V] sum of each row of the table after the last step
  std::vector<std::string> unknown_fields;  ///< fields that stand in the file and were not read
};

/// The runs of one file.
struct Recording {
  std::string source;  ///< what the file says of its origin; may be empty
  std::vector<RecordedRun> runs;
};

/// Runs whose two losses lie further apart than this say nothing about an engine: rounding alone
/// decides where they go.
inline constexpr double kLargestFloat64Gap = 1e-4;

/// Reads a recording (docs/replay.md tells every field); `name` is how messages call it. Throws
/// Error(file) naming the case and the field that is missing, has another type or shape, or holds a
/// value out of range, and what was expected there.
Recording parse_recording(const std::string& text, const std::string& name);

/// |a - b| over the larger of |a| and |b|; 0 for equal numbers.
double relative_difference(double a, double b);

}  // namespace lexirow::proof
