// Texts as vectors: one, and each line of a file.
#include "inspect/pooling.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "inspect/embed_lines.h"
#include "inspect/neighbours.h"
#include "support/expect_error.h"
#include "support/packed.h"
#include "support/temp_folder.h"
#include "text/vocabulary.h"

namespace lexirow::inspect {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

constexpr std::int64_t kPooledDim = 5;

/// A table of characters with <pad> and <unk>.
class PoolingTest : public ::testing::Test {
 protected:
  PoolingTest() {
    text::VocabularyOptions options;
    options.pad = options.unk = true;
    text::VocabularyBuilder builder(options);
    builder.push("abcdefgh \n");
    builder.end_file();
    text::VocabularyReport report;
    table_.tokenizer = builder.build(report);
    const std::int64_t rows = table_.tokenizer->vocab_size();
    base::NumpyStream stream(3);
    values_.resize(static_cast<std::size_t>(rows * kPooledDim));
    for (float& value : values_) value = static_cast<float>(stream.normal());
    table_.rows = files::rows_of_view({values_.data(), {rows, kPooledDim}});
    table_.path = "made";
  }

  /// The vectors of the lines of a text, by a number of threads.
  EmbeddedLines embed(const std::string& text, std::vector<std::vector<float>>& vectors,
                      int threads = 2, text::CorpusRules rules = {}) {
    base::ThreadPool pool(threads);
    files::NpyWriter writer(folder_.path("x.npy"), kPooledDim);
    const EmbeddedLines result =
        embed_lines(pool, table_, folder_.write("text", text), rules, writer);
    writer.commit();
    const store::Table back = store::open_table(folder_.path("x.npy"));
    EXPECT_EQ(back.row_count(), result.lines);
    vectors.clear();
    for (Id id = 0; id < back.row_count(); ++id) vectors.push_back(back.row(id));
    return result;
  }

  std::vector<float> values_;
  store::Table table_;
  TempFolder folder_;
};

// PAD-6
TEST_F(PoolingTest, LeavesPadsOutOfSumAndDivisor) {
  const Id pad = table_.tokenizer->specials().pad;
  EXPECT_EQ(pool_ids(table_, {2, 3, pad, pad}).vector, pool_ids(table_, {2, 3}).vector);
  EXPECT_EQ(pool_ids(table_, {pad}).parts, 0);
  EXPECT_EQ(pool_ids(table_, {pad}).vector, std::vector<float>(kPooledDim, 0.0F));
  EXPECT_EQ(pool_ids(table_, {4}).vector, table_.row(4));
  expect_error(ErrorKind::index, {"has id 99"}, [&] { pool_ids(table_, {99}); });
}

// POOL-2
TEST_F(PoolingTest, KeepsATokenThatPadsAndStandsForUnknownOnes) {
  const auto json = nlohmann::json::parse(R"({
    "added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "single_word": false,
                      "lstrip": false, "rstrip": false, "normalized": false}],
    "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null,
    "decoder": null,
    "model": {"type": "WordLevel", "vocab": {"[PAD]": 0, "lamp": 1, "boat": 2},
              "unk_token": "[PAD]"}})");
  table_.tokenizer = text::tokenizer_from_json(json, "t.json");
  std::vector<std::vector<float>> vectors;
  const EmbeddedLines result = embed("lamp oar\noar\n", vectors);
  EXPECT_EQ(vectors[0], mean_row(*table_.rows, std::vector<Id>{1, 0}));
  EXPECT_EQ(vectors[1], table_.row(0));
  EXPECT_EQ(result.empty, 0);
}

