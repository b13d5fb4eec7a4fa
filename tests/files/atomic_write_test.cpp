#include "files/atomic_write.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace lexirow::files {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TemporaryFolder;

TEST(AtomicFile, ReplacesTheOldFileWhole) {
  TemporaryFolder folder;
  const std::string path = folder.file("a.txt");
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.write("new ");
    file.write("text");
    EXPECT_EQ(read_file(path), "old");
    file.commit();
  }
  EXPECT_EQ(read_file(path), "new text");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
}

TEST(AtomicFile, AFailureBeforeCommitLeavesTheOldFileAndNothingElse) {
  TemporaryFolder folder;
  const std::string path = folder.file("a.txt");
  write_file_atomically(path, "old");
  try {
    AtomicFile file(path);
    file.write("half of the new te");
    throw std::runtime_error("the work stops here");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
}

TEST(AtomicFile, AKilledProcessLeavesTheOldFile) {
  TemporaryFolder folder;
  const std::string path = folder.file("a.txt");
  write_file_atomically(path, "old");
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write("half of the new te");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_file(path), "old");
  // What the dead process left is no obstacle.
  write_file_atomically(path, "new");
  EXPECT_EQ(read_file(path), "new");
}

TEST(AtomicFile, HoldsWhatItIsGiven) {
  TemporaryFolder folder;
  const std::string bytes("\0\xff\n\r\0", 5);
  write_file_atomically(folder.file("b"), bytes);
  EXPECT_EQ(read_file(folder.file("b")), bytes);
  write_file_atomically(folder.file("empty"), "");
  EXPECT_EQ(read_file(folder.file("empty")), "");
}

TEST(AtomicFile, NamesAFolderThatCannotBeWritten) {
  TemporaryFolder folder;
  write_file_atomically(folder.file("plain"), "x");
  expect_error(ErrorKind::io, {folder.path() + "/missing", "cannot write in this folder"},
               [&] { AtomicFile file(folder.file("missing/a")); });
  expect_error(ErrorKind::io, {folder.path() + "/plain", "file, not a folder"},
               [&] { AtomicFile file(folder.file("plain/a")); });
  expect_error(ErrorKind::io, {folder.path(), "directory"},
               [&] { AtomicFile file(folder.path()); });
  if (geteuid() == 0) return;  // root may write everywhere
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  expect_error(ErrorKind::io, {folder.path(), "permissions"},
               [&] { AtomicFile file(folder.file("a")); });
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

// The body of a child process that sees a disk of 64 KiB; its exit status is the verdict.
int write_on_a_small_disk(const std::string& folder) {
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  AppendFile("/proc/self/setgroups").append("deny");
  AppendFile("/proc/self/uid_map").append("0 " + user + " 1");
  AppendFile("/proc/self/gid_map").append("0 " + group + " 1");
  if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") != 0) return 77;
  write_file_atomically(folder + "/a", "old");
  bool told = false;
  try {
    AtomicFile file(folder + "/a", 1000000);
    file.write(std::string(500000, 'x'));
    file.commit();
  } catch (const Error& error) {
    const std::string text = error.what();
    told = error.kind() == ErrorKind::io &&
           text.find("1000000 bytes needed") != std::string::npos &&
           text.find("bytes free") != std::string::npos;
  }
  const bool clean = std::distance(std::filesystem::directory_iterator(folder),
                                   std::filesystem::directory_iterator()) == 1;
  return told && clean && read_file(folder + "/a") == "old" ? 0 : 1;
}

TEST(AtomicFile, AFullDiskIsToldWithTheBytesNeeded) {
  TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(write_on_a_small_disk(folder.path()));
    } catch (...) {
      _exit(2);
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no disk can be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(AppendFile, AFullDiskIsToldWithTheBytesNeeded) {
  if (!exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  AppendFile file("/dev/full");
  expect_error(ErrorKind::io, {"/dev/full", "disk is full", "6 bytes needed", "bytes free"},
               [&] { file.append("a line"); });
  EXPECT_EQ(file.size(), 0);
}

TEST(AppendFile, AppendsAndCuts) {
  TemporaryFolder folder;
  const std::string path = folder.file("log");
  {
    AppendFile file(path);
    file.append("one\n");
    file.append("two\n");
    EXPECT_EQ(file.size(), 8);
  }
  AppendFile file(path);
  EXPECT_EQ(file.size(), 8);
  file.cut_to(4);
  file.append("three\n");
  EXPECT_EQ(read_file(path), "one\nthree\n");
  expect_error(ErrorKind::argument, {path, "11", "10"}, [&] { file.cut_to(11); });
  expect_error(ErrorKind::io, {folder.path()}, [&] { AppendFile bad(folder.file("no/log")); });
}

TEST(ReadFile, NamesWhatCannotBeRead) {
  TemporaryFolder folder;
  expect_error(ErrorKind::io, {folder.file("none"), "cannot read", "check the spelling"},
               [&] { read_file(folder.file("none")); });
  expect_error(ErrorKind::io, {folder.path(), "directory"}, [&] { read_file(folder.path()); });
  // A file without a size of its own.
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST(MakeFolder, MakesParentsAndRefusesAFile) {
  TemporaryFolder folder;
  make_folder(folder.file("a/b/c/"));
  EXPECT_TRUE(exists(folder.file("a/b/c")));
  make_folder(folder.file("a/b"));
  write_file_atomically(folder.file("plain"), "x");
  expect_error(ErrorKind::io, {folder.file("plain"), "create this folder"},
               [&] { make_folder(folder.file("plain")); });
  expect_error(ErrorKind::io, {folder.file("plain/below")},
               [&] { make_folder(folder.file("plain/below")); });
}

TEST(SpoolFile, StaysOnlyWhenClosed) {
  TemporaryFolder folder;
  std::string path;
  {
    SpoolFile spool(folder.file("model"));
    spool.write("abcd", 4);
  }
  EXPECT_TRUE(folder.names().empty());
  {
    SpoolFile first(folder.file("model"));
    SpoolFile second(folder.file("model"));
    EXPECT_NE(first.path(), second.path());
    first.write("abcd", 4);
    first.write("ef", 2);
    first.close();
    path = first.path();
  }
  EXPECT_EQ(folder.names().size(), 1U);
  EXPECT_EQ(read_file(path), "abcdef");
}

}  // namespace
}  // namespace lexirow::files
