#include "inspect/spelling.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "text/vocabulary.h"

namespace lexirow::inspect {
namespace {

TEST(EditDistance, CountsChanges) {
  EXPECT_EQ(edit_distance(U"kitten", U"sitting", 9), 3U);
  EXPECT_EQ(edit_distance(U"", U"abc", 9), 3U);
  EXPECT_EQ(edit_distance(U"abc", U"", 9), 3U);
  EXPECT_EQ(edit_distance(U"same", U"same", 0), 0U);
  EXPECT_EQ(edit_distance(U"kitten", U"sitting", 1), 2U) << "more than the limit";
}

std::unique_ptr<text::Tokenizer> word_tokenizer(const std::string& words) {
  text::VocabularyOptions options;
  options.kind = text::TokenizerKind::word;
  options.split = text::WordSplit::space;
  options.unk = true;
  text::VocabularyBuilder builder(options);
  builder.push(words);
  builder.end_file();
  text::VocabularyReport report;
  return builder.build(report);
}

TEST(CloseSpellings, IgnoresCaseFirst) {
  const auto tokenizer = word_tokenizer("king King kings ring queen \xc3\x89t\xc3\xa9 x");
  const auto close = close_spellings(*tokenizer, "KING", 4);
  // Without case King and king are equal; with case King is closer.
  EXPECT_EQ(close, (std::vector<std::string>{"King", "king", "ring", "kings"}));
  EXPECT_EQ(close_spellings(*tokenizer, "quene", 5), std::vector<std::string>{"queen"});
  // Distance counts code points, and case is not only that of ASCII.
  EXPECT_EQ(close_spellings(*tokenizer, "\xc3\xa9t\xc3\x89", 1),
            std::vector<std::string>{"\xc3\x89t\xc3\xa9"});
  EXPECT_TRUE(close_spellings(*tokenizer, "entirely", 5).empty());
  EXPECT_TRUE(close_spellings(*tokenizer, "<unk", 5).empty());
}

}  // namespace
}  // namespace lexirow::inspect
