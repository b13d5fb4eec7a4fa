#include "store/training_state.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "files/atomic_write.h"
#include "files/safetensors.h"
#include "store/model_folder.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace lexirow::store {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

// A state whose every number follows from `step`.
struct State {
  explicit State(std::int64_t step)
      : weights(3000, static_cast<float>(step) + 0.25F),
        moments(7, -static_cast<float>(step)),
        ledger(4) {
    ledger.occurrences.assign(4, step);
    ledger.updates.assign(4, step + 1);
    ledger.last_step.assign(4, step + 2);
    progress = {{"step", step}, {"random", "18446744073709551615"}, {"best", nullptr}};
  }
  std::vector<StateTensor> tensors() {
    return {{"mixer.0.weight", {weights.data(), {3000}}},
            {"mixer.0.weight.moment1", {moments.data(), {7}}}};
  }
  void save(const std::string& folder) { save_training_state(folder, tensors(), ledger, progress); }
  void load(const std::string& folder) { load_training_state(folder, tensors(), ledger, progress); }

  std::vector<float> weights;
  std::vector<float> moments;
  rows::Ledger ledger;
  nlohmann::json progress;
};

void expect_equal(const State& a, const State& b) {
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.moments, b.moments);
  EXPECT_EQ(a.ledger.occurrences, b.ledger.occurrences);
  EXPECT_EQ(a.ledger.updates, b.ledger.updates);
  EXPECT_EQ(a.ledger.last_step, b.ledger.last_step);
  EXPECT_EQ(a.progress, b.progress);
}

TEST(TrainingState, LoadsWhatWasSaved) {
  TempFolder folder;
  EXPECT_FALSE(has_training_state(folder.path()));
  State saved(12);
  saved.save(folder.path());
  EXPECT_TRUE(has_training_state(folder.path()));
  State loaded(0);
  loaded.load(folder.path());
  expect_equal(loaded, saved);
  // One file, and nothing beside it.
  EXPECT_EQ(folder.names(), std::vector<std::string>{"training"});
  const files::SafetensorsFile file(folder.path(kStateFile));
  EXPECT_EQ(file.entries().size(), 5U);
}

// TRAIN-9
TEST(TrainingState, AKillAtAnyMomentLeavesAWholeState) {
  TempFolder folder;
  State(1).save(folder.path());
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (std::int64_t step = 2;; ++step) State(step).save(folder.path());
    }
    usleep(static_cast<useconds_t>(1000 + 700 * round));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    State loaded(0);
    loaded.load(folder.path());
    expect_equal(loaded, State(loaded.progress["step"].get<std::int64_t>()));
  }
}

TEST(TrainingState, AWrongStateChangesNothing) {
  TempFolder folder;
  State saved(5);
  saved.save(folder.path());
  State loaded(0);
  const auto refuse = [&](const std::vector<StateTensor>& tensors,
                          const std::vector<std::string>& parts) {
    expect_error(ErrorKind::file, parts, [&] {
      load_training_state(folder.path(), tensors, loaded.ledger, loaded.progress);
    });
    expect_equal(loaded, State(0));
  };
  std::vector<StateTensor> tensors = loaded.tensors();
  std::vector<float> other(6);
  tensors.push_back({"mixer.0.weight.moment2", {other.data(), {6}}});
  refuse(tensors, {kStateFile, "mixer.0.weight.moment2", "missing"});
  tensors = loaded.tensors();
  tensors[1].values = {other.data(), {6}};
  refuse(tensors, {"mixer.0.weight.moment1", "7 values", "expected 6"});
  tensors.pop_back();
  refuse(tensors, {"unexpected tensor mixer.0.weight.moment1"});
  State another(0);
  another.ledger = rows::Ledger(5);
  expect_error(ErrorKind::file, {"ledger.occurrences", "[4]", "[5]"},
               [&] { another.load(folder.path()); });
  files::write_safetensors(folder.path(kStateFile), {}, {});
  refuse({}, {"ledger.occurrences"});
  files::write_file_atomically(folder.path(kStateFile), "short");
  refuse({}, {kStateFile, "5 bytes"});
  TempFolder empty;
  expect_error(ErrorKind::io, {kStateFile}, [&] { State(0).load(empty.path()); });
}

}  // namespace
}  // namespace lexirow::store
