#include "proof/replay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "support/expect_error.h"

namespace lexirow::proof {
namespace {

using testing::expect_error;

/// Runs of a file of recorded runs; none where the file is not there.
std::vector<RecordedRun> runs_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) return {};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_recording(text, path).runs;
}

/// The runs that come with the project, recorded by scripts/record_trajectories.py --suite.
std::vector<RecordedRun> own_runs() {
  return runs_of(LEXIROW_SOURCE_DIR "/data/pytorch-runs.json");
}

RecordedRun own_run(const std::string& name) {
  for (const RecordedRun& run : own_runs()) {
    if (run.name == name) return run;
  }
  ADD_FAILURE() << "no case " << name;
  return {};
}

ReplayResult replay(const RecordedRun& run, const ModelParts<float>& parts = {}, int threads = 2) {
  base::ThreadPool pool(threads);
  return replay_run(pool, run, kReplayTolerance, parts);
}

void expect_passed(const ReplayResult& result, double aim) {
  SCOPED_TRACE(result.name);
  EXPECT_LE(result.max_loss_difference, aim) << result.text;
  EXPECT_EQ(result.facts.size(), 4U);
  for (const ReplayFact& fact : result.facts) EXPECT_TRUE(fact.passed) << fact.text;
  EXPECT_TRUE(result.passed());
}

TEST(Replay, OfTheSharedRunsIsPyTorchToSixDigits) {
  const std::vector<RecordedRun> runs =
      runs_of(LEXIROW_SHARED_DIR "/cases/torch-trajectories.json");
  if (runs.empty()) GTEST_SKIP() << "the shared trajectories are not here";
  EXPECT_EQ(runs.size(), 6U);
  for (const RecordedRun& run : runs) {
    const ReplayResult result = replay(run);
    EXPECT_EQ(result.steps, 30);
    EXPECT_EQ(result.limit, 2e-5);
    expect_passed(result, 2e-6);
  }
}

TEST(Replay, OfTheOwnRunsPasses) {
  const std::vector<RecordedRun> runs = own_runs();
  EXPECT_GE(runs.size(), 19U);
  for (const RecordedRun& run : runs) {
    EXPECT_FALSE(run.losses_float64.empty()) << run.name;
    EXPECT_TRUE(run.unknown_fields.empty()) << run.name;
    const ReplayResult result = replay(run);
    // In some runs rounding alone moves the losses further.
    expect_passed(result, std::max(2e-6, 10 * run.float64_gap));
  }
}

TEST(Replay, GivesTheSameFiguresForAnyThreads) {
  for (const char* name : {"wider", "concat-holes-tied", "mean-left-padding"}) {
    const RecordedRun run = own_run(name);
    const ReplayResult one = replay(run, {}, 1);
    for (const int threads : {2, 5}) {
      const ReplayResult more = replay(run, {}, threads);
      EXPECT_EQ(more.max_loss_difference, one.max_loss_difference) << name;
      EXPECT_EQ(more.worst_step, one.worst_step);
      for (std::size_t i = 0; i < one.facts.size(); ++i) {
        EXPECT_EQ(more.facts[i].difference, one.facts[i].difference) << one.facts[i].text;
      }
    }
  }
}

TEST(Replay, AGapToFloat64WidensTheLimit) {
  RecordedRun run = own_run("mean-adamw");
  run.float64_gap = 3e-5;
  EXPECT_DOUBLE_EQ(replay(run).limit, 3e-4);
  run.float64_gap = 1e-6;
  EXPECT_EQ(replay(run).limit, 2e-5);
  run.float64_gap = 0;
  base::ThreadPool pool(1);
  EXPECT_FALSE(replay_run(pool, run, 0).passed()) << "PyTorch rounds in other places";
}

TEST(Replay, AnotherLossIsFoundAtItsStep) {
  RecordedRun run = own_run("mean-adamw");
  run.losses[17] *= 1 + 5e-5;
  const ReplayResult result = replay(run);
  EXPECT_FALSE(result.passed());
  EXPECT_FALSE(result.losses_passed);
  EXPECT_EQ(result.worst_step, 17);
  EXPECT_NEAR(result.max_loss_difference, 5e-5, 1e-6);
  EXPECT_NE(result.text.find("at step 17"), std::string::npos) << result.text;
  base::ThreadPool pool(1);
  EXPECT_TRUE(replay_run(pool, run, 1e-4).passed());
}

/// Every part of a recorded run decides where it goes: each change must be seen.
TEST(Replay, EveryFieldTellsInTheLosses) {
  const auto expect_seen = [](const char* name, const auto& change) {
    RecordedRun run = own_run(name);
    change(run);
    EXPECT_FALSE(replay(run).losses_passed) << name;
  };
  expect_seen("mean-adamw", [](RecordedRun& run) { ++run.seed; });
  expect_seen("mean-adamw", [](RecordedRun& run) { run.learning_rate *= 1.01; });
  expect_seen("mean-adamw", [](RecordedRun& run) { run.optimizer.beta1 = 0.9; });
  expect_seen("mean-adamw", [](RecordedRun& run) { run.optimizer.beta2 = 0.999; });
  expect_seen("mean-adamw", [](RecordedRun& run) { run.optimizer.eps = 1e-8; });
  expect_seen("mean-adamw", [](RecordedRun& run) { run.optimizer.weight_decay = 0.01; });
  expect_seen("mean-adamw", [](RecordedRun& run) { run.config.hidden += 1; });
  expect_seen("bigram", [](RecordedRun& run) { run.optimizer.momentum = 0; });
  expect_seen("bigram", [](RecordedRun& run) { run.config.bias = false; });
  expect_seen("window-sgd", [](RecordedRun& run) { run.config.mixer.parts[0].window = 4; });
  expect_seen("mean-left-padding", [](RecordedRun& run) {
    std::fill(run.batch.mask.begin(), run.batch.mask.end(), std::uint8_t{1});
  });
  expect_seen("wider", [](RecordedRun& run) {
    Id& id = run.batch.ids[40];
    id = (id + 1) % 300;
  });
  expect_seen("wider", [](RecordedRun& run) { run.batch.labels[40] = kIgnoredLabel; });
}

