#pragma once

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/gradient_check.h"

// What the tests of vector code share: values with guarded edges, and every instruction set.

namespace lexirow::kernels {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// `size` floats at any offset from alignment, with NaN around them that must stay as it is.
class Padded {
 public:
  Padded(std::int64_t size, int offset)
      : begin_(kPad + offset),
        size_(size),
        values_(static_cast<std::size_t>(begin_ + size + kPad), kNan) {}
  Padded(const std::vector<float>& values, int offset)
      : Padded(static_cast<std::int64_t>(values.size()), offset) {
    std::copy(values.begin(), values.end(), data());
  }
  float* data() { return values_.data() + begin_; }
  float operator[](std::int64_t i) const { return values_[static_cast<std::size_t>(begin_ + i)]; }
  bool padding_untouched() const {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(values_.size()); ++i) {
      const bool inside = i >= begin_ && i < begin_ + size_;
      if (!inside && !std::isnan(values_[static_cast<std::size_t>(i)])) return false;
    }
    return true;
  }

 private:
  static constexpr std::int64_t kPad = 32;
  std::int64_t begin_;
  std::int64_t size_;
  std::vector<float> values_;
};

inline std::vector<float> test_values(std::uint32_t seed, std::int64_t size, double scale) {
  std::vector<float> values;
  for (double value : testing::normal_values(seed, size)) {
    values.push_back(static_cast<float>(value * scale));
  }
  return values;
}

/// Runs `body` on every instruction set that this CPU and this build share.
inline void on_every_target(const std::function<void(const std::string&)>& body) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

/// Every length up to two of the longest vectors and more, then around the edges of the pieces.
inline std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i <= 70; ++i) result.push_back(i);
  for (std::int64_t i : {127, 1000, 1023, 1024, 1025, 2048, 5003}) result.push_back(i);
  return result;
}

}  // namespace lexirow::kernels
