#pragma once

#include <cstdint>

namespace lexirow::optim {

enum class ScheduleKind { constant, cosine };

/// Learning rate by step. Warm-up rises linearly from lr/warmup_steps to lr; cosine then falls to
/// final_fraction * lr at schedule_steps and stays there.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double lr = 3e-3;
  std::int64_t schedule_steps = 0;
  std::int64_t warmup_steps = 0;
  double final_fraction = 0.1;
};

/// Rate of step number `step`, counted from 1.
double learning_rate(const Schedule& schedule, std::int64_t step);

}  // namespace lexirow::optim
