#include "generate/utf8_hold.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "text/utf8.h"

namespace lexirow::generate {
namespace {

// TOK-9
TEST(Utf8Hold, HoldsBackAnUnfinishedCharacter) {
  Utf8Hold hold;
  EXPECT_EQ(hold.push("a\xe2"), "a");
  EXPECT_EQ(hold.push("\x82"), "");
  EXPECT_EQ(hold.push("\xac!"), "\xe2\x82\xac!");
  EXPECT_EQ(hold.finish(), "");
  EXPECT_EQ(hold.push("\xf0\x9f\x98"), "");
  EXPECT_EQ(hold.finish(), "\xef\xbf\xbd");
  EXPECT_EQ(hold.finish(), "");
}

TEST(Utf8Hold, PiecesJoinedEqualTheRepairedWhole) {
  // Good characters of every length, and bad bytes of every kind between them.
  const std::string whole =
      "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 \xff\x80\x80 \xc0\xaf \xed\xa0\x80 \xe2\x82 x"
      "\xf0\x9f\x98 \xf4\x90\x80\x80 \xf0\x80\xe1\x80\xc3";
  std::int64_t replaced = 0;
  const std::string expected = text::repair_utf8(whole, replaced);
  for (std::size_t first = 0; first <= whole.size(); ++first) {
    for (std::size_t step = 1; step < 8; ++step) {
      Utf8Hold hold;
      std::string shown = hold.push(whole.substr(0, first));
      for (std::size_t i = first; i < whole.size(); i += step) {
        shown += hold.push(whole.substr(i, step));
        std::int64_t bad = 0;
        (void)text::repair_utf8(shown, bad);
        EXPECT_EQ(bad, 0);
      }
      shown += hold.finish();
      EXPECT_EQ(shown, expected) << first << " " << step;
    }
  }
}

}  // namespace
}  // namespace lexirow::generate
