#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "store/model_folder.h"
#include "train_support.h"

// Runs that are stopped from outside, while they read, train and evaluate.

namespace lexirow::train {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

TEST(Stop, AtAnyStepAndResumedEqualsUninterrupted) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  const Given kind = {{"mixer", "concat:3"},   {"carry", "true"},  {"schedule", "cosine"},
                      {"clip", "1"},           {"patience", "50"}, {"log-every", "1"},
                      {"layers", "2"},         {"dropout", "0.3"}, {"activation", "relu"},
                      {"positions", "learned"}};
  QuietRun()(small_request(folder, "whole", kind));
  for (const std::int64_t stop : {1, 2, 14, 15, 16, 30, 39}) {
    TrainRequest request = small_request(folder, "stopped" + std::to_string(stop), kind);
    QuietRun first;
    first.stop_at_step = stop;
    const TrainResult stopped = first(request);
    ASSERT_TRUE(stopped.interrupted) << stop;
    ASSERT_EQ(stopped.steps, stop);
    request.resume = true;
    request.given.clear();
    request.threads = 2;
    const TrainResult resumed = QuietRun()(request);
    EXPECT_EQ(resumed.steps, 40);
    EXPECT_EQ(identical_parts(request.out) == identical_parts(folder.path("whole")), true) << stop;
  }
}

// What is drawn depends on the seed and the step alone, whatever else is on.
TEST(Stop, OfASampledLossAndResumedEqualsUninterrupted) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  for (const Given& kind : {Given{{"lr", "0.02"}, {"loss", "sampled:5"}, {"row-updates", "lazy"}},
                            Given{{"lr", "0.02"},
                                  {"loss", "sampled:5"},
                                  {"tied", "true"},
                                  {"bias", "true"},
                                  {"clip", "1"}},
                            Given{{"lr", "0.1"},
                                  {"loss", "sampled:3"},
                                  {"optimizer", "adagrad-row"},
                                  {"row-updates", "lazy"}}}) {
    TrainRequest request = small_request(folder, "whole", kind);
    request.force = true;
    const TrainResult whole = QuietRun()(request);
    EXPECT_LT(whole.validation_loss.value(), 3) << "all 26 tokens score, and it learns";
    // Where a run was stopped before: each keeps the model that it was to replace.
    request.out = folder.path("stopped");
    QuietRun first;
    first.stop_at_step = 14;
    ASSERT_EQ(first(request).steps, 14);
    request.force = false;
    request.resume = true;
    request.given.clear();
    request.threads = 4;
    QuietRun()(request);
    EXPECT_EQ(identical_parts(request.out) == identical_parts(folder.path("whole")), true);
  }
}

TEST(Stop, BeforeTheFirstStepCanBeResumed) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  QuietRun()(small_request(folder, "whole", {}));
  TrainRequest request = small_request(folder, "stopped", {});
  QuietRun first;
  first.stop_at_notice = "lexirow train";  // the text has been read, no step made
  EXPECT_EQ(first(request).steps, 0);
  request.resume = true;
  request.given.clear();
  QuietRun()(request);
  EXPECT_EQ(identical_parts(request.out) == identical_parts(folder.path("whole")), true);
}

// Until the text is read there is nothing to save.
TEST(Stop, WhileTheTextIsReadLeavesNothingBehind) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  const TrainRequest request = small_request(folder, "m", {});
  QuietRun run;
  run.stop = true;
  const TrainResult result = run(request);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.stopped_reading);
  EXPECT_FALSE(fs::exists(request.out));
  EXPECT_FALSE(QuietRun()(request).stopped_reading);
}

TEST(Stop, WhileTheTextIsReadLeavesAnOldModelAsItWas) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  TrainRequest request = small_request(folder, "m", {});
  QuietRun()(request);
  const std::string before = identical_parts(request.out);
  QuietRun run;
  run.stop = true;
  request.force = true;
  EXPECT_TRUE(run(request).stopped_reading);
  EXPECT_EQ(identical_parts(request.out) == before, true);
  request.force = false;
  request.resume = true;
  request.given.clear();
  EXPECT_TRUE(run(request).stopped_reading);
  EXPECT_EQ(identical_parts(request.out) == before, true);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m", "text.txt"}));
}

TEST(Stop, IsHeardInTheMiddleOfALargeText) {
  const TempFolder folder;
  std::string text;
  while (text.size() < (std::size_t{5} << 20)) text += small_text(1000);
  folder.write("text.txt", text);
  // The vocabulary has been made when this is told, so that only the encoding can hear it.
  QuietRun run;
  run.stop_at_notice = "vocabulary:";
  const TrainRequest request =
      small_request(folder, "m", {{"tokenizer", "word"}, {"max-vocab", "5"}});
  EXPECT_TRUE(run(request).stopped_reading);
  EXPECT_FALSE(fs::exists(request.out));
}

// A held-out loss that was broken off is made up for, so that the bytes are the same.
TEST(Stop, InsideAnEvaluationEqualsUninterrupted) {
  const TempFolder folder;
  folder.write("text.txt", small_text(6000));
  const Given kind = {{"validation", "0.9"},
                      {"eval-every", "2"},
                      {"log-every", "1"},
                      {"steps", "6"},
                      {"patience", "50"}};
  const TrainRequest whole = small_request(folder, "whole", kind);
  QuietRun()(whole);
  TrainRequest request = small_request(folder, "stopped", kind);
  QuietRun first;
  std::thread stopper([&] {
    // The line of step 4 is written before its held-out loss is begun.
    const std::string history = request.out + "/history.jsonl";
    while (testing::file_bytes(history).find("\"step\":4,\"train_loss\"") == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    first.stop = true;
  });
  const TrainResult stopped = first(request);
  stopper.join();
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.steps, 4);
  const std::string history = testing::file_bytes(request.out + "/history.jsonl");
  EXPECT_EQ(history.find("\"step\":4,\"validation_loss\""), std::string::npos) << history;
  request.resume = true;
  request.given.clear();
  EXPECT_EQ(QuietRun()(request).steps, 6);
  EXPECT_EQ(identical_parts(request.out) == identical_parts(whole.out), true);
}

}  // namespace
}  // namespace lexirow::train
