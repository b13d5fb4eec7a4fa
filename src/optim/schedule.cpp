#include "optim/schedule.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "lexirow/error.h"

namespace lexirow::optim {

ScheduleKind parse_schedule(std::string_view text) {
  if (text == "constant") return ScheduleKind::constant;
  if (text == "cosine") return ScheduleKind::cosine;
  throw Error(ErrorKind::argument,
              fmt::format("schedule: got \"{}\", expected constant or cosine", text));
}

std::string schedule_name(ScheduleKind kind) {
  return kind == ScheduleKind::constant ? "constant" : "cosine";
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
  if (schedule.kind == ScheduleKind::cosine && schedule.schedule_steps < 1) {
    throw Error(ErrorKind::argument,
                fmt::format("schedule cosine: got {} schedule steps, expected 1 or more, the step "
                            "at which the rate has come down",
                            schedule.schedule_steps));
  }
  if (!(schedule.final_fraction >= 0 && schedule.final_fraction <= 1)) {
    throw Error(ErrorKind::argument, fmt::format("final fraction of the learning rate: got {}, "
                                                 "expected a number from 0 to 1",
                                                 schedule.final_fraction));
  }
}

double learning_rate(const Schedule& schedule, std::int64_t step) {
  if (step <= schedule.warmup_steps) {
    return schedule.lr * static_cast<double>(step) / static_cast<double>(schedule.warmup_steps);
  }
  if (schedule.kind == ScheduleKind::constant) return schedule.lr;
  if (step >= schedule.schedule_steps) return schedule.lr * schedule.final_fraction;
  const double progress = static_cast<double>(step - schedule.warmup_steps) /
                          static_cast<double>(schedule.schedule_steps - schedule.warmup_steps);
  const double height = 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return schedule.lr * (schedule.final_fraction + (1 - schedule.final_fraction) * height);
}

}  // namespace lexirow::optim
