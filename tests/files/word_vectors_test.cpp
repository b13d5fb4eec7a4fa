// Word vectors: the forms of word2vec, GloVe and fastText, and the Embedding Projector's pair.
#include "files/word_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "files/atomic_write.h"
#include "files/projector.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace lexirow::files {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

ByteReader reader_of(const std::string& bytes) {
  auto at = std::make_shared<std::size_t>(0);
  return [bytes, at](std::span<char> out) {
    const std::size_t got = std::min(out.size(), bytes.size() - *at);
    std::copy_n(bytes.data() + *at, got, out.data());
    *at += got;
    return got;
  };
}

WordVectors read(const std::string& bytes, const WordVectorRules& rules = {}) {
  return read_word_vectors(reader_of(bytes), rules, "w.vec");
}

std::vector<std::string> tokens(const WordVectors& vectors) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < vectors.tokens.size(); ++i) all.emplace_back(vectors.tokens[i]);
  return all;
}

void expect_refused(const std::string& bytes, const std::vector<std::string>& parts,
                    const WordVectorRules& rules = {}) {
  expect_error(ErrorKind::file, parts, [&] { read(bytes, rules); });
}

using Words = std::vector<std::string>;
using Floats = std::vector<float>;

TEST(WordVectors, ReadsTextWithAHeader) {
  for (const char* bytes : {"2 3\na 1 2 3\nb -4 5e-1 +6\n", "2 3\r\na 1 2 3 \r\nb -4 0.5 6 ",
                            "2 3\na\t1\t2\t3\n\nb  -4 .5 6\n"}) {
    const WordVectors vectors = read(bytes);
    EXPECT_EQ(tokens(vectors), (Words{"a", "b"})) << bytes;
    EXPECT_EQ(vectors.values, (Floats{1, 2, 3, -4, 0.5, 6})) << bytes;
    EXPECT_EQ(vectors.form, "word2vec text");
    EXPECT_NE(vectors.reason.find("'count dim' (2 3)"), std::string::npos) << vectors.reason;
  }
}

// VEC-1
TEST(WordVectors, FindsByContentThatThereIsNoHeader) {
  const WordVectors vectors = read("the 1 2\nof 3 4\n");
  EXPECT_EQ(tokens(vectors), (Words{"the", "of"}));
  EXPECT_EQ(vectors.form, "text without a header");
  EXPECT_NE(vectors.reason.find("2 numbers"), std::string::npos) << vectors.reason;
  // Two numbers may be a token and its only value: the rules decide then.
  WordVectorRules rules;
  rules.header = VectorHeader::no;
  EXPECT_EQ(tokens(read("7 1\n8 2\n", rules)), (Words{"7", "8"}));
  rules.header = VectorHeader::yes;
  EXPECT_EQ(tokens(read("1 1\n8 2\n", rules)), (Words{"8"}));
  expect_refused("the 1 2\n", {"w.vec", "no 'count dim'"}, rules);
}

