#include "inspect/word_tasks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "inspect/rank_correlation.h"
#include "lexirow/error.h"
#include "support/packed.h"
#include "support/temp_folder.h"

namespace lexirow::inspect {
namespace {

std::string write(const testing::TempFolder& folder, const std::string& name,
                  const std::string& text) {
  return folder.write(name, text);
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RankCorrelations, AreThoseOfThePaper) {
  const std::vector<double> x = {1, 2, 3, 4}, up = {10, 20, 30, 400}, down = {4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(spearman(x, up), 1);
  EXPECT_DOUBLE_EQ(spearman(x, down), -1);
  // Ranks 0 1 2 3 and 0.5 0.5 2 3, less their means: 4.5 / sqrt(5 * 4.5).
  EXPECT_NEAR(spearman(x, std::vector<double>{7, 7, 8, 9}), 4.5 / std::sqrt(5 * 4.5), 1e-12);
  EXPECT_TRUE(std::isnan(spearman(x, std::vector<double>{1, 1, 1, 1})));
  EXPECT_TRUE(std::isnan(spearman({}, {})));
}

TEST(WordPairs, AreReadWithAnySeparatorAndAHeading) {
  const testing::TempFolder folder;
  const std::string tabs =
      write(folder, "tabs",
            "\xEF\xBB\xBFword1\tword2\tscore\tpos\r\nold\tnew\t1.5\tA\r\n\nice cream\tsea\t9\tN\n");
  const std::vector<WordPair> pairs = read_word_pairs(tabs);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].first, "old");
  EXPECT_EQ(pairs[0].second, "new");
  EXPECT_EQ(pairs[0].score, 1.5);
  EXPECT_EQ(pairs[1].first, "ice cream");
  EXPECT_EQ(read_word_pairs(write(folder, "pairs.gz", testing::gzipped("a b 3\n"))).size(), 1U);
  const std::vector<WordPair> lexical = read_word_pairs(
      write(folder, "lexical", "word1\tword2\tPOS\tSimLex999\nold\tnew\tA\t1.58\n"));
  ASSERT_EQ(lexical.size(), 1U);
  EXPECT_EQ(lexical[0].score, 1.58);
  for (const char* text : {"# said by ten people\na;b;3\n", "a, b, 3", "a  b   3\n"}) {
    const std::vector<WordPair> one = read_word_pairs(write(folder, "one", text));
    ASSERT_EQ(one.size(), 1U) << text;
    EXPECT_EQ(one[0].first + one[0].second, "ab") << text;
    EXPECT_EQ(one[0].score, 3) << text;
  }
}

TEST(WordPairs, WrongLinesAreNamed) {
  const testing::TempFolder folder;
  const auto error_of = [&](const char* text) {
    return refusal([&] { read_word_pairs(write(folder, "pairs", text)); });
  };
  EXPECT_NE(error_of("a\tb\t3\na\tb\n").find("pairs, line 2: expected two words and a number"),
            std::string::npos);
  EXPECT_NE(error_of("a\tb\t3\na\tb\tmuch\n").find("line 2"), std::string::npos);
  // Neither a heading nor a score that can be ranked.
  for (const char* text : {"a\tb\na\tb\t3\n", "a b 9,5\na b 3\n", "a b nan\na b 3\n",
                           "a b 3\na b nan\n", "a b 3\na b inf\n"}) {
    EXPECT_NE(error_of(text).find("expected two words and a number"), std::string::npos) << text;
  }
  EXPECT_NE(error_of("word1\tword2\tscore\n").find("no pair"), std::string::npos);
  EXPECT_NE(error_of("").find("no pair"), std::string::npos);
  EXPECT_NE(refusal([&] { read_word_pairs(folder.path("none")); }).find("none"), std::string::npos);
}

TEST(PairReports, FollowTheCosinesOfTheRowsFound) {
  const testing::TempFolder folder;
  const store::Table table = store::open_table(
      write(folder, "v.vec", "5 2\nsun 1 0\nmoon 1 0.1\nfish 0 1\nbird 0.3 1\nnothing 0 0\n"));
  const std::vector<WordPair> pairs = {{"sun", "moon", 9},  {"SUN", "fish", 1},
                                       {"sun", "bird", 2},  {"sun", "nothing", 5},
                                       {"comet", "sun", 7}, {"comet", "fish", 7}};
  const PairReport report = score_pairs(table, pairs);
  EXPECT_EQ(report.pairs, 6);
  EXPECT_EQ(report.found, 3) << "SUN by its lower case; a zero row has no direction";
  EXPECT_DOUBLE_EQ(report.spearman, 1);
  EXPECT_EQ(report.left_out.missing, std::vector<std::string>{"comet"});
  EXPECT_EQ(report.left_out.zero, std::vector<std::string>{"nothing"});
}

TEST(PairReports, NeedTokens) {
  const testing::TempFolder folder;
  store::Table table = store::open_table(write(folder, "v.vec", "2 2\nsun 1 0\nmoon 1 0.1\n"));
  table.words = nullptr;
  EXPECT_NE(refusal([&] {
              score_pairs(table, {{"sun", "moon", 1}});
            }).find("--tokenizer"),
            std::string::npos);
}

TEST(Analogies, AreAnsweredByTheNearestRowBesidesTheThree) {
  const testing::TempFolder folder;
  const store::Table table = store::open_table(write(
      folder, "v.vec", "5 3\nman 1 0 0\nwoman 1 1 0\nking 1 0 1\nqueen 1 1 1\nboat 9 -1 0\n"));
  const std::vector<Analogy> analogies = read_analogies(write(
      folder, "a.txt",
      ": family\nman woman king queen\n: other\nman woman king boat\nman woman duke duchess\n"));
  ASSERT_EQ(analogies.size(), 3U);
  EXPECT_EQ(read_analogies(write(folder, "comma.txt", "well sea aye ,\n"))[0].d, ",");
  EXPECT_EQ(read_analogies(write(folder, "csv.txt", "a, b, c, d\n"))[0].a, "a");
  EXPECT_EQ(analogies[0].section, "family");
  base::ThreadPool pool(2);
  const AnalogyReport report = score_analogies(pool, table, analogies);
  EXPECT_EQ(report.left_out.missing, (std::vector<std::string>{"duke", "duchess"}));
  const std::vector<AnalogyScore>& scores = report.sections;
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[0].section, "family");
  EXPECT_EQ(scores[0].right, 1);
  EXPECT_EQ(scores[1].questions, 2);
  EXPECT_EQ(scores[1].asked, 1);
  EXPECT_EQ(scores[1].right, 0);
  EXPECT_NE(
      refusal([&] { read_analogies(write(folder, "b", "a b c\n")); }).find("line 1: got 3 words"),
      std::string::npos);
}

}  // namespace
}  // namespace lexirow::inspect
