#include "text/utf8.h"

#include "text_support.h"

namespace lexirow::text {
namespace {

std::string repaired(std::string_view bytes, std::int64_t expected) {
  std::int64_t replaced = 0;
  std::string text = repair_utf8(bytes, replaced);
  EXPECT_EQ(replaced, expected);
  return text;
}

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t code = 0; code < kCodePoints; ++code) {
    const Utf8Step step = utf8_step(utf8_of(code), 0);
    if (code >= 0xD800 && code < 0xE000) {
      ASSERT_TRUE(step.bad) << static_cast<std::uint32_t>(code);
    } else {
      ASSERT_TRUE(!step.bad && step.code == code && step.length == utf8_of(code).size())
          << static_cast<std::uint32_t>(code);
    }
  }
}

// The example of the Unicode Standard, table 3-8 and the text around it.
TEST(Utf8, MaximalBadSubsequencesAreReplacedOnceEach) {
  const std::string fffd = "\xEF\xBF\xBD";
  EXPECT_EQ(repaired("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", 6),
            "a" + fffd + fffd + fffd + "b" + fffd + "c" + fffd + fffd + "d");
  EXPECT_EQ(repaired("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", 8),
            fffd + fffd + fffd + fffd + fffd + fffd + fffd + fffd + "A");
  EXPECT_EQ(repaired("\xED\xA0\x80", 3), fffd + fffd + fffd);
  EXPECT_EQ(repaired("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", 7),
            fffd + fffd + fffd + fffd + fffd + "A" + fffd + fffd + "B");
  EXPECT_EQ(repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 4), fffd + fffd + fffd + fffd + "A");
  EXPECT_EQ(repaired("x\xE4\xB8", 1), "x" + fffd);
}

TEST(Utf8, FinishedLeavesOutWhatMoreBytesCouldComplete) {
  EXPECT_EQ(finished_utf8(""), 0u);
  EXPECT_EQ(finished_utf8("a\xE4\xB8"), 1u);
  EXPECT_EQ(finished_utf8("a\xF0\x9F\x98"), 1u);
  EXPECT_EQ(finished_utf8("a\xF0\x9F\x98\x80"), 5u);
  EXPECT_EQ(finished_utf8("a\xED\xA0"), 3u);
  EXPECT_EQ(finished_utf8("\x80\x80\x80"), 3u);
  EXPECT_EQ(finished_utf8("a\xC3"), 1u);
}

TEST(Utf8, PlacesCountLinesAndCodePoints) {
  const TextPlace place = place_in("ab\n\xC3\xA9x", 5, {});
  EXPECT_EQ(place.line, 2);
  EXPECT_EQ(place.column, 2);
  EXPECT_EQ(place.byte, 5);
}

TEST(Display, ShowsWhatIsHidden) {
  EXPECT_EQ(display_text("a\n\t\r", true), "a\\n\\t\\r");
  EXPECT_EQ(display_text("\xC2\xA0", true), "\\u00a0");
  EXPECT_EQ(display_text(std::string_view("\0", 1), true), "\\u0000");
  EXPECT_EQ(display_text("\xF3\xA0\x80\x81", true), "\\U000e0001");
  EXPECT_EQ(display_text(" ", true), "\xE2\x90\xA3");
  EXPECT_EQ(display_text("a b", true), "a b");
  EXPECT_EQ(display_text("\n", false), "\n");
  EXPECT_EQ(display_text("\xE4", false), "\xEF\xBF\xBD");
  EXPECT_TRUE(display_loses("\xE4"));
  EXPECT_FALSE(display_loses("\xEF\xBF\xBD\n"));
  EXPECT_EQ(hex_bytes("\xE4\x0A"), "e40a");
}

}  // namespace
}  // namespace lexirow::text
