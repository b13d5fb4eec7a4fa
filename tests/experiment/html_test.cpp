#include "experiment/html.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lexirow::experiment {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Html, EscapesEveryLetterWithAMeaning) {
  EXPECT_EQ(escape_html("<a href=\"x\" title='y'>&</a>"),
            "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(escape_html("half \xE2\x82"), "half \xEF\xBF\xBD");
}

TEST(Html, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(visible_text("a\tb\n"), "a\\tb\\n");
  EXPECT_EQ(visible_text(" the "), "\xE2\x90\xA3the\xE2\x90\xA3");
  EXPECT_EQ(visible_text("  "), "\xE2\x90\xA3\xE2\x90\xA3");
  EXPECT_EQ(visible_text("two words"), "two words");
  EXPECT_EQ(visible_text(""), "(empty)");
  EXPECT_EQ(visible_text("\xE2\x80\xAE"), "\\u202e");
  EXPECT_EQ(visible_text(std::string("\0", 1)), "\\u0000");
}

TEST(Html, CutsLongTextsAndSaysTheirLength) {
  EXPECT_EQ(visible_text("abcdef", 3), "abc\xE2\x80\xA6 (6 characters)");
  EXPECT_EQ(visible_text("abc", 3), "abc");
  EXPECT_EQ(short_text("abcdef", 3), "abc\xE2\x80\xA6");
  // By code points, never inside one.
  EXPECT_EQ(short_text("\xC3\xA4\xC3\xB6\xC3\xBC", 2), "\xC3\xA4\xC3\xB6\xE2\x80\xA6");
}

TEST(Html, BoxesWhatDoesNotStandThere) {
  // A line end and the two letters that spell it differ.
  EXPECT_EQ(text_html("\n"), "<bdi><span class=\"chip\">\\n</span></bdi>");
  EXPECT_EQ(text_html("\\n"), "<bdi>\\n</bdi>");
  EXPECT_EQ(text_html("<b>"), "<bdi>&lt;b&gt;</bdi>");
}

TEST(Html, NumbersHaveTheDigitsThatCount) {
  EXPECT_EQ(number_text(1.326684594138802), "1.3267");
  EXPECT_EQ(number_text(0.5), "0.5");
  EXPECT_EQ(number_text(2.0), "2");
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(0.00123456), "0.001235");
  EXPECT_EQ(number_text(123456.789),
            "123\xE2\x80\xAF"
            "457");
  EXPECT_EQ(number_text(std::int64_t{-50257}),
            "\xE2\x88\x92"
            "50\xE2\x80\xAF"
            "257");
  EXPECT_EQ(number_text(std::int64_t{1024}), "1024");
  EXPECT_EQ(number_text(4.3778003942839853e-10),
            "4.378\xC3\x97"
            "10\xE2\x81\xBB\xC2\xB9\xE2\x81\xB0");
  EXPECT_EQ(number_text(1e-5), "10\xE2\x81\xBB\xE2\x81\xB5");
}

TEST(Html, NumbersThatAreNotFiniteAreWords) {
  EXPECT_EQ(number_text(kNan), "undefined");
  EXPECT_EQ(number_text(kInf), "\xE2\x88\x9E");
  EXPECT_EQ(data_html(kNan), "<span class=\"none\">undefined</span>");
}

TEST(Html, DataKeepsTheExactValue) {
  EXPECT_EQ(data_html(1.326684594138802), "<data value=\"1.326684594138802\">1.3267</data>");
  EXPECT_EQ(data_html(0.1 + 0.2), "<data value=\"0.30000000000000004\">0.3</data>");
}

TEST(Html, AColumnHasTheSameDecimals) {
  EXPECT_EQ(column_texts({1.2, 0.123456, 10.5}),
            (std::vector<std::string>{"1.200", "0.123", "10.500"}));
  EXPECT_EQ(column_texts({0.5, 0.25}), (std::vector<std::string>{"0.50", "0.25"}));
  EXPECT_EQ(column_texts({1, 2, kNan}), (std::vector<std::string>{"1", "2", "undefined"}));
  EXPECT_EQ(column_texts({0.125, 0}), (std::vector<std::string>{"0.125", "0"}));
  // Too far apart for one number of decimals: no value is rounded to nothing.
  EXPECT_EQ(column_texts({1.5, 1e-7}).back(), "10\xE2\x81\xBB\xE2\x81\xB7");
}

TEST(Html, ComparedNumbersDifferWhereTheyDo) {
  EXPECT_EQ(compared_texts(1.3267, 1.65),
            (std::pair<std::string, std::string>("1.3267", "1.6500")));
  EXPECT_EQ(compared_texts(1.65150001, 1.6515),
            (std::pair<std::string, std::string>("1.65150001", "1.65150000")));
  const double next = std::nextafter(1.5, 2);
  const auto texts = compared_texts(next, 1.5);
  EXPECT_NE(texts.first, texts.second);
  EXPECT_EQ(compared_texts(0.25, 0).second, "0");
  EXPECT_EQ(compared_texts(kNan, 1).first, "undefined");
}

}  // namespace
}  // namespace lexirow::experiment
