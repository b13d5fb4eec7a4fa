#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/wording.h"
#include "text/corpus.h"
#include "train/evaluate.h"
#include "train/run.h"

// How long a run is: its steps, from limits by steps, passes and minutes.

namespace lexirow::train {

namespace {

constexpr double kProbeSeconds = 1.5;
constexpr std::int64_t kProbeSteps = 200;

// Three leading digits: a step count from a probe is a choice of size, not a measurement.
std::int64_t rounded_down(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  std::int64_t unit = 1;
  while (whole / unit >= 1000) unit *= 10;
  return whole / unit * unit;
}

}  // namespace

// The smallest of the limits in steps, epochs and minutes; says which one it was.
std::int64_t Run::steps_to_make() {
  std::int64_t steps =
      settings_.steps > 0 ? settings_.steps : std::numeric_limits<std::int64_t>::max();
  std::string reason;
  if (settings_.epochs > 0) {
    const auto limit = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(
               std::ceil(settings_.epochs * static_cast<double>(trainer_->batches_per_epoch()))));
    if (limit < steps)
      reason = fmt::format("{} {} over the text", settings_.epochs,
                           settings_.epochs == 1 ? "pass" : "passes");
    steps = std::min(steps, limit);
  }
  if (settings_.minutes > 0) {
    double step_seconds = 0;
    const std::int64_t limit =
        trainer_->state().step + steps_in_minutes(settings_.minutes, step_seconds);
    if (limit < steps) {
      reason = fmt::format("what fits in {} {}", settings_.minutes,
                           settings_.minutes == 1 ? "minute" : "minutes");
      steps = limit;
    }
    reason +=
        fmt::format("{}about {:.1f} ms a step", reason.empty() ? "" : ", ", 1e3 * step_seconds);
  }
  if (!reason.empty()) events_.notice(base::counted(steps, "step") + ": " + reason);
  return steps;
}

// How many steps the minutes allow for, evaluations included.
std::int64_t Run::steps_in_minutes(double minutes, double& step_seconds) {
  step_seconds = probe_step();
  const double evaluation_seconds = probe_evaluation();
  space_evaluations(step_seconds, evaluation_seconds);
  // However long the probe took, half of the time is for training.
  const double budget = std::max(
      minutes * 30, minutes * 60 - seconds_between(start_, Clock::now()) - evaluation_seconds);
  const double each =
      step_seconds + (settings_.eval_every > 0
                          ? evaluation_seconds / static_cast<double>(settings_.eval_every)
                          : 0.0);
  return std::max<std::int64_t>(1, rounded_down(budget / each));
}

// Seconds of a step: runs real ones for a moment and puts everything back.
double Run::probe_step() {
  RunState& state = trainer_->state();
  const bool fresh = state.step == 0;
  state.schedule_steps = std::max<std::int64_t>(state.schedule_steps, 1);
  trainer_->step();  // the first one also makes the buffers
  const Clock::time_point start = Clock::now();
  std::int64_t made = 0;
  while (made < kProbeSteps && seconds_between(start, Clock::now()) < kProbeSeconds) {
    trainer_->step();
    ++made;
    if (stop_.load()) throw text::Stopped();
  }
  const double seconds = seconds_between(start, Clock::now()) / static_cast<double>(made);
  if (fresh) trainer_->draw();
  return seconds;
}

// Seconds of a held-out loss, told from a part of it where it takes long.
double Run::probe_evaluation() {
  if (!validation_plan_) return 0;
  const Clock::time_point before = Clock::now();
  std::int64_t read = 0;
  evaluate_windows(pool_, settings_, folder_.config, folder_.parameters, *validation_stream_,
                   *validation_plan_, settings_.batch, trainer_->workspace(),
                   [&](std::int64_t windows) {
                     read = windows;
                     return stop_.load() || seconds_between(before, Clock::now()) > kProbeSeconds;
                   });
  if (stop_.load()) throw text::Stopped();
  return seconds_between(before, Clock::now()) * static_cast<double>(validation_plan_->size()) /
         static_cast<double>(read);
}

// Held-out losses are to take a fifth of the time at most: of a large text each takes minutes.
void Run::space_evaluations(double step_seconds, double evaluation_seconds) {
  if (fixed_.eval_every || settings_.eval_every == 0) return;
  const double least = 4 * evaluation_seconds / step_seconds;
  if (least <= static_cast<double>(settings_.eval_every)) return;
  const std::int64_t before = settings_.eval_every;
  settings_.eval_every = rounded_down(least);
  events_.notice(
      fmt::format("a held-out loss every {} steps instead of {}: each takes about {:.2g} "
                  "s",
                  settings_.eval_every, before, evaluation_seconds));
}

}  // namespace lexirow::train
