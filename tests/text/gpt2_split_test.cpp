#include "text/gpt2_split.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "text/code_class.h"
#include "text/unicode_additions.h"
#include "text/utf8.h"
#include "text_support.h"

namespace lexirow::text {
namespace {

using Ends = std::vector<std::size_t>;

/// The pattern compiled once. PCRE2's own \s is not Unicode's White_Space (it has U+180E).
const pcre2_code* compiled() {
  static const pcre2_code* code = [] {
    std::string pattern = kGpt2Pattern;
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"\\s", "\\p{White_Space}"},
                                   {"\\S", "\\P{White_Space}"}}) {
      for (std::size_t at = pattern.find(from); at != std::string::npos;
           at = pattern.find(from, at + 2)) {
        pattern.replace(at, 2, to);
      }
    }
    int error = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* made = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.c_str()), pattern.size(),
                                     PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
    EXPECT_NE(made, nullptr) << pattern << " at " << offset;
    pcre2_jit_compile(made, PCRE2_JIT_COMPLETE);
    return made;
  }();
  return code;
}

/// Ends of the pieces by PCRE2.
Ends ends_by_pcre2(std::string_view text) {
  pcre2_match_data* match = pcre2_match_data_create_from_pattern(compiled(), nullptr);
  Ends ends;
  PCRE2_SIZE at = 0;
  while (at < text.size()) {
    const int found = pcre2_match(compiled(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, PCRE2_NO_UTF_CHECK, match, nullptr);
    EXPECT_GT(found, 0);
    if (found <= 0) break;
    EXPECT_EQ(pcre2_get_ovector_pointer(match)[0], at);
    at = pcre2_get_ovector_pointer(match)[1];
    ends.push_back(at);
  }
  pcre2_match_data_free(match);
  return ends;
}

Ends ends_by_hand(std::string_view text) {
  Ends ends;
  for_each_gpt2_piece(text, [&](std::size_t begin, std::size_t end) {
    EXPECT_EQ(begin, ends.empty() ? 0 : ends.back());
    ends.push_back(end);
  });
  return ends;
}

/// Letters and numbers that came with Unicode 15 are unknown to older builds of PCRE2.
bool known_to_both(char32_t code) {
  const std::string text = "a" + utf8_of(code) + "1. ";
  return ends_by_hand(text) == ends_by_pcre2(text);
}

/// Random valid Unicode: whole planes, and runs of what the pattern treats specially.
std::string random_unicode(std::mt19937& engine, std::size_t parts) {
  static const std::vector<std::string> pool = {" ",
                                                " ",
                                                "  ",
                                                "\n",
                                                "\r\n",
                                                "\t",
                                                "'",
                                                "'s",
                                                "'ll",
                                                "'re",
                                                "'RE",
                                                "'v",
                                                "'d",
                                                "a",
                                                "Zz",
                                                "1",
                                                "23",
                                                ".",
                                                "?!",
                                                "\xC2\xA0",
                                                "\xE3\x80\x80",
                                                "\xE2\x80\xA8",
                                                "\xC2\x85",
                                                "\xE1\xA0\x8E",
                                                "\xC2\xB2",
                                                "\xE2\x85\xA7",
                                                "\xD9\xA4",
                                                "e\xCC\x81",
                                                "\xE4\xB8\xAD",
                                                "\xF0\x9F\x98\x80",
                                                "\xEF\xBB\xBF",
                                                "_"};
  std::string text;
  for (std::size_t i = 0; i < parts; ++i) {
    if (engine() % 4 != 0) {
      text += pool[engine() % pool.size()];
      continue;
    }
    auto code = static_cast<char32_t>(engine() % (engine() % 2 == 0 ? 0x3000 : kCodePoints));
    if ((code >= 0xD800 && code < 0xE000) || !known_to_both(code)) code = 'x';
    append_utf8(text, code);
  }
  return text;
}

TEST(Gpt2Split, EqualsPcre2OnRandomUnicode) {
  std::mt19937 engine(3);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = random_unicode(engine, 1 + engine() % 40);
    ASSERT_EQ(ends_by_hand(text), ends_by_pcre2(text)) << text;
  }
}

TEST(Gpt2Split, BlocksOfAsciiAreCutLikeAnyText) {
  // Long runs of what matters at the edges of a block, with a character now and then that ends it.
  const std::string letters = "asrevmlldt'''  \n\t\r.!9";
  std::mt19937 engine(19);
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    const std::size_t size = 60 + engine() % 400;
    const auto rare = 2 + engine() % 300;
    while (text.size() < size) {
      text.append(1 + (engine() % 20 == 0 ? engine() % 70 : 0), letters[engine() % letters.size()]);
      if (engine() % rare == 0) text += random_unicode(engine, 1);
    }
    ASSERT_EQ(ends_by_hand(text), ends_by_pcre2(text)) << text;
  }
}

TEST(Gpt2Split, KnowsEveryCodePoint) {
  // Each behind a letter and before a digit, so that its class shows.
  const std::span<const CodeRange> added = unicode_additions();
  for (char32_t page = 0; page < kCodePoints; page += 0x100) {
    if (page >= 0xD800 && page < 0xE000) continue;
    std::string whole;
    for (char32_t code = page; code < page + 0x100; ++code) whole += "a" + utf8_of(code) + "1. ";
    if (ends_by_hand(whole) == ends_by_pcre2(whole)) continue;
    for (char32_t code = page; code < page + 0x100; ++code) {
      if (known_to_both(code)) continue;
      // What newer versions of Unicode added.
      EXPECT_TRUE(std::any_of(
          added.begin(), added.end(),
          [&](const CodeRange& range) { return range.first <= code && code <= range.last; }))
          << std::hex << static_cast<unsigned>(code);
    }
  }
}

TEST(Gpt2Split, BytesThatAreNoUtf8StandForSymbols) {
  EXPECT_EQ(ends_by_hand("ab\xFF\xC3 \xE4\xB8x"), (Ends{2, 4, 7, 8}));
  EXPECT_EQ(ends_by_hand(""), Ends{});
}

TEST(Gpt2Split, CutsWhereNothingBehindMatters) {
  std::mt19937 engine(5);
  std::size_t cuts = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::string text = random_text(engine, 1 + engine() % 40) + random_unicode(engine, 5);
    const std::size_t seen = engine() % (text.size() + 1);
    const SafeCut cut =
        spaced_cut(std::string_view(text).substr(0, seen), engine() % 2 == 0 ? 0 : seen / 3);
    ASSERT_LE(cut.end, seen);
    if (cut.end == 0) continue;
    ++cuts;
    Ends ends = ends_by_hand(std::string_view(text).substr(0, cut.end));
    for (const std::size_t end : ends_by_hand(std::string_view(text).substr(cut.end))) {
      ends.push_back(cut.end + end);
    }
    ASSERT_EQ(ends, ends_by_hand(text)) << text << " cut at " << cut.end;
  }
  EXPECT_GT(cuts, 1000u);
}

}  // namespace
}  // namespace lexirow::text
