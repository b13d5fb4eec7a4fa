#include "files/atomic_write.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "files/overwriting.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace lexirow::files {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

TEST(AtomicFile, ReplacesTheOldFileWhole) {
  TempFolder folder;
  const std::string path = folder.path("a.txt");
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
  TempFolder folder;
  const std::string path = folder.path("a.txt");
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
  TempFolder folder;
  const std::string path = folder.path("a.txt");
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
  TempFolder folder;
  const std::string bytes("\0\xff\n\r\0", 5);
  write_file_atomically(folder.path("b"), bytes);
  EXPECT_EQ(read_file(folder.path("b")), bytes);
  write_file_atomically(folder.path("empty"), "");
  EXPECT_EQ(read_file(folder.path("empty")), "");
}

TEST(AtomicFile, NamesAFolderThatCannotBeWritten) {
  TempFolder folder;
  write_file_atomically(folder.path("plain"), "x");
  expect_error(ErrorKind::io, {folder.path() + "/missing", "cannot write in this folder"},
               [&] { AtomicFile file(folder.path("missing/a")); });
  expect_error(ErrorKind::io, {folder.path() + "/plain", "file, not a folder"},
               [&] { AtomicFile file(folder.path("plain/a")); });
  expect_error(ErrorKind::io, {folder.path(), "directory"},
               [&] { AtomicFile file(folder.path()); });
  if (geteuid() == 0) return;  // root may write everywhere
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  expect_error(ErrorKind::io, {folder.path(), "permissions"},
               [&] { AtomicFile file(folder.path("a")); });
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
  TempFolder folder;
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
  TempFolder folder;
  const std::string path = folder.path("log");
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
  expect_error(ErrorKind::io, {folder.path()}, [&] { AppendFile bad(folder.path("no/log")); });
}

TEST(ReadFile, NamesWhatCannotBeRead) {
  TempFolder folder;
  expect_error(ErrorKind::io, {folder.path("none"), "cannot read", "check the spelling"},
               [&] { read_file(folder.path("none")); });
  expect_error(ErrorKind::io, {folder.path(), "directory"}, [&] { read_file(folder.path()); });
  // A file without a size of its own.
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST(MakeFolder, MakesParentsAndRefusesAFile) {
  TempFolder folder;
  make_folder(folder.path("a/b/c/"));
  EXPECT_TRUE(exists(folder.path("a/b/c")));
  make_folder(folder.path("a/b"));
  write_file_atomically(folder.path("plain"), "x");
  expect_error(ErrorKind::io, {folder.path("plain"), "create this folder"},
               [&] { make_folder(folder.path("plain")); });
  expect_error(ErrorKind::io, {folder.path("plain/below")},
               [&] { make_folder(folder.path("plain/below")); });
}

TEST(SpoolFile, StaysOnlyWhenClosed) {
  TempFolder folder;
  std::string path;
  {
    SpoolFile spool(folder.path("model"));
    spool.write("abcd", 4);
  }
  EXPECT_TRUE(folder.names().empty());
  {
    SpoolFile first(folder.path("model"));
    SpoolFile second(folder.path("model"));
    EXPECT_NE(first.path(), second.path());
    first.write("abcd", 4);
    first.write("ef", 2);
    first.close();
    path = first.path();
  }
  EXPECT_EQ(folder.names().size(), 1U);
  EXPECT_EQ(read_file(path), "abcdef");
}

// An output under any name of an input, and a place that holds one.
TEST(Overwriting, IsRefusedWhateverTheInputIsCalled) {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const std::string text = folder.write("c.txt", "text");
  fs::create_hard_link(text, folder.path("hard"));
  fs::create_symlink(text, folder.path("soft"));
  fs::create_directories(folder.path("m/training"));
  const std::string kept = folder.write("m/training/stdin.txt", "text");
  fs::create_hard_link(kept, folder.path("of-model"));
  folder.write("v_metadata.tsv", "a\n");
  const auto refused = [&](const std::string& output, const std::string& input) {
    expect_error(ErrorKind::argument, {"--out " + output, "IN " + input}, [&] {
      refuse_overwriting({{"--out", output}}, {{"IN", input}});
    });
  };
  for (const char* name : {"c.txt", "hard", "soft", "m/../c.txt"}) refused(folder.path(name), text);
  refused(kept, folder.path("m"));
  refused(folder.path("of-model"), folder.path("m"));
  refused(folder.path("m"), kept);
  refused(folder.path("m"), folder.path("m"));
  expect_error(ErrorKind::argument, {"v_metadata.tsv"}, [&] {
    refuse_overwriting({{"--out", folder.path("v_metadata.tsv")}}, {{"IN", folder.path("v.tsv")}});
  });
  expect_error(ErrorKind::argument, {"v_metadata.tsv"}, [&] {
    refuse_overwriting({{"--out", folder.path("v.tsv")}}, {{"IN", folder.path("v_metadata.tsv")}});
  });
  const std::vector<NamedPath> inputs = {{"IN", text}, {"IN", folder.path("m")}, {"IN", "-"}};
  for (const std::string& other :
       {folder.path("new"), folder.path("m/new"), std::string("-"), std::string("/dev/null")}) {
    EXPECT_NO_THROW(refuse_overwriting({{"--out", other}}, inputs)) << other;
  }
  EXPECT_NO_THROW(refuse_overwriting({{"--out", folder.path("v_metadata.tsv")}}, inputs));
}

}  // namespace
}  // namespace lexirow::files
