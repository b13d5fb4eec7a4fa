#include "text/vocabulary.h"

#include <nlohmann/json.hpp>

#include "text_support.h"

namespace lexirow::text {
namespace {

VocabularyOptions word_options(std::int64_t min_count) {
  VocabularyOptions options;
  options.kind = TokenizerKind::word;
  options.min_count = min_count;
  return options;
}

TEST(Vocabulary, ChunksMakeNoDifference) {
  std::mt19937 engine(3);
  for (int round = 0; round < 60; ++round) {
    const std::string text = random_text(engine, 80);
    VocabularyOptions options;
    options.kind = round % 2 == 0 ? TokenizerKind::word : TokenizerKind::character;
    options.split = round % 4 == 0 ? WordSplit::space : WordSplit::unicode;
    VocabularyBuilder whole(options);
    whole.push(text);
    VocabularyBuilder cut(options);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + engine() % 7;
      cut.push(std::string_view(text).substr(at, size));
      at += size;
    }
    VocabularyReport a;
    VocabularyReport b;
    EXPECT_EQ(whole.build(a)->to_json(), cut.build(b)->to_json());
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.replaced, b.replaced);
  }
}

TEST(Vocabulary, AFileEndsItsLastWord) {
  VocabularyBuilder builder(word_options(1));
  builder.push("on");
  builder.end_file();
  builder.push("to\xE4\xB8");
  builder.end_file();
  builder.push("\xAD");
  VocabularyReport report;
  const auto tokenizer = builder.build(report);
  EXPECT_TRUE(tokenizer->find("on"));
  EXPECT_TRUE(tokenizer->find("to\xEF\xBF\xBD"));
  EXPECT_EQ(report.replaced, 2);
}

TEST(Vocabulary, TheCutIsReported) {
  VocabularyOptions options = word_options(2);
  options.max_vocab = 2;
  VocabularyBuilder builder(options);
  builder.push("a a a b b c c d");
  VocabularyReport report;
  const auto tokenizer = builder.build(report);
  EXPECT_EQ(tokenizer->vocab_size(), 3);
  EXPECT_EQ(report.distinct, 4);
  EXPECT_EQ(report.kept, 2);
  EXPECT_EQ(report.tokens, 8);
  EXPECT_EQ(report.dropped_tokens, 3);
  EXPECT_EQ(report.highest_count, 3);
}

TEST(Vocabulary, NothingKeptIsAnError) {  // TRAIN-4
  VocabularyBuilder builder(word_options(2));
  builder.push("one\ntwo\n");
  VocabularyReport report;
  const std::string text = error_of(ErrorKind::argument, [&] { builder.build(report); });
  for (const char* part :
       {"2 distinct tokens", "0 kept", "highest count 1", "--min-count 1 would keep 2"}) {
    EXPECT_HOLDS(text, part);
  }
}

TEST(Vocabulary, EmptyTextIsAnErrorButForBytes) {  // TRAIN-12
  for (const auto kind : {TokenizerKind::character, TokenizerKind::word}) {
    VocabularyOptions options;
    options.kind = kind;
    VocabularyBuilder builder(options);
    VocabularyReport report;
    EXPECT_HOLDS(error_of(ErrorKind::file, [&] { builder.build(report); }), "(0 bytes)");
  }
  VocabularyOptions options;
  options.kind = TokenizerKind::byte;
  EXPECT_EQ(made_from("", options)->vocab_size(), 256);
}

TEST(Vocabulary, LineEndsAreNoCharactersWhenLinesAreReplaced) {
  VocabularyOptions options;
  options.eos = options.eos_per_line = true;
  EXPECT_FALSE(made_from("a\nb\n", options)->find("\n"));
  options.eos = options.eos_per_line = false;
  options.lines = true;
  EXPECT_FALSE(made_from("a\nb\n", options)->find("\n"));
  options.lines = false;
  EXPECT_TRUE(made_from("a\nb\n", options)->find("\n"));
}

TEST(Vocabulary, BpeCountsWhatItTakesForPlainBytes) {
  VocabularyOptions options;
  options.kind = TokenizerKind::bpe;
  options.size = 258;
  options.eos = true;
  for (const int threads : {1, 3}) {
    base::ThreadPool pool(threads);
    options.pool = &pool;
    VocabularyBuilder builder(options);
    for (const char* chunk : {"a <e", "os> b\xFF\xFE <eos><eos", "> <pad>"}) builder.push(chunk);
    builder.end_file();
    VocabularyReport report;
    builder.build(report);
    EXPECT_EQ(report.replaced, 2);
    EXPECT_EQ(report.special_spellings, 3);
  }
}

TEST(Vocabulary, SpecialIdsFollowInOrder) {
  VocabularyOptions options = word_options(1);
  options.pad = options.bos = options.eos = true;
  const auto tokenizer = made_from("x", options);
  const SpecialTokens& specials = tokenizer->specials();
  EXPECT_EQ((std::vector<Id>{specials.pad, specials.unk, specials.bos, specials.eos}),
            (std::vector<Id>{1, 2, 3, 4}));
}

TEST(Vocabulary, StrictNamesThePlace) {
  VocabularyOptions options;
  options.strict = true;
  VocabularyBuilder builder(options);
  builder.push("ab\nc");
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { builder.push("d\xFF"); }),
               "line 2, column 3 (byte 5)");
}

TEST(Vocabulary, OddOptionsAreRefused) {
  EXPECT_HOLDS(error_of(ErrorKind::argument, [] { VocabularyBuilder builder(word_options(0)); }),
               "--min-count 0");
  VocabularyOptions options = word_options(1);
  options.max_vocab = -1;
  EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { VocabularyBuilder builder(options); }),
               "--max-vocab -1");
}

TEST(Vocabulary, CorpusErrorsNameTheFile) {
  const ScratchFolder folder;
  CorpusFiles files;
  files.paths = {folder.write("a.txt", "fine"), folder.write("b.txt", "x\n\xFF")};
  VocabularyOptions options;
  options.strict = true;
  VocabularyBuilder builder(options);
  CorpusCounts counts;
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { count_corpus(files, {}, builder, counts); }),
               "b.txt: line 2");
}

}  // namespace
}  // namespace lexirow::text
