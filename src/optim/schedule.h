#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lexirow::optim {

enum class ScheduleKind { constant, cosine };

/// `constant` or `cosine`. Throws Error(argument) that lists them.
ScheduleKind parse_schedule(std::string_view text);
std::string schedule_name(ScheduleKind kind);

/// Learning rate by step. Warm-up rises linearly from lr/warmup_steps to lr; cosine then falls to
/// final_fraction * lr at schedule_steps and stays there.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double lr = 3e-3;
  std::int64_t schedule_steps = 0;
  std::int64_t warmup_steps = 0;
  double final_fraction = 0.1;
};

/// Throws Error(argument) naming the setting that is out of range, its value and the range.
void validate(const Schedule& schedule);

/// Rate of step number `step`, counted from 1. Throws: nothing.
double learning_rate(const Schedule& schedule, std::int64_t step);

}  // namespace lexirow::optim
