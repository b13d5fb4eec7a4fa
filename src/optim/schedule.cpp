#include "optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "lexirow/error.h"

namespace lexirow::optim {

namespace {

constexpr std::pair<std::string_view, ScheduleKind> kSchedules[] = {
    {"constant", ScheduleKind::constant},
    {"cosine", ScheduleKind::cosine},
    {"one-cycle", ScheduleKind::one_cycle},
    {"plateau", ScheduleKind::plateau},
};

/// PyTorch's OneCycleLR: div_factor, final_div_factor and pct_start.
constexpr double kCycleStart = 25;
constexpr double kCycleEnd = 25 * 1e4;
constexpr double kCycleRise = 0.3;

/// From `start` to `end` along half a cosine; `progress` from 0 to 1.
double along_cosine(double start, double end, double progress) {
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * progress));
}

double one_cycle_rate(const Schedule& schedule, std::int64_t step) {
  const auto steps = static_cast<double>(schedule.schedule_steps);
  const double rise =
      schedule.warmup_steps > 0 ? static_cast<double>(schedule.warmup_steps) : kCycleRise * steps;
  const double at = static_cast<double>(step - 1);  // PyTorch counts from 0
  const double top = rise - 1;
  const double low = schedule.lr / kCycleEnd;
  if (at < top) return along_cosine(schedule.lr / kCycleStart, schedule.lr, at / top);
  if (at >= steps - 1) return low;
  return along_cosine(schedule.lr, low, std::max(0.0, at - top) / (steps - 1 - std::max(0.0, top)));
}

}  // namespace

ScheduleKind parse_schedule(std::string_view text) {
  for (const auto& [name, kind] : kSchedules) {
    if (name == text) return kind;
  }
  throw Error(
      ErrorKind::argument,
      fmt::format("schedule: got \"{}\", expected constant, cosine, one-cycle or plateau", text));
}

std::string schedule_name(ScheduleKind kind) {
  const auto found = std::find_if(std::begin(kSchedules), std::end(kSchedules),
                                  [&](const auto& each) { return each.second == kind; });
  return std::string(found->first);
}

void validate(const Schedule& schedule) {
  if (!(schedule.lr > 0) || !std::isfinite(schedule.lr)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("learning rate: got {}, expected a number above 0, such as 3e-3", schedule.lr));
  }
  if (schedule.warmup_steps < 0) {
    throw Error(ErrorKind::argument,
                fmt::format("warm-up: got {} steps, expected 0 or more", schedule.warmup_steps));
  }
  const bool comes_down =
      schedule.kind == ScheduleKind::cosine || schedule.kind == ScheduleKind::one_cycle;
  if (comes_down && schedule.schedule_steps < 1) {
    throw Error(ErrorKind::argument,
                fmt::format("schedule {}: got {} schedule steps, expected 1 or more, the step "
                            "at which the rate has come down",
                            schedule_name(schedule.kind), schedule.schedule_steps));
  }
  if (!(schedule.final_fraction >= 0 && schedule.final_fraction <= 1)) {
    throw Error(ErrorKind::argument, fmt::format("final fraction of the learning rate: got {}, "
                                                 "expected a number from 0 to 1",
                                                 schedule.final_fraction));
  }
}

double learning_rate(const Schedule& schedule, std::int64_t step) {
  if (schedule.kind == ScheduleKind::one_cycle) return one_cycle_rate(schedule, step);
  if (step <= schedule.warmup_steps) {
    return schedule.lr * static_cast<double>(step) / static_cast<double>(schedule.warmup_steps);
  }
  if (schedule.kind != ScheduleKind::cosine) return schedule.lr;
  if (step >= schedule.schedule_steps) return schedule.lr * schedule.final_fraction;
  const double progress = static_cast<double>(step - schedule.warmup_steps) /
                          static_cast<double>(schedule.schedule_steps - schedule.warmup_steps);
  const double height = 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return schedule.lr * (schedule.final_fraction + (1 - schedule.final_fraction) * height);
}

}  // namespace lexirow::optim
