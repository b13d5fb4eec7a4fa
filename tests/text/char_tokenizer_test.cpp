#include "text/char_tokenizer.h"

#include <chrono>

#include "text_support.h"

namespace lexirow::text {
namespace {

using Ids = std::vector<Id>;

const VocabularyOptions kChar{};

TEST(CharTokenizer, IdsFollowCodePoints) {
  const auto tokenizer = made_from("ba\n\xE4\xB8\xAD", kChar);
  EXPECT_EQ(tokenizer->vocab_size(), 4);
  EXPECT_EQ(tokenizer->encode("\nab\xE4\xB8\xAD"), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(tokenizer->token_bytes(3), "\xE4\xB8\xAD");
  EXPECT_EQ(tokenizer->find("b"), Id{2});
  EXPECT_EQ(tokenizer->find("x"), std::nullopt);
  EXPECT_FALSE(tokenizer->lossy());
}

TEST(CharTokenizer, EveryCharacterOfTheTextComesBack) {  // TOK-6
  std::string text = " ?  a\tb\r\n\n e\xCC\x81 \xF0\x9F\x98\x80 don't .  ";
  text += std::string(1, '\0');
  const auto tokenizer = made_from(text, kChar);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
}

TEST(CharTokenizer, PlacesAreBytesOfTheText) {  // TOK-4
  const std::string text = "a \xE2\xAD\xA2 b\xFF!";
  const auto tokenizer = made_from(text, kChar);
  EncodeCounts counts;
  const auto pieces = pieces_of(*tokenizer, text, counts);
  ASSERT_EQ(pieces.size(), 7u);
  EXPECT_EQ(pieces[2].begin, 2);
  EXPECT_EQ(pieces[2].end, 5);
  EXPECT_EQ(pieces[5].begin, 7);  // the bad byte, though it reads as three bytes of U+FFFD
  EXPECT_EQ(pieces[5].end, 8);
  EXPECT_EQ(tokenizer->token_bytes(pieces[5].id), "\xEF\xBF\xBD");
  EXPECT_EQ(counts.replaced, 1);
}

TEST(CharTokenizer, UnknownCharactersAreNamed) {  // TOK-13
  const auto tokenizer = made_from("tomb\n", kChar);
  const std::string text =
      error_of(ErrorKind::argument, [&] { tokenizer->encode("tom\nt\nbobBy"); });
  for (const char* part :
       {"line 3, column 4", "\"B\" (U+0042)", "5 tokens", "\"b\" (U+0062) is in it", "--unk"}) {
    EXPECT_HOLDS(text, part);
  }
  const std::string far =
      error_of(ErrorKind::argument, [&] { tokenizer->encode("t\xF0\x9F\x98\x80"); });
  EXPECT_HOLDS(far, "(U+1F600)");
  EXPECT_EQ(far.find("is in it"), std::string::npos);
  const std::string bad = error_of(ErrorKind::argument, [&] { tokenizer->encode("t\xFF"); });
  EXPECT_HOLDS(bad, "the bytes ff are not UTF-8");
  EXPECT_HOLDS(bad, "U+FFFD");
  // Messages count from where the text begins in its file.
  Ids ids;
  EncodeCounts counts;
  EXPECT_HOLDS(error_of(ErrorKind::argument,
                        [&] {
                          tokenizer->encode("tx", {false, {7, 3, 90}}, ids, counts);
                        }),
               "line 7, column 4");
  EXPECT_TRUE(ids.empty());
}

TEST(CharTokenizer, UnkStandsForUnknown) {
  VocabularyOptions options;
  options.unk = options.eos = true;
  const auto tokenizer = made_from("ab", options);
  EXPECT_EQ(tokenizer->vocab_size(), 4);
  EXPECT_EQ(tokenizer->specials().unk, 2);
  EXPECT_EQ(tokenizer->specials().eos, 3);
  EXPECT_EQ(tokenizer->specials().pad, kNoId);
  Ids ids;
  EncodeCounts counts;
  tokenizer->encode("axb", {}, ids, counts);
  EXPECT_EQ(ids, (Ids{0, 2, 1}));
  EXPECT_EQ(counts.unknown, 1);
  EXPECT_EQ(tokenizer->decode(Ids{0, 2, 3}), "a<unk><eos>");
  EXPECT_EQ(tokenizer->readable(Ids{0, 3, 1, 3}), "a\nb\n");
}

TEST(CharTokenizer, SpellingsOfSpecialTokensAreText) {  // TOK-7
  VocabularyOptions options;
  options.eos = true;
  const std::string line = "the <eos> mark, <bos> and <eos>\n";
  const auto tokenizer = made_from(line, options);
  EncodeCounts counts;
  const auto pieces = pieces_of(*tokenizer, line, counts);
  EXPECT_EQ(pieces.size(), line.size());
  for (const Piece& piece : pieces) EXPECT_NE(piece.id, tokenizer->specials().eos);
  EXPECT_EQ(counts.special_spellings, 2);  // <bos> is not in use
}

TEST(CharTokenizer, StrictRefusesBadBytes) {
  const auto tokenizer = made_from("ab\n\xFF", kChar);
  Ids ids;
  EncodeCounts counts;
  const std::string text =
      error_of(ErrorKind::file, [&] { tokenizer->encode("a\nb\xE4\xB8", {true}, ids, counts); });
  for (const char* part : {"line 2, column 2", "byte 3", "e4b8", "not UTF-8"})
    EXPECT_HOLDS(text, part);
}

TEST(CharTokenizer, DecodeChecksIds) {
  const auto tokenizer = made_from("ab", kChar);
  EXPECT_HOLDS(error_of(ErrorKind::index,
                        [&] {
                          tokenizer->decode(Ids{0, 1, 7});
                        }),
               "position 2: id 7");
  EXPECT_HOLDS(error_of(ErrorKind::index, [&] { tokenizer->decode(Ids{-1}); }), "ids 0 to 1");
}

TEST(Tokenizers, MillionsOfEqualMarksTakeLinearTime) {  // TOK-1
  const std::string marks(1'000'000, '^');
  for (const auto kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::word}) {
    VocabularyOptions options;
    options.kind = kind;
    const auto tokenizer = made_from(marks, options);
    EXPECT_EQ(tokenizer->encode(marks).size(), marks.size());
  }
}

TEST(Tokenizers, NamesAreReadBack) {
  for (const auto kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::word}) {
    EXPECT_EQ(parse_tokenizer_form(tokenizer_kind_name(kind)).kind, kind);
  }
  EXPECT_EQ(parse_word_split("space"), WordSplit::space);
  EXPECT_EQ(parse_tokenizer_form("bpe:8192").kind, TokenizerKind::bpe);
  EXPECT_EQ(parse_tokenizer_form("bpe:8192").size, 8192);
  EXPECT_FALSE(is_tokenizer_form("word-level"));
  EXPECT_HOLDS(error_of(ErrorKind::argument, [] { parse_tokenizer_form("word-level"); }),
               "char, byte, word, bpe:N");
  for (const char* name :
       {"bpe", "bpe:", "bpe:x", "bpe:8k", "bpe:0", "bpe:-3", "bpe:99999999999"}) {
    EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { parse_tokenizer_form(name); }), "bpe:8192");
  }
  EXPECT_HOLDS(error_of(ErrorKind::argument, [] { parse_word_split("bert"); }), "unicode");
}

}  // namespace
}  // namespace lexirow::text
