#include "files/lock_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace lexirow::files {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

TEST(LockFile, IsHeldByOneAtATime) {
  const TempFolder folder;
  const std::string path = folder.path("lock");
  {
    const LockFile lock(path);
    expect_error(ErrorKind::io, {path, "another process is at work"},
                 [&] { const LockFile second(path); });
    EXPECT_TRUE(exists(path));
  }
  EXPECT_FALSE(exists(path));
  const LockFile again(path);
  expect_error(ErrorKind::io, {"no folder"},
               [&] { const LockFile nowhere(folder.path("no folder/lock")); });
}

TEST(LockFile, EndsWithAProcessThatIsKilled) {
  const TempFolder folder;
  const std::string path = folder.path("lock");
  const pid_t child = fork();
  if (child == 0) {
    const LockFile lock(path);
    write_file_atomically(folder.path("ready"), "");
    for (;;) pause();
  }
  while (!exists(folder.path("ready"))) usleep(1000);
  expect_error(ErrorKind::io, {"another process"}, [&] { const LockFile second(path); });
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(exists(path)) << "a killed process leaves its file";
  const LockFile lock(path);
}

}  // namespace
}  // namespace lexirow::files
