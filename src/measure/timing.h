#pragma once

#include <cstdint>
#include <functional>

namespace lexirow::measure {

/// What repeating one piece of work gave.
struct Timing {
  double seconds = 0;  ///< median of one repetition
  double spread = 0;   ///< (upper quartile - lower quartile) / median
  std::int64_t repetitions = 0;
};

/// Runs `work` once unmeasured, then until `seconds` have passed, at least five times and at most
/// 100000 times. `prepare` runs before each repetition, outside of the time; it may be empty.
Timing repeat(double seconds, const std::function<void()>& work,
              const std::function<void()>& prepare = {});

}  // namespace lexirow::measure
