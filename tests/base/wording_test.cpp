#include "base/wording.h"

#include <gtest/gtest.h>

namespace lexirow::base {
namespace {

TEST(Wording, CountsInTheRightNumber) {
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(2, "symbolic link"), "2 symbolic links");
}

TEST(Wording, QuotesWhatAShellWouldSplitOrExpand) {
  EXPECT_EQ(shell_word("a/b-c_d.txt"), "a/b-c_d.txt");
  EXPECT_EQ(shell_word("-"), "-");
  EXPECT_EQ(shell_word("5%"), "5%");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my text"), "'my text'");
  EXPECT_EQ(shell_word("it's $5"), "'it'\\''s $5'");
}

}  // namespace
}  // namespace lexirow::base
