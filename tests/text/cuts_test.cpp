#include <gtest/gtest.h>

#include <random>

#include "bpe_support.h"
#include "text/bpe_files.h"

// A text read in chunks gives the ids of the whole, whatever steps a tokenizer.json puts together.

namespace lexirow::text {
namespace {

const std::vector<std::string> kNormalizers = {
    "null",
    R"({"type":"NFC"})",
    R"({"type":"NFKC"})",
    R"({"type":"Lowercase"})",
    R"({"type":"StripAccents"})",
    R"({"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"}]})",
    R"({"type":"Replace","pattern":{"String":" "},"content":""})",
    R"({"type":"Replace","pattern":{"String":" "},"content":"_"})",
    R"({"type":"Replace","pattern":{"String":"\n"},"content":" "})",
    R"({"type":"Replace","pattern":{"String":"b"},"content":""})",
    R"({"type":"Replace","pattern":{"String":"b"},"content":" "})",
    R"({"type":"Replace","pattern":{"String":"b"},"content":"."})",
    R"({"type":"Prepend","prepend":"c"})",
    R"({"type":"Strip","strip_left":true,"strip_right":true})",
    R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,)"
    R"("strip_accents":null,"lowercase":true})",
};

std::vector<std::string> pre_tokenizers() {
  const std::string bytes =
      R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})";
  const std::string prefix =
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})";
  const std::string words = R"({"type":"Whitespace"})";
  const std::string spaces = R"({"type":"WhitespaceSplit"})";
  const std::string digits = R"({"type":"Digits","individual_digits":false})";
  const std::string marks = R"({"type":"Punctuation","behavior":"Isolated"})";
  const std::string blank =
      R"({"type":"Split","pattern":{"String":" "},"behavior":"MergedWithNext","invert":false})";
  const auto metaspace = [](const std::string& scheme, const char* split) {
    return R"({"type":"Metaspace","replacement":"_","prepend_scheme":")" + scheme +
           R"(","split":)" + split + "}";
  };
  std::vector<std::string> all = {"null",
                                  bytes,
                                  prefix,
                                  words,
                                  spaces,
                                  blank,
                                  metaspace("always", "true"),
                                  metaspace("first", "true"),
                                  metaspace("never", "false")};
  const auto both = [&](const std::string& first, const std::string& second) {
    all.push_back(R"({"type":"Sequence","pretokenizers":[)" + first + "," + second + "]}");
  };
  for (const std::string& last : {bytes, prefix}) {
    for (const std::string& first : {blank, digits, marks, spaces, metaspace("first", "true")}) {
      both(first, last);
    }
  }
  both(metaspace("never", "false"), words);
  both(spaces, metaspace("always", "true"));
  return all;
}

std::vector<json> added() {
  return {added_token(266, "b", true, true, false),     added_token(266, "b", false, true, false),
          added_token(266, "b", true, false, true),     added_token(266, " b", true, false, false),
          added_token(266, "b\n", false, false, false), added_token(266, "a b", true, false, false),
          added_token(266, "  ", true, false, false)};
}

std::string tricky_text(std::mt19937& engine) {
  static const std::vector<std::string> kParts = {
      "a",        "b",        "c",  "B",  "1",        ".",        "'",
      " ",        " ",        "\n", "\n", "\xCC\x81", "\xC3\xA9", "\xE4\xB8\xAD",
      "\xC2\xA0", "\xC2\xA8", "_"};
  std::string text;
  for (std::size_t i = 0; i < 24; ++i) text += kParts[engine() % kParts.size()];
  return text;
}

void expect_no_cut_seen(const json& root, std::mt19937& engine, int rounds) {
  const auto tokenizer = tokenizer_of(root);
  for (int round = 0; round < rounds; ++round) {
    const std::string text = tricky_text(engine);
    ASSERT_EQ(streamed_ids(*tokenizer, text, 9, engine), tokenizer->encode(text))
        << root["normalizer"].dump() << root["pre_tokenizer"].dump() << root["added_tokens"].dump()
        << json(text).dump();
  }
}

TEST(Cuts, AreNotSeenWhateverTheSteps) {
  std::mt19937 engine(31);
  for (const std::string& normalizer : kNormalizers) {
    for (const std::string& pre_tokenizer : pre_tokenizers()) {
      json root = small_bpe();
      root["normalizer"] = json::parse(normalizer);
      root["pre_tokenizer"] = json::parse(pre_tokenizer);
      expect_no_cut_seen(root, engine, 12);
    }
  }
}

TEST(Cuts, AreNotSeenWhateverTokensAreAdded) {
  std::mt19937 engine(37);
  for (const std::string& normalizer : {kNormalizers[0], kNormalizers[1], kNormalizers[3]}) {
    for (json token : added()) {
      for (const bool single : {false, true}) {
        json root = small_bpe();
        root["normalizer"] = json::parse(normalizer);
        token["single_word"] = single;
        root["added_tokens"].push_back(token);
        expect_no_cut_seen(root, engine, 40);
      }
    }
  }
}

TEST(Gpt2Files, TellATokenThatNoMergeMakes) {
  const json root = small_bpe();
  std::string merges = "#version: 0.2\n";
  for (const json& merge : root["model"]["merges"]) {
    merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
  }
  const std::string vocab = root["model"]["vocab"].dump();
  EXPECT_TRUE(tokenizer_from_gpt2_files(vocab, "v", merges, "m")->notes().empty());
  merges.erase(merges.rfind("aa aa\n"), 6);
  const auto notes = tokenizer_from_gpt2_files(vocab, "v", merges, "m")->notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("m: no merge makes 1 of the 265 tokens, such as \"aaaa\""),
            std::string::npos)
      << notes[0];
}

}  // namespace
}  // namespace lexirow::text
