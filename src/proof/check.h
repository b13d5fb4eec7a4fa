#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "model/config.h"
#include "model/parameters.h"

namespace lexirow::proof {

/// One check with its figure and limit.
struct CheckResult {
  std::string name;    ///< e.g. "gradient", "no-future"
  std::string subject; ///< what was checked, e.g. "mean, tied"
  bool passed = false;
  double figure = 0;
  double limit = 0;
  std::string text;    ///< one sentence for people
};

struct SkippedCheck {
  std::string name;
  std::string subject;
  std::string reason;
};

struct CheckReport {
  std::vector<CheckResult> checks;
  std::vector<SkippedCheck> skipped;
  bool passed() const;
};

/// What to check: one architecture with its float32 parameters and ids to run on.
struct CheckSubject {
  std::string name;
  model::ModelConfig config;
  const model::Parameters<float>* parameters = nullptr;
  std::vector<Id> ids;  ///< text of the user's, or built-in ids; all below vocab_size
  std::uint64_t seed = 1;
};

/// Runs every check that applies to the subject: gradient (float64, 200 entries a tensor plus one
/// random direction), no-future, reads-past, pad-row, tied-head, one-hot, scatter-add, determinism,
/// save-load (in the folder `scratch`).
void check_subject(base::ThreadPool& pool, const CheckSubject& subject, const std::string& scratch,
                   CheckReport& report);

/// Every mixer, tied and untied, V 24, D 8, T 8; full-mean and centred must fail no-future for
/// their check to pass.
CheckReport check_built_in(base::ThreadPool& pool, std::uint64_t seed, const std::string& scratch);

}  // namespace lexirow::proof