// POOL-1, POOL-4, and the same bytes for any number of threads.
TEST_F(PoolingTest, EveryLineIsItsOwnVector) {
  std::vector<std::string> lines = {"abc", "", "a", "hgfe dcba hgfe dcba", "abc", "xyz"};
  for (int i = 0; i < 300; ++i) lines.push_back(std::string(std::size_t(i % 7), 'a') + "bcd");
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  std::vector<std::vector<float>> vectors;
  const EmbeddedLines result = embed(text, vectors);
  ASSERT_EQ(result.lines, static_cast<std::int64_t>(lines.size()));
  EXPECT_EQ(result.empty, 1);
  EXPECT_EQ(result.empty_lines, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(result.encoded.unknown, 3);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<Id> ids = table_.tokenizer->encode(lines[i]);
    EXPECT_EQ(vectors[i], mean_row(*table_.rows, ids)) << lines[i];
  }
  EXPECT_EQ(vectors[2], table_.row(*table_.find("a")));
  const std::string bytes = testing::file_bytes(folder_.path("x.npy"));
  for (const int threads : {1, 5}) {
    embed(text, vectors, threads);
    EXPECT_EQ(testing::file_bytes(folder_.path("x.npy")), bytes);
  }
  // Alone, in another order, behind others.
  embed("hgfe dcba hgfe dcba", vectors);
  ASSERT_EQ(vectors.size(), 1U);
  EXPECT_EQ(vectors[0], mean_row(*table_.rows, table_.tokenizer->encode(lines[3])));
}

// TOK-11, TOK-14, TRAIN-12
TEST_F(PoolingTest, ReadsLinesAsCorpusReadersDo) {
  std::vector<std::vector<float>> plain;
  std::vector<std::vector<float>> other;
  embed("ab\ncd", plain);
  EmbeddedLines result = embed(
      "\xEF\xBB\xBF"
      "ab\r\ncd\r\n",
      other);
  EXPECT_EQ(other, plain);
  EXPECT_EQ(result.corpus.carriage_returns, 2);
  result = embed("ab\r\ncd\r\n", other, 2, {.raw = true});
  EXPECT_EQ(result.encoded.unknown, 2);
  EXPECT_NE(other, plain);
  embed(testing::gzipped("ab\ncd"), other);
  EXPECT_EQ(other, plain);
  expect_error(ErrorKind::file, {"text: no line in it"}, [&] { embed("", other); });
}

TEST_F(PoolingTest, ReadsFilesLargerThanABlockAndLinesAsLong) {
  std::string text;
  while (text.size() < std::size_t{3} << 20) text += "abcdefgh\n\nhg\n";
  const std::string line(std::size_t{2} << 20, 'c');
  text += line + "\na";
  std::vector<std::vector<float>> vectors;
  const EmbeddedLines result = embed(text, vectors);
  EXPECT_EQ(result.lines, std::count(text.begin(), text.end(), '\n') + 1);
  EXPECT_EQ(result.empty_lines.size(), 1000U);  // of many more
  EXPECT_GT(result.empty, 200000);
  EXPECT_EQ(vectors[0], vectors[3]);
  EXPECT_EQ(vectors.back(), table_.row(*table_.find("a")));
  EXPECT_EQ(vectors[vectors.size() - 2], table_.row(*table_.find("c")));
}

TEST_F(PoolingTest, TellsTheFirstLineThatCannotBeEncoded) {
  text::VocabularyBuilder builder(text::VocabularyOptions{});
  builder.push("abc");
  builder.end_file();
  text::VocabularyReport report;
  table_.tokenizer = builder.build(report);
  std::string text;
  for (int i = 0; i < 200; ++i) text += i == 77 || i == 150 ? "abq\n" : "abc\n";
  std::vector<std::vector<float>> vectors;
  expect_error(ErrorKind::file, {"text, line 78", "q"}, [&] { embed(text, vectors); });
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"text"})) << "half an array was left";
}

TEST_F(PoolingTest, CutsLinesAtWhiteSpaceForATableOfWords) {
  files::TokenList words;
  for (const char* word : {"lamp", "boat", "net"}) words.push(word);
  table_.tokenizer = nullptr;
  table_.words = std::make_shared<store::TableWords>(words);
  std::vector<std::vector<float>> vectors;
  const EmbeddedLines result = embed("lamp  boat\noar\nnet oar\n", vectors);
  EXPECT_EQ(vectors[0], mean_row(*table_.rows, std::vector<Id>{0, 1}));
  EXPECT_EQ(vectors[2], table_.row(2));
  EXPECT_EQ(result.unknown_words, 2);
  EXPECT_EQ(result.empty_lines, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(pool_words(table_, "oar net").unknown, (std::vector<std::string>{"oar"}));
  table_.words = nullptr;
  expect_error(ErrorKind::file, {"no tokens", "--tokenizer"}, [&] { embed("a", vectors); });
}

}  // namespace
}  // namespace lexirow::inspect
