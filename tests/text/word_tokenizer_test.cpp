#include "text/word_tokenizer.h"

#include "text/word_split.h"
#include "text_support.h"

namespace lexirow::text {
namespace {

using Ids = std::vector<Id>;
using Words = std::vector<std::string>;

VocabularyOptions word_options(WordSplit split) {
  VocabularyOptions options;
  options.kind = TokenizerKind::word;
  options.split = split;
  return options;
}

Words split(std::string_view text, WordSplit how) {
  Words words;
  for_each_word(text, how, [&](std::size_t begin, std::size_t end, bool) {
    words.emplace_back(text.substr(begin, end - begin));
  });
  return words;
}

TEST(WordSplit, UnicodeIsolatesMarks) {
  EXPECT_EQ(split("Don't, say: \"no\"!", WordSplit::unicode),
            (Words{"Don", "'", "t", ",", "say", ":", "\"", "no", "\"", "!"}));
  EXPECT_EQ(split("\xE4\xB8\xAD\xEF\xBC\x8C\xE6\x96\x87\xE3\x80\x80$5 a+b", WordSplit::unicode),
            (Words{"\xE4\xB8\xAD", "\xEF\xBC\x8C", "\xE6\x96\x87", "$", "5", "a", "+", "b"}));
  EXPECT_EQ(split(" \n\t", WordSplit::unicode), Words{});
}

TEST(WordSplit, SpaceKeepsMarks) {
  EXPECT_EQ(split("Don't, say:\xC2\xA0no\x1Fx", WordSplit::space),
            (Words{"Don't,", "say:", "no\x1Fx"}));
}

TEST(WordSplit, SeesPunctuationAsHuggingFaceDoes) {
  EXPECT_EQ(char_class(0x2E42), CharClass::punctuation);  // Unicode 7
  EXPECT_EQ(char_class(0x2E43), CharClass::word);         // Unicode 9
  EXPECT_EQ(char_class(0x3001), CharClass::punctuation);
  EXPECT_EQ(char_class('$'), CharClass::punctuation);
  EXPECT_EQ(char_class(0x20AC), CharClass::word);  // the euro is a symbol
  EXPECT_EQ(char_class(0x200B), CharClass::word);  // zero width space is no White_Space
  EXPECT_EQ(char_class(0x85), CharClass::space);
}

TEST(WordTokenizer, IdsFollowCountsThenBytes) {
  const auto tokenizer = made_from("b a c b a b", word_options(WordSplit::unicode));
  EXPECT_EQ(tokenizer->encode("b a c d"), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(tokenizer->specials().unk, 3);
  EXPECT_EQ(tokenizer->decode(Ids{0, 1, 3}), "b a <unk>");
  EXPECT_TRUE(tokenizer->lossy());
  EXPECT_EQ(tokenizer->find("c"), Id{2});
}

TEST(WordTokenizer, UnknownWordsAreCountedAndPlaced) {
  const auto tokenizer = made_from("one two", word_options(WordSplit::unicode));
  EncodeCounts counts;
  const auto pieces = pieces_of(*tokenizer, " one  three\xFF two", counts);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[1].id, tokenizer->specials().unk);
  EXPECT_EQ(pieces[1].begin, 6);
  EXPECT_EQ(pieces[1].end, 12);
  EXPECT_EQ(counts.unknown, 1);
  EXPECT_EQ(counts.replaced, 1);
}

TEST(WordTokenizer, BadBytesInWordsAreOneWordEach) {
  const auto tokenizer = made_from("x\xFFy z", word_options(WordSplit::unicode));
  EXPECT_EQ(tokenizer->find("x\xEF\xBF\xBDy"), Id{0});
  EXPECT_EQ(tokenizer->encode("x\xFEy"), tokenizer->encode("x\xFFy"));
  Ids ids;
  EncodeCounts counts;
  EXPECT_HOLDS(
      error_of(ErrorKind::file, [&] { tokenizer->encode("z\nx\xFFy", {true}, ids, counts); }),
      "line 2, column 2");
}

TEST(WordTokenizer, OnlyUnkIsControlAndOnlyBetweenSpaces) {  // TOK-7
  VocabularyOptions options = word_options(WordSplit::space);
  options.eos = true;
  const std::string text = "a <unk> b <eos> <unk>s <bos>";
  VocabularyBuilder builder(options);
  builder.push(text);
  VocabularyReport report;
  const auto tokenizer = builder.build(report);
  EXPECT_EQ(report.distinct, 4);        // a, b, <unk>s, <bos>
  EXPECT_EQ(report.dropped_tokens, 1);  // the spelling of <eos>
  EncodeCounts counts;
  const auto pieces = pieces_of(*tokenizer, text, counts);
  ASSERT_EQ(pieces.size(), 6u);
  EXPECT_EQ(pieces[1].id, tokenizer->specials().unk);
  EXPECT_EQ(pieces[3].id, tokenizer->specials().unk);
  EXPECT_EQ(tokenizer->token_bytes(pieces[5].id), "<bos>");
  EXPECT_EQ(counts.unk_words, 1);
  EXPECT_EQ(counts.unknown, 1);
  EXPECT_EQ(counts.special_spellings, 1);  // <unk> inside <unk>s, which is an ordinary word
  EXPECT_EQ(counts.special_unknown, 1);    // <eos>, which is none

  const auto unicode = made_from("a <unk> b", word_options(WordSplit::unicode));
  EncodeCounts other;
  for (const Piece& piece : pieces_of(*unicode, "a <unk> b", other))
    EXPECT_LT(piece.id, unicode->specials().unk);
  EXPECT_EQ(other.special_spellings, 1);
}

TEST(WordTokenizer, ReadsLikePrint) {
  VocabularyOptions options = word_options(WordSplit::unicode);
  options.eos = true;
  const auto printed = [&](const std::string& text) {
    const auto tokenizer = made_from(text, options);
    return tokenizer->readable(tokenizer->encode(text));
  };
  for (const char* text :
       {"Don't go, she said: \"not yet!\" (He went.)", "A well-known town; 3.5 km at 10:30, or 5%.",
        "\"One\" and \"two\".", "word--word, rock'n'roll and/or snake_case",
        "\xE2\x80\x9CYes,\xE2\x80\x9D he said.",
        "\xE2\x80\x98Yes,\xE2\x80\x99 he didn\xE2\x80\x99t say. [1] costs $5",
        "\xE7\x94\xB2\xEF\xBC\x8C\xE4\xB9\x99\xE3\x80\x82"}) {
    EXPECT_EQ(printed(text), text);
  }
  const auto tokenizer = made_from("a , b", options);
  const Id eos = tokenizer->specials().eos;
  EXPECT_EQ(tokenizer->readable(
                Ids{*tokenizer->find("a"), eos, *tokenizer->find("b"), *tokenizer->find(",")}),
            "a\nb,");
}

TEST(WordTokenizer, ReadableTextOnlyGrows) {
  std::mt19937 engine(5);
  VocabularyOptions options = word_options(WordSplit::unicode);
  options.eos = true;
  const std::string text =
      "a 1 . : , ' \" - -- ( ) \xE2\x80\x98 \xE2\x80\x99 \xE2\x80\x94 \xEF\xBC\x8C b 2 / $";
  const auto tokenizer = made_from(text, options);
  for (int round = 0; round < 200; ++round) {
    Ids ids;
    std::string before;
    for (int i = 0; i < 20; ++i) {
      ids.push_back(static_cast<Id>(engine() % static_cast<unsigned>(tokenizer->vocab_size())));
      const std::string now = tokenizer->readable(ids);
      ASSERT_TRUE(now.starts_with(before)) << before << " / " << now;
      before = now;
    }
  }
}

}  // namespace
}  // namespace lexirow::text
