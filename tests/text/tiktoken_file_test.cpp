#include "text/tiktoken_file.h"

#include "bpe_support.h"
#include "text/gpt2_split.h"
#include "text/known_splits.h"
#include "text/parity.h"
#include "text/pattern.h"
#include "text_support.h"

namespace lexirow::text {
namespace {

using Ids = std::vector<Id>;

std::string base64(const std::string& bytes) {
  static const char* const letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string group = bytes.substr(at, 3);
    unsigned held = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      held = held << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= group.size() ? letters[held >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

std::string rank_file(const std::vector<std::string>& longer) {
  std::string file;
  int rank = 0;
  for (int byte = 0; byte < 256; ++byte) {
    file += base64(std::string(1, static_cast<char>(byte))) + " " + std::to_string(rank++) + "\n";
  }
  for (const std::string& token : longer)
    file += base64(token) + " " + std::to_string(rank++) + "\n";
  return file;
}

TEST(TiktokenFile, MergesByTheRankOfWhatComesOut) {
  // Two ways lead to "aba": the leftmost place counts, whatever the parts.
  const std::string file = rank_file({"ab", "ba", "aba", "the", " t", "ca", "\xFF\xFE"});
  const auto tokenizer = tokenizer_from_ranks(file, "gpt2", "t.tiktoken");
  EXPECT_EQ(tokenizer->encode("aba"), (Ids{258}));
  EXPECT_EQ(tokenizer->encode("abaaba"), (Ids{258, 258}));
  EXPECT_EQ(tokenizer->encode("the"), (Ids{259}));  // a whole piece needs no merges to it
  EXPECT_EQ(tokenizer->encode("thee"), (Ids{'t', 'h', 'e', 'e'}));
  EXPECT_EQ(tokenizer->encode("\xFF\xFE"), (Ids{262}));
  EXPECT_EQ(tokenizer->decode(Ids{262, 258}),
            "\xFF\xFE"
            "aba");
  const auto again = tokenizer_of(json::parse(proved_tokenizer_json(*tokenizer)));
  EXPECT_EQ(again->encode("abaaba the"), tokenizer->encode("abaaba the"));
}

TEST(TiktokenFile, SaysHowTextIsCut) {
  const std::string file = rank_file({"ab"});
  EXPECT_TRUE(looks_like_ranks(file));
  EXPECT_FALSE(looks_like_ranks("{\"a\": 1}"));
  EXPECT_FALSE(looks_like_ranks("#version: 0.2\nt h\n"));
  EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { tokenizer_from_ranks(file, "", "t.tiktoken"); }),
               "257 ranks are those of no known encoding");
  EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { tokenizer_from_ranks(file, "gpt5", "t"); }),
               "use gpt2, cl100k");
  EXPECT_HOLDS(tokenizer_from_ranks(file, "o200k", "t")->notes().at(0), "cut as o200k does");
}

TEST(TiktokenFile, LostLinesShow) {
  // In the middle they leave a gap; at the end only the number is left to tell.
  std::string file = rank_file({"ab", "abc", "abcd"});
  file.erase(file.find("YWJj 257"), 9);
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_from_ranks(file, "gpt2", "t"); }),
               "the rank 257 is missing, but 258 is there");
  const std::string note = tokenizer_from_ranks(rank_file({"ab"}), "cl100k", "t")->notes().at(0);
  EXPECT_HOLDS(note, "it has 257 ranks, where the published file has 100256");
}

TEST(TiktokenFile, NamesTheLineThatIsWrong) {
  const std::string good = rank_file({});
  for (const auto& [line, expected] :
       std::vector<std::pair<std::string, std::string>>{{"!! 256\n", "line 257: found"},
                                                        {"YWI= 12\n", "the rank 12 stands twice"},
                                                        {"YWI=\n", "line 257"},
                                                        {"YWI= -4\n", "line 257"},
                                                        {"YWI= 99999999999\n", "line 257"}}) {
    EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_from_ranks(good + line, "gpt2", "t"); }),
                 expected);
  }
  EXPECT_HOLDS(
      error_of(ErrorKind::file,
               [&] { tokenizer_from_ranks(good.substr(good.find('\n') + 1), "gpt2", "t"); }),
      "the byte 00 has no rank");
}

TEST(KnownSplits, CutWhateverStandsAround) {
  std::mt19937 engine(37);
  for (const char* name : {"gpt2", "cl100k", "o200k", "llama3", "qwen2"}) {
    const Pattern pattern = Pattern::of_regex(known_split(name).pattern);
    EXPECT_TRUE(cuts_at_blanks(known_split(name).pattern));
    std::size_t cuts = 0;
    for (int round = 0; round < 400; ++round) {
      std::int64_t replaced = 0;
      const std::string text = repair_utf8(random_text(engine, 25), replaced);
      const SafeCut cut = spaced_cut(text, 0);
      if (cut.end == 0) continue;
      ++cuts;
      std::vector<Stretch> whole, first, second;
      pattern.find(text, whole);
      pattern.find(std::string_view(text).substr(0, cut.end), first);
      pattern.find(std::string_view(text).substr(cut.end), second);
      for (Stretch& one : second)
        first.push_back({one.begin + cut.end, one.end + cut.end, one.match});
      ASSERT_EQ(first.size(), whole.size()) << name << text;
      for (std::size_t i = 0; i < whole.size(); ++i) {
        ASSERT_EQ(first[i].end, whole[i].end) << name << text;
        ASSERT_TRUE(whole[i].match);
      }
    }
    EXPECT_GT(cuts, 100u);
  }
}

}  // namespace
}  // namespace lexirow::text
