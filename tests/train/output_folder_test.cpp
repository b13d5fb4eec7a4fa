#include "train/output_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "train_support.h"

namespace lexirow::train {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

/// Files that a run left which was killed while it read the text.
void add_beginnings(const TempFolder& folder) {
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  fs::create_directories(folder.path("m/training"));
  for (const std::string& name :
       {std::string("training/lock"), std::string("training/stdin.txt"),
        fmt::format("training/ids.ids-{}-0", dead), fmt::format(".config.json.tmp-{}-1", dead)}) {
    folder.write("m/" + name, "x");
  }
}

TEST(OutputFolder, NeverReplacesWhatItDoesNotKnow) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  fs::create_directories(folder.path("other"));
  folder.write("other/precious.txt", "do not lose");
  TrainRequest request = small_request(folder, "other", {});
  request.force = true;
  EXPECT_NE(error_of(request).find("holds no Lexirow model"), std::string::npos);
  EXPECT_EQ(testing::file_bytes(folder.path("other/precious.txt")), "do not lose");

  request = small_request(folder, "m", {});
  QuietRun()(request);
  EXPECT_NE(error_of(request).find("--force"), std::string::npos);
  request.force = true;
  const std::string before = testing::file_bytes(folder.path("m/model.safetensors"));
  TrainRequest failing = request;
  failing.corpus = {folder.path("missing")};
  EXPECT_NE(error_of(failing), "no error");
  EXPECT_EQ(testing::file_bytes(folder.path("m/model.safetensors")) == before, true)
      << "a failed replacement leaves the old model";
  EXPECT_EQ(QuietRun()(request).steps, 40);
}

TEST(OutputFolder, TakesWhatAKilledRunLeft) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  add_beginnings(folder);
  QuietRun run;
  EXPECT_EQ(run(small_request(folder, "m", {})).steps, 40);
  EXPECT_NE(run.all_notices().find("stopped before its first save"), std::string::npos)
      << run.all_notices();
  for (const auto& entry : fs::recursive_directory_iterator(folder.path("m"))) {
    EXPECT_EQ(fs::relative(entry.path(), folder.path("")).string().find("-0"), std::string::npos)
        << entry.path();
    EXPECT_NE(entry.path().filename(), "lock");
    EXPECT_NE(entry.path().filename(), "stdin.txt");
  }
}

TEST(OutputFolder, LeavesWhatIsNotAllItsOwn) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  add_beginnings(folder);
  folder.write("m/training/notes.txt", "mine");
  EXPECT_NE(error_of(small_request(folder, "m", {})).find("no Lexirow model"), std::string::npos);
  EXPECT_EQ(testing::file_bytes(folder.path("m/training/notes.txt")), "mine");
  EXPECT_EQ(testing::file_bytes(folder.path("m/training/stdin.txt")), "x");
}

TEST(OutputFolder, BelongsToOneRunAtATime) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  TrainRequest request = small_request(folder, "m", {});
  {
    const OutputFolder other(request.out, false, {.notice = {}, .progress = {}});
    EXPECT_NE(error_of(request).find("another process"), std::string::npos) << error_of(request);
  }
  EXPECT_FALSE(fs::exists(request.out));
  QuietRun()(request);
  const std::string before = identical_parts(request.out);
  const OutputFolder other(request.out, {.notice = {}, .progress = {}});
  request.force = true;
  EXPECT_NE(error_of(request).find("another process"), std::string::npos) << error_of(request);
  request.force = false;
  request.resume = true;
  EXPECT_NE(error_of(request).find("another process"), std::string::npos) << error_of(request);
  EXPECT_EQ(identical_parts(request.out) == before, true);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m", "text.txt"}));
}

TEST(OutputFolder, AResumeRemovesTemporariesOfKilledRuns) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  TrainRequest request = small_request(folder, "m", {});
  QuietRun()(request);
  add_beginnings(folder);
  request.resume = true;
  request.given = {{"steps", "45"}};
  QuietRun run;
  EXPECT_EQ(run(request).steps, 45);
  EXPECT_NE(run.all_notices().find("removed 2 temporary files"), std::string::npos)
      << run.all_notices();
  for (const auto& entry : fs::recursive_directory_iterator(folder.path("m"))) {
    EXPECT_EQ(entry.path().filename().string().find("-0"), std::string::npos) << entry.path();
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
}

}  // namespace
}  // namespace lexirow::train
