#include "text_support.h"

namespace lexirow::text {
namespace {

TextShape shape_of_file(const std::string& path) {
  CorpusCounts counts;
  return look_at(std::string_view(read_whole_file(path, {}, counts)).substr(0, 1 << 16));
}

TEST(TextShape, ProseIsWords) {
  const TextShape shape =
      look_at("The quick (brown) fox's tail, said \"he\", is well-known.\nIt jumps over 2 dogs.\n");
  EXPECT_TRUE(shape.mostly_words);
  EXPECT_HOLDS(shape.reason, "100 % of its letters");
}

TEST(TextShape, ChineseDependsOnSpaces) {
  EXPECT_TRUE(look_at("\xE7\x94\xB2\xE6\x96\xB9 \xE5\xBA\x94\xE5\xBD\x93 \xE6\x94\xAF\xE4\xBB\x98 "
                      "\xE8\xB4\xA7\xE6\xAC\xBE "
                      "\xE3\x80\x82\n")
                  .mostly_words);
  const std::string clause =
      "\xE7\x94\xB2\xE6\x96\xB9\xE5\xBA\x94\xE5\xBD\x93\xE6\x94\xAF\xE4\xBB\x98\xE8\xB4\xA7\xE6\xAC"
      "\xBE";
  EXPECT_FALSE(look_at(clause + "\xE3\x80\x82" + clause + "\n").mostly_words);
  // Spaces after clauses do not make words, nor do short lines.
  EXPECT_FALSE(look_at(clause + " " + clause + " " + clause + "\n").mostly_words);
  EXPECT_FALSE(look_at("\xE5\xBA\x8A\xE5\x89\x8D\xE6\x98\x8E\xE6\x9C\x88\xE5\x85\x89\n\xE7\x96\x91"
                       "\xE6\x98\xAF\n")
                   .mostly_words);
}

TEST(TextShape, ListsOfNamesAndNumbersOfNothingAreCharacters) {
  EXPECT_FALSE(look_at("emma\nolivia\nava\n").mostly_words);
  EXPECT_FALSE(look_at("").mostly_words);
  EXPECT_HOLDS(look_at("--- \n ***").reason, "no letters");
}

TEST(TextShape, ACutAtTheEndIsNoMatter) {
  EXPECT_TRUE(look_at("two words caf\xC3").mostly_words);
}

TEST(TextShape, WordsThatDoNotComeBackAreRare) {
  const TextShape once = look_at("the boats wait near every harbour until evening\n");
  EXPECT_TRUE(once.mostly_words);
  EXPECT_TRUE(once.rare_words);
  std::string thrice;
  for (int i = 0; i < 3; ++i) thrice += "the boat, a lamp; my house (in town)\n";
  EXPECT_FALSE(look_at(thrice).rare_words);
  EXPECT_TRUE(look_at("the boat, the lamp; the boat (the lamp) boat lamp\n").rare_words)
      << "three words are no vocabulary";
}

TEST(TextShape, CodeIsCharacters) {
  const TextShape shape = shape_of_file(std::string(LEXIROW_SOURCE_DIR) + "/src/text/corpus.cpp");
  EXPECT_FALSE(shape.mostly_words) << shape.reason;
  EXPECT_HOLDS(shape.reason, "only ");
}

TEST(TextShape, KnownTextsAreWords) {
  const std::string shared = LEXIROW_SHARED_DIR;
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "no shared texts";
  for (const char* name : {"/cases/lantern-bay.txt", "/corpora/tinyshakespeare.txt"}) {
    const TextShape shape = shape_of_file(shared + name);
    EXPECT_TRUE(shape.mostly_words) << name << ": " << shape.reason;
  }
}

TEST(TextShape, FortunesAreWhatTheyLookLike) {
  const std::string folder = "/usr/share/games/fortunes/";
  if (!std::filesystem::exists(folder + "computers")) GTEST_SKIP() << "fortunes are not installed";
  EXPECT_TRUE(shape_of_file(folder + "computers").mostly_words);
  if (!std::filesystem::exists(folder + "chinese")) GTEST_SKIP() << "fortunes-zh is not installed";
  EXPECT_FALSE(shape_of_file(folder + "chinese").mostly_words);
}

}  // namespace
}  // namespace lexirow::text
