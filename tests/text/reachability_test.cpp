#include "text/reachability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gpt2_support.h"
#include "text/byte_tokenizer.h"

namespace lexirow::text {
namespace {

std::vector<Id> unreachable_of(const Tokenizer& tokenizer) {
  base::ThreadPool pool(2);
  return unreachable_tokens(pool, tokenizer);
}

std::unique_ptr<Tokenizer> made(const std::string& model, const std::string& normalizer = "null",
                                const std::string& pre_tokenizer = "null") {
  return tokenizer_from_json(
      nlohmann::json::parse(R"({"added_tokens": [], "post_processor": null, "decoder": null,
          "normalizer": )" + normalizer +
                            R"(, "pre_tokenizer": )" + pre_tokenizer + R"(, "model": )" + model +
                            "}"),
      "t.json");
}

/// With the letters k to z behind the tokens that are given: a file of which many tokens have no
/// merge is refused.
std::string bpe(const std::string& vocab, const std::string& merges, const std::string& more = "") {
  std::string letters;
  std::int64_t id = std::count(vocab.begin(), vocab.end(), ':');
  for (char letter = 'k'; letter <= 'z'; ++letter) {
    letters += std::string(", \"") + letter + "\": " + std::to_string(id++);
  }
  return R"({"type": "BPE", "unk_token": null, "vocab": {)" + vocab + letters +
         R"(}, "merges": [)" + merges + "]" + more + "}";
}

// Of the real one a few dozen tokens are out of reach, all told by merges or by the cut; none is
// one that any text is encoded to.
TEST(Reachability, OfGpt2IsNotFloodedWithFalseOnes) {
  SKIP_WITHOUT_GPT2();
  const std::vector<Id> found = unreachable_of(*gpt2());
  EXPECT_LT(found.size(), 200U);
  for (const Id id : found) {
    const std::string token = gpt2()->token_bytes(id);
    for (const std::string& text : {token, " " + token, token + " ", "x" + token + "x"}) {
      const std::vector<Id> ids = gpt2()->encode(text);
      EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 0) << id << " '" << token << "'";
    }
  }
}

TEST(Reachability, IsToldByTheMergesOfATokensOwnSymbols) {
  // "bc" is made by no merge, and "abc" by "ab c", which comes before "a bd".
  const auto plain =
      made(bpe(R"("a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "bc": 5)", R"("a b", "ab c")"));
  EXPECT_EQ(unreachable_of(*plain), (std::vector<Id>{5}));
  // A merge that is never done: its left part is always merged away before.
  const auto late =
      made(bpe(R"("a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5)", R"("a b", "b c", "a bc")"));
  EXPECT_EQ(unreachable_of(*late), (std::vector<Id>{5}));
  // As a whole pre-token it is one.
  const auto whole = made(bpe(R"("a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5)",
                              R"("a b", "b c", "a bc")", R"(, "ignore_merges": true)"));
  EXPECT_EQ(unreachable_of(*whole), (std::vector<Id>{}));
}

TEST(Reachability, KnowsSuffixesPrefixesAndFallbackBytes) {
  const auto suffix = made(bpe(R"("a": 0, "b</w>": 1, "ab</w>": 2, "b": 3, "ab": 4, "aa</w>": 5)",
                               R"("a b</w>", "a b")", R"(, "end_of_word_suffix": "</w>")"));
  EXPECT_EQ(unreachable_of(*suffix), (std::vector<Id>{5}));
  const auto prefix = made(bpe(R"("a": 0, "##b": 1, "ab": 2, "##bb": 3, "##ab": 4)",
                               R"("a ##b", "##b ##b")", R"(, "continuing_subword_prefix": "##")"));
  EXPECT_EQ(unreachable_of(*prefix), (std::vector<Id>{4}));
  const auto fallback =
      made(bpe(R"("a": 0, "<0x41>": 1, "<0x0A>": 2)", "", R"(, "byte_fallback": true)"));
  EXPECT_EQ(unreachable_of(*fallback), (std::vector<Id>{}));
}

TEST(Reachability, OfWordsIsToldByTheStepsBeforeTheModel) {
  const std::string words =
      R"({"type": "WordLevel", "unk_token": "[UNK]",
          "vocab": {"[UNK]": 0, "lamp": 1, "Lamp": 2, "old boat": 3}})";
  const std::string spaces = R"({"type": "WhitespaceSplit"})";
  EXPECT_EQ(unreachable_of(*made(words, "null", spaces)), (std::vector<Id>{3}));
  EXPECT_EQ(unreachable_of(*made(words, R"({"type": "Lowercase"})", spaces)),
            (std::vector<Id>{2, 3}));
  EXPECT_EQ(unreachable_of(ByteTokenizer(SpecialTokens{})), (std::vector<Id>{}));
}

TEST(Reachability, NamesTheBuildingBlocks) {
  const auto plain =
      made(bpe(R"("a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "bc": 5)", R"("a b", "ab c")"));
  std::vector<bool> blocks(6 + 16, true);
  blocks[4] = blocks[5] = false;
  EXPECT_EQ(building_blocks(*plain), blocks);
  const std::vector<bool> bytes = building_blocks(ByteTokenizer(SpecialTokens{256, -1, -1, -1}));
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), true), 256);
}

}  // namespace
}  // namespace lexirow::text