const ReplayFact& fact_of(const ReplayResult& result, const std::string& name) {
  static const ReplayFact kMissing;
  for (const ReplayFact& fact : result.facts) {
    if (fact.name == name) return fact;
  }
  ADD_FAILURE() << name << " was not compared";
  return kMissing;
}

TEST(Replay, EveryFactIsComparedWithItsLimit) {
  const auto expect_red = [](const std::string& name, double within, double beyond,
                             const auto& shift) {
    RecordedRun run = own_run("mean-left-padding");
    shift(run, within);
    EXPECT_TRUE(fact_of(replay(run), name).passed) << name;
    run = own_run("mean-left-padding");
    shift(run, beyond);
    const ReplayResult result = replay(run);
    EXPECT_FALSE(fact_of(result, name).passed) << name;
    EXPECT_TRUE(result.losses_passed);
    EXPECT_FALSE(result.passed());
  };
  expect_red("embedding_grad_norm", 8e-6, 1.2e-5,
             [](RecordedRun& run, double shift) { run.first_step.embedding_grad_norm += shift; });
  expect_red("logits_0_0", 8e-6, 1.2e-5,
             [](RecordedRun& run, double shift) { run.first_step.logits.back() += shift; });
  expect_red("final_embedding_row_sum", 2e-5, 9e-4,
             [](RecordedRun& run, double shift) { run.final_row_sums[5] += shift; });
  expect_red("embedding_rows_with_gradient", 0, 1, [](RecordedRun& run, double shift) {
    if (shift > 0) run.first_step.rows_with_gradient.pop_back();
  });
}

// From here on, a broken engine must be found.

TEST(BrokenEngine, AGradientThatIsWrongInTheFourthDigitIsFound) {
  ModelParts<float> parts;
  parts.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                     const auto& batch, auto& workspace, auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<float>(pool, config, values, batch, workspace, gradients);
    for (const auto& tensor : gradients.dense.tensors()) {
      if (tensor.name != "lm_head.weight") continue;
      for (float& value : tensor.values) value *= 1.001F;
    }
    return sum;
  };
  const ReplayResult result = replay(own_run("bigram"), parts);
  EXPECT_FALSE(result.losses_passed);
  EXPECT_GT(result.worst_step, 0);
}

TEST(BrokenEngine, ARowThatGetsNoGradientIsFound) {
  ModelParts<float> parts;
  parts.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                     const auto& batch, auto& workspace, auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<float>(pool, config, values, batch, workspace, gradients);
    std::fill_n(gradients.rows.values.data(), config.dim, 0.0F);
    return sum;
  };
  const ReplayResult result = replay(own_run("bigram"), parts);
  const ReplayFact& rows = fact_of(result, "embedding_rows_with_gradient");
  EXPECT_FALSE(rows.passed);
  EXPECT_EQ(rows.difference, 1);
  EXPECT_FALSE(fact_of(result, "embedding_grad_norm").passed);
}

TEST(BrokenEngine, LogitsThatAreNotNumbersFail) {
  ModelParts<float> parts;
  parts.all_logits = [](auto&, const auto&, const auto&, const auto&, auto&, auto logits) {
    std::fill(logits.begin(), logits.end(), std::numeric_limits<float>::quiet_NaN());
  };
  const ReplayResult result = replay(own_run("bigram"), parts);
  EXPECT_TRUE(std::isnan(fact_of(result, "logits_0_0").difference));
  EXPECT_FALSE(result.passed());
}

TEST(Replay, StopsWhereALossIsNoNumber) {
  RecordedRun run = own_run("mean-right-padding-sgd");
  run.learning_rate = 1e30;
  const ReplayResult result = replay(run);
  EXPECT_FALSE(result.passed());
  EXPECT_TRUE(std::isnan(result.max_loss_difference));
  EXPECT_LT(result.steps, 30);
  EXPECT_EQ(result.worst_step, result.steps - 1);
}

TEST(Replay, RefusesWhatItCannotHold) {
  base::ThreadPool pool(1);
  RecordedRun run = own_run("bigram");
  run.config.dim = std::int64_t{1} << 31;
  expect_error(ErrorKind::file, {"case \"bigram\"", "GiB"},
               [&] { replay_run(pool, run, kReplayTolerance); });
  run.config.hidden = std::int64_t{1} << 31;
  run.config.dim = std::int64_t{1} << 40;
  expect_error(ErrorKind::shape, {"case \"bigram\"", "63 bits"},
               [&] { replay_run(pool, run, kReplayTolerance); });
  expect_error(ErrorKind::argument, {"tolerance", "-1"},
               [&] { replay_run(pool, own_run("bigram"), -1); });
}

}  // namespace
}  // namespace lexirow::proof
