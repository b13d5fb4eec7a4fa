// Runs that PyTorch records now, with seeds and sizes of their own, are trained again here.

#include "proof/replay.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "support/temp_folder.h"

namespace lexirow {
namespace {

using testing::file_bytes;
using testing::TempFolder;

// The one that Debian's python3-torch belongs to.
const std::string kPython = "/usr/bin/python3 -B ";

class Recorder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (shell(kPython + "-c 'import importlib.util as u; exit(not u.find_spec(\"torch\"))'") != 0) {
      GTEST_SKIP() << "needs the Debian package python3-torch";
    }
  }

  /// Runs a command, keeps what it says on standard error, returns its exit code.
  int shell(const std::string& command) {
    const int status =
        std::system((command + " >/dev/null 2>'" + temp_.path("said") + "'").c_str());
    said_ = file_bytes(temp_.path("said"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  int record(const std::string& options) {
    return shell(kPython + "'" LEXIROW_SOURCE_DIR "/scripts/record_trajectories.py' --out '" +
                 path_ + "' " + options);
  }

  std::vector<proof::RecordedRun> recorded() const {
    return proof::parse_recording(file_bytes(path_), path_).runs;
  }

  void expect_all_pass(std::size_t cases) const {
    base::ThreadPool pool(2);
    const std::vector<proof::RecordedRun> runs = recorded();
    EXPECT_EQ(runs.size(), cases);
    for (const proof::RecordedRun& run : runs) {
      const proof::ReplayResult result = replay_run(pool, run, proof::kReplayTolerance);
      EXPECT_TRUE(result.losses_passed) << run.name << ": " << result.text;
      EXPECT_EQ(result.facts.size(), 4U);
      for (const auto& fact : result.facts) EXPECT_TRUE(fact.passed) << run.name << fact.text;
      EXPECT_FALSE(run.losses_float64.empty());
      EXPECT_TRUE(run.unknown_fields.empty());
    }
  }

  TempFolder temp_;
  const std::string path_ = temp_.path("runs.json");
  std::string said_;
};

TEST_F(Recorder, AFreshSuiteIsReplayed) {
  ASSERT_EQ(record("--suite --seed 20240 --steps 20"), 0) << said_;
  expect_all_pass(19);
}

TEST_F(Recorder, RunsOfTheCommandLineAreReplayed) {
  ASSERT_EQ(record("--name first --model mean --vocab-size 33 --dim 9 --hidden 21 --batch 3 "
                   "--length 17 --seed 77 --data-seed 5 --optimizer sgd --lr 0.4 --momentum 0.7 "
                   "--weight-decay 0.001 --mask left --padding-idx 32 --ignore 0.25 --steps 25"),
            0)
      << said_;
  ASSERT_EQ(record("--append --name second --model window:4 --no-bias --betas 0.7 0.95 --eps 1e-5 "
                   "--seed 4294967295"),
            0)
      << said_;
  ASSERT_EQ(record("--append --name third --model none --tied --bias --optimizer adagrad --lr 0.1"),
            0)
      << said_;
  expect_all_pass(3);
  const proof::RecordedRun first = recorded()[0];
  EXPECT_EQ(first.config.hidden, 21);
  EXPECT_EQ(first.config.pad_id, 32);
  EXPECT_EQ(first.optimizer.momentum, 0.7);
  EXPECT_EQ(first.losses.size(), 25U);
  EXPECT_NE(std::count(first.batch.mask.begin(), first.batch.mask.end(), 0), 0);
  EXPECT_FALSE(recorded()[1].config.bias);
  EXPECT_EQ(recorded()[1].optimizer.eps, 1e-5);
  EXPECT_TRUE(recorded()[2].config.bias);
}

TEST_F(Recorder, RefusesByNameAndWritesNothing) {
  const auto refuse = [&](const std::string& options, int code,
                          const std::vector<std::string>& parts) {
    EXPECT_EQ(record(options), code) << options;
    for (const std::string& part : parts) {
      EXPECT_NE(said_.find(part), std::string::npos) << part << '\n' << said_;
    }
    EXPECT_EQ(temp_.names(), std::vector<std::string>{"said"});
  };
  refuse("--name wild --optimizer adamw --lr 0.5 --steps 60", 1,
         {"case wild: ", "relative gap", "0.0001", "--lr"});
  refuse("--name broken --optimizer sgd --lr 1e30", 1, {"case broken: ", "is nan", "--lr"});
  refuse("--name both --tied --padding-idx 0", 1, {"case both: ", "tied", "pad row"});
  refuse("--model lstm", 1, {"lstm", "mean"});
  refuse("--model concat:3 --hidden 0", 1, {"--hidden"});
  refuse("--padding-idx 99", 1, {"99", "24"});
  refuse("--dim 0", 2, {"--dim", "1 or more"});
}

}  // namespace
}  // namespace lexirow
