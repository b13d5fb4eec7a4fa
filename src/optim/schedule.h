#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lexirow::optim {

enum class ScheduleKind { constant, cosine, one_cycle, plateau };

/// `constant`, `cosine`, `one-cycle` or `plateau`. Throws Error(argument) that lists them.
ScheduleKind parse_schedule(std::string_view text);
std::string schedule_name(ScheduleKind kind);

/// Learning rate by step. Warm-up rises linearly from lr/warmup_steps to lr; cosine then falls to
/// final_fraction * lr at schedule_steps and stays there. one_cycle is PyTorch's OneCycleLR with
/// its defaults: it rises from lr/25 to lr over the warm-up (30 % of the steps where there is none)
/// and falls to lr/250000, both as half a cosine. plateau stays as constant does; who evaluates
/// halves it. Source of one_cycle: Smith and Topin, "Super-convergence", 2018.
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
