#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "base/view.h"

namespace lexirow::rows {

/// What training did to each row: facts, not estimates. Decay, momentum and gradients through a
/// tied head do not count.
class Ledger {
 public:
  Ledger() = default;
  explicit Ledger(std::int64_t vocab_size);

  /// Counts the visible input positions of a batch that led to step number `step` (1-based).
  ///   ids   [N] in   checked
  ///   mask  [N] in   absent: all visible
  void record(base::View1<const Id> ids, base::View1<const std::uint8_t> mask, std::int64_t step);

  std::int64_t vocab_size() const { return static_cast<std::int64_t>(occurrences.size()); }

  std::vector<std::int64_t> occurrences;  ///< [V] input positions with mask 1
  std::vector<std::int64_t> updates;      ///< [V] steps with at least one such position
  std::vector<std::int64_t> last_step;    ///< [V] 1-based, 0 never
};

}  // namespace lexirow::rows
