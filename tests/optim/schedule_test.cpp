#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <limits>

#include "lexirow/error.h"

namespace lexirow::optim {
namespace {

TEST(Schedule, ConstantStaysAfterTheWarmUp) {
  Schedule schedule;
  schedule.lr = 0.5;
  EXPECT_EQ(learning_rate(schedule, 1), 0.5);
  schedule.warmup_steps = 4;
  schedule.schedule_steps = 10;
  EXPECT_EQ(learning_rate(schedule, 1), 0.125);
  EXPECT_EQ(learning_rate(schedule, 3), 0.375);
  EXPECT_EQ(learning_rate(schedule, 4), 0.5);
  EXPECT_EQ(learning_rate(schedule, 5), 0.5);
  EXPECT_EQ(learning_rate(schedule, 1000), 0.5);
}

TEST(Schedule, CosineFallsToItsFractionAndStaysThere) {
  Schedule schedule;
  schedule.kind = ScheduleKind::cosine;
  schedule.lr = 2;
  schedule.warmup_steps = 2;
  schedule.schedule_steps = 10;
  schedule.final_fraction = 0.1;
  EXPECT_EQ(learning_rate(schedule, 1), 1);
  EXPECT_EQ(learning_rate(schedule, 2), 2);
  EXPECT_NEAR(learning_rate(schedule, 4), 2 * (0.1 + 0.9 * 0.85355339059327373), 1e-15);
  EXPECT_NEAR(learning_rate(schedule, 6), 1.1, 1e-15);
  EXPECT_NEAR(learning_rate(schedule, 8), 2 * (0.1 + 0.9 * 0.14644660940672627), 1e-15);
  EXPECT_EQ(learning_rate(schedule, 10), 0.2);
  EXPECT_EQ(learning_rate(schedule, 11), 0.2);
  EXPECT_EQ(learning_rate(schedule, 100000), 0.2);
}

TEST(Schedule, AWarmUpPastTheEndGoesStraightToTheFinalRate) {
  Schedule schedule;
  schedule.kind = ScheduleKind::cosine;
  schedule.lr = 1;
  schedule.warmup_steps = 5;
  schedule.schedule_steps = 3;
  EXPECT_EQ(learning_rate(schedule, 4), 0.8);
  EXPECT_EQ(learning_rate(schedule, 5), 1);
  EXPECT_EQ(learning_rate(schedule, 6), 0.1);
}

// torch.optim.lr_scheduler.OneCycleLR(sgd, max_lr=2, total_steps=10).get_last_lr() at each step.
TEST(Schedule, OneCycleIsThatOfTorch) {
  Schedule schedule;
  schedule.kind = ScheduleKind::one_cycle;
  schedule.lr = 2;
  schedule.schedule_steps = 10;
  const double expected[] = {0.080000000000000071,
                             1.04,
                             2,
                             1.9009692640269473,
                             1.6234913078995261,
                             1.2225240438725786,
                             0.77748395612742149,
                             0.37651669210047395,
                             0.099038735973052572,
                             7.9999999999999996e-06};
  for (std::int64_t step = 1; step <= 10; ++step) {
    EXPECT_NEAR(learning_rate(schedule, step), expected[step - 1], 1e-12) << step;
  }
  EXPECT_NEAR(learning_rate(schedule, 11), 2 / 250000.0, 1e-15);
  schedule.warmup_steps = 5;  // the top is at step 5
  EXPECT_NEAR(learning_rate(schedule, 1), 2 / 25.0, 1e-15);
  EXPECT_NEAR(learning_rate(schedule, 5), 2, 1e-15);
  EXPECT_LT(learning_rate(schedule, 6), 2);
  schedule.warmup_steps = 1;  // no rise
  EXPECT_NEAR(learning_rate(schedule, 1), 2, 1e-15);
  schedule.schedule_steps = 1;
  EXPECT_NEAR(learning_rate(schedule, 1), 2 / 250000.0, 1e-15);
}

TEST(Schedule, PlateauStaysUntilSomebodyHalvesIt) {
  Schedule schedule;
  schedule.kind = ScheduleKind::plateau;
  schedule.lr = 0.5;
  schedule.warmup_steps = 2;
  EXPECT_EQ(learning_rate(schedule, 1), 0.25);
  EXPECT_EQ(learning_rate(schedule, 1000), 0.5);
}

TEST(Schedule, NamesAndRangesAreChecked) {
  for (ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::constant, ScheduleKind::one_cycle,
                            ScheduleKind::plateau}) {
    EXPECT_EQ(parse_schedule(schedule_name(kind)), kind);
  }
  EXPECT_THROW(parse_schedule("linear"), Error);
  EXPECT_NO_THROW(validate(Schedule{}));
  Schedule schedule;
  for (double lr : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                    std::numeric_limits<double>::quiet_NaN()}) {
    schedule.lr = lr;
    EXPECT_THROW(validate(schedule), Error) << lr;
  }
  schedule = {};
  schedule.warmup_steps = -1;
  EXPECT_THROW(validate(schedule), Error);
  schedule = {};
  schedule.kind = ScheduleKind::cosine;
  EXPECT_THROW(validate(schedule), Error);
  schedule.schedule_steps = 1;
  EXPECT_NO_THROW(validate(schedule));
  schedule.final_fraction = 1.5;
  EXPECT_THROW(validate(schedule), Error);
}

}  // namespace
}  // namespace lexirow::optim