// VEC-2
TEST(WordVectors, CountsNumbersFromTheRight) {
  const WordVectors vectors = read(". . . 1 2\n1.5 3 4\nat name@domain.com 5 6\nnan 7 8\n 9 10\n");
  EXPECT_EQ(tokens(vectors), (Words{". . .", "1.5", "at name@domain.com", "nan", ""}));
  EXPECT_EQ(vectors.values, (Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(vectors.spaced_tokens, 2);
  EXPECT_EQ(tokens(read("2 1\nNew York 1\nOslo 2\n")), (Words{"New York", "Oslo"}));
}

std::string record(const std::string& word, const Floats& values, const char* end) {
  return word + ' ' + std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size()) +
         end;
}

// VEC-5
TEST(WordVectors, ReadsBinaryWithAndWithoutLineEnds) {
  // The first value ends with a line end's byte, so that only exact counting keeps the letters.
  float tricky = 0;
  std::memcpy(&tricky, "\x01\x02\x03\x0a", 4);
  for (const char* end : {"", "\n"}) {
    const WordVectors vectors = read("3 2\n" + record("la", {1, tricky}, end) +
                                     record("lb", {tricky, 4}, end) + record("c", {5, 6}, end));
    EXPECT_TRUE(vectors.binary);
    EXPECT_EQ(tokens(vectors), (Words{"la", "lb", "c"}));
    EXPECT_EQ(vectors.values, (Floats{1, tricky, tricky, 4, 5, 6}));
  }
  // What would be the second word is none: the header lies, or these are no vectors.
  expect_refused(
      "3 2\n" + record("a", {1, 2}, "xxx") + record("b\1", {3, 4}, "") + record("c", {5, 6}, ""),
      {"word 2", "xxxb?"});
}

// VEC-6
TEST(WordVectors, KeepsBytesThatAreNoUtf8) {
  EXPECT_EQ(tokens(read("1 1\n\x80\xff 1\n")), (Words{"\x80\xff"}));
  EXPECT_EQ(tokens(read("1 2\n" + record("\x80z", {1, 2}, ""))), (Words{"\x80z"}));
}

// VEC-7
TEST(WordVectors, ComparesTheHeaderWithTheWords) {
  std::string text = "100 1\n";
  for (int i = 0; i < 97; ++i) text += "w" + std::to_string(i) + " 1\n";
  expect_refused(text, {"w.vec", "100 words", "97", "--lenient"});
  WordVectorRules lenient;
  lenient.lenient = true;
  EXPECT_EQ(read(text, lenient).rows, 97);
  expect_refused("1 1\na 1\nb 2\n", {"1 words", "more"});
  EXPECT_EQ(read("1 1\na 1\nb 2\n", lenient).rows, 2);
  const std::string binary = "2 2\n" + record("a", {1, 2}, "") + record("b", {3, 4}, "");
  expect_refused(binary.substr(0, binary.size() - 1), {"2 words", "1 and a part"});
  EXPECT_EQ(read(binary.substr(0, binary.size() - 1), lenient).rows, 1);
  EXPECT_EQ(read("0 5\n").rows, 0);
}

// A line of fifty cut to thirty made a table of thirty columns of all others.
TEST(WordVectors, TakesTheWidthThatMostLinesHave) {
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += "w" + std::to_string(i) + " 1 2 3\n";
  expect_refused(lines + "cut 1 2\n",
                 {"line 21", "3 numbers", "20 of the first 21", "2 are there"});
  expect_refused("cut 1 2\n" + lines, {"line 1", "3 numbers"});
  expect_refused(lines + "comma 1 1,5 2\n", {"line 21", "\"1,5\" is no number", "point"});
  expect_refused("\n" + lines + "word 1 x 2\n", {"line 22", "\"x\" is no number"});
  const WordVectors spaced = read(lines + "route 66 1 2 3\n");
  EXPECT_EQ(spaced.dim, 3);
  EXPECT_EQ(spaced.tokens[20], "route 66");
  expect_refused("a 1 2 3\nb 1 2\n", {"line 1 ends with 3", "line 2 with 2"});
}

TEST(WordVectors, RefusesAHeaderThatItsLinesContradict) {
  WordVectorRules lenient;
  lenient.lenient = true;
  for (const WordVectorRules& rules : {WordVectorRules(), lenient}) {
    expect_refused("2 4\na 1 2 3\nb 4 5 6\n", {"header says 4 numbers, line 2 has 3"}, rules);
    expect_refused("2 2\na 1 2 3\nb 4 5 6\n", {"header says 2 numbers, line 2 has 3"}, rules);
    expect_refused("2 3\na 1,5 2,5 3,5\nb 1,5 2,5 3,5\n",
                   {"header says 3 numbers, line 2 has 0", "point"}, rules);
  }
  WordVectorRules trusted;
  trusted.header = VectorHeader::yes;
  EXPECT_EQ(tokens(read("2 2\na 1 2 3\nb 4 5 6\n", trusted)), (Words{"a 1", "b 4"}));
  // One number a token, the first token a number too.
  const WordVectors plain = read("7 2\nthe 3\nof 4\n");
  EXPECT_EQ(tokens(plain), (Words{"7", "the", "of"}));
  EXPECT_EQ(plain.form, "text without a header");
}

TEST(WordVectors, DropsAByteOrderMark) {
  for (const std::string body : {"2 3\na 1 2 3\nb 4 5 6\n", "a 1 2 3\nb 4 5 6\n"}) {
    const WordVectors vectors = read("\xef\xbb\xbf" + body);
    EXPECT_EQ(tokens(vectors), (Words{"a", "b"})) << body;
    EXPECT_TRUE(vectors.byte_order_mark);
    EXPECT_FALSE(read(body).byte_order_mark);
  }
}

TEST(WordVectors, ReadsAPart) {
  const std::string text = "4 1\na 1\nb 2\nc 3\nd 4\n";
  WordVectorRules rules;
  rules.limit = 2;
  EXPECT_EQ(tokens(read(text, rules)), (Words{"a", "b"}));
  rules.limit = 3;
  rules.keep = [](std::string_view word) { return word != "b"; };
  EXPECT_EQ(tokens(read(text, rules)), (Words{"a", "c"}));
  rules.limit = -1;
  EXPECT_EQ(read(text, rules).values, (Floats{1, 3, 4}));
}

TEST(WordVectors, NamesTheLineThatDoesNotFit) {
  expect_refused("2 2\na 1 2\nb 1\n", {"line 3", "2 numbers", "b 1"});
  expect_refused("a 1 2\nb x y\n", {"no word vectors", "line 2", "b x y"});
  expect_refused("Once upon a time\n", {"no word vectors", "line 1"});
  expect_refused("", {"no line"});
  std::string late;
  for (int i = 0; i < 150; ++i) late += "w 1 2\n";
  expect_refused(late + "w 1\n", {"line 151"});
}

TEST(WordVectors, KeepsNumbersOfAnySize) {
  EXPECT_EQ(read("a 1e-46 1e300 -1e-300\n").values,
            (Floats{0, std::numeric_limits<float>::infinity(), -0.0F}));
  EXPECT_TRUE(std::isnan(read("a nan 1\n").values[0]));
  const WordVectors vectors = read("a 1e-46 1e300 -1e-300 1e400 inf\n");
  EXPECT_EQ(vectors.values[3], std::numeric_limits<float>::infinity());
  EXPECT_EQ(vectors.loss.overflowed, 2);
  EXPECT_EQ(vectors.loss.underflowed, 2);
  EXPECT_EQ(vectors.loss.changed, 4);
}

TEST(WordVectors, ReadsBackWhatItWrites) {
  const TempFolder folder;
  const Floats values = {1.0F / 3, -0.0F, 1e-42F, 3.4e38F, 5, 16777216};
  const auto rows = rows_of_view({values.data(), {3, 2}});
  const Words words = {"a", "\xc3\xa9", "c"};
  const TokenOf token = [&](std::int64_t row) { return words[static_cast<std::size_t>(row)]; };
  const std::string path = folder.path("w");
  write_word2vec_text(path, *rows, token);
  EXPECT_EQ(read_file(path).substr(0, 6), "3 2\na ");
  for (const bool binary : {false, true}) {
    if (binary) write_word2vec_binary(path, *rows, token);
    const WordVectors back = read(read_file(path));
    EXPECT_EQ(back.binary, binary);
    EXPECT_EQ(tokens(back), words);
    EXPECT_EQ(std::memcmp(back.values.data(), values.data(), 24), 0);
  }
  for (const char* word : {"", "a b", "a\n"}) {
    expect_error(ErrorKind::argument, {path, "row 0"},
                 [&] { write_word2vec_text(path, *rows, [&](std::int64_t) { return word; }); });
  }
}

// MAP-1
TEST(Projector, WritesAHeaderForSeveralColumnsOnly) {
  const TempFolder folder;
  const Floats values(40, 0.5F);
  const auto rows = rows_of_view({values.data(), {20, 2}});
  const Words words(20, "w");
  write_projector(folder.path("v.tsv"), *rows, {{"token", words}});
  EXPECT_EQ(read_file(folder.path("v_metadata.tsv")).substr(0, 4), "w\nw\n");
  EXPECT_EQ(read_file(folder.path("v.tsv")).substr(0, 8), "0.5\t0.5\n");
  EXPECT_EQ(read_metadata(folder.path("v_metadata.tsv"), 20).size(), 20);
  write_projector(folder.path("v.tsv"), *rows, {{"id", words}, {"token", words}});
  EXPECT_EQ(read_file(folder.path("v_metadata.tsv")).substr(0, 13), "id\ttoken\nw\tw\n");
  EXPECT_EQ(read_metadata(folder.path("v_metadata.tsv"), 20).size(), 20);
  expect_error(ErrorKind::argument, {"column token", "20 rows"}, [&] {
    write_projector(folder.path("v.tsv"), *rows, {{"token", {"a"}}});
  });
  expect_error(ErrorKind::file, {"v_metadata.tsv", "21 lines", "3 rows"},
               [&] { read_metadata(folder.path("v_metadata.tsv"), 3); });
}

// MAP-2
TEST(Projector, EscapesWhatWouldEndALine) {
  const TempFolder folder;
  Words words = {"a\tb",
                 "\n",
                 "\r\n",
                 std::string("\0", 1),
                 "\xc2\x85",
                 "\xe2\x80\xa8",
                 "\xe2\x80\xa9",
                 "\\n",
                 "\\",
                 " ",
                 "   ",
                 "",
                 "\xc2\xa0",
                 "\xef\xbb\xbf",
                 " the",
                 "\xe4\xb8\xad",
                 "\xff\x80",
                 "\x1f",
                 "\xf0\x9f\x98\x80",
                 "\xe2\x80"};
  const auto count = static_cast<std::int64_t>(words.size());
  const Floats values(words.size(), 1);
  write_projector(folder.path("v.tsv"), *rows_of_view({values.data(), {count, 1}}),
                  {{"token", words}});
  const std::string text = read_file(folder.path("v_metadata.tsv"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), count);
  for (const char* odd : {"\r", "\xc2\x85", "\xe2\x80\xa8", "\xc2\xa0", "\xef\xbb\xbf"}) {
    EXPECT_EQ(text.find(odd), std::string::npos);
  }
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_EQ(text.find("\n\n"), std::string::npos);
  const TokenList back = read_metadata(folder.path("v_metadata.tsv"), count);
  for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(back[i], words[static_cast<std::size_t>(i)]);
}

TEST(Projector, IsKnownByTabsAndNumbers) {
  EXPECT_TRUE(looks_like_projector("1\t2\n3\t-4e-5\n", true));
  EXPECT_FALSE(looks_like_projector("1 2\n", true));
  EXPECT_FALSE(looks_like_projector("a\t2\n", true));
  EXPECT_FALSE(looks_like_projector("1\t2\n3\n", true));
  // One damaged line does not make it another table, where it is clear what the others are.
  const std::string damaged = "x\t2\n1.5\t2\n2.5\t2\n";
  EXPECT_TRUE(looks_like_projector(damaged, true));
  EXPECT_FALSE(looks_like_projector("x\t2\n1\t2\n2\t2\n", true));
  EXPECT_TRUE(looks_like_projector("x\t2\n1\t2\n2\t2\n", true, true));
  expect_error(ErrorKind::file, {"v.tsv", "line 1", "2 numbers"},
               [&] { read_projector_vectors(damaged, "v.tsv"); });
  EXPECT_EQ(read_projector_vectors("\xef\xbb\xbf"
                                   "1\t2\n3\t4\n",
                                   "v.tsv")
                ->rows(),
            2);
}

}  // namespace
}  // namespace lexirow::files
