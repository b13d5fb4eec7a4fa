#include "files/leftovers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/atomic_write.h"
#include "support/temp_folder.h"

namespace lexirow::files {
namespace {

using lexirow::testing::TempFolder;

/// The id of a process that has ended.
pid_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(Leftovers, OnlyTemporariesOfDeadProcessesGo) {
  const TempFolder folder;
  const pid_t dead = dead_process();
  const std::vector<std::string> kept = {
      fmt::format(".model.safetensors.tmp-{}-0", getpid()),  // may still be written
      fmt::format("model.safetensors.tmp-{}-0", dead),       // not hidden: not ours
      fmt::format(".model.tmp-{}", dead),
      fmt::format(".model.tmp-{}-x", dead),
      ".model.tmp-0-1",
      ".model.tmp-99999999999999-1",
      "model.safetensors",
  };
  for (const std::string& name : kept) folder.write(name, "x");
  make_folder(folder.path(fmt::format(".folder.tmp-{}-0", dead)));
  folder.write(fmt::format(".model.safetensors.tmp-{}-0", dead), "half");
  folder.write(fmt::format(".a.tmp-1.txt.tmp-{}-12", dead), "half");
  folder.write(fmt::format("ids.ids-{}-3", dead), "half");
  EXPECT_EQ(remove_leftovers(folder.path()), 3);
  EXPECT_EQ(folder.names().size(), kept.size() + 1);
  for (const std::string& name : kept) EXPECT_TRUE(exists(folder.path(name))) << name;
  EXPECT_EQ(remove_leftovers(folder.path("no such folder")), 0);
}

// The names that are recognised are those that the writers give.
TEST(Leftovers, KnowTheNamesOfTheWriters) {
  const TempFolder folder;
  const AtomicFile file(folder.path("model"));
  const SpoolFile spool(folder.path("model"));
  ASSERT_EQ(folder.names().size(), 2U);
  for (const std::string& name : folder.names()) EXPECT_TRUE(is_temporary_name(name)) << name;
  EXPECT_FALSE(is_temporary_name("model"));
}

}  // namespace
}  // namespace lexirow::files
