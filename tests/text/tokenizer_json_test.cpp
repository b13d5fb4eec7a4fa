#include "text/tokenizer_json.h"

#include "text_support.h"

namespace lexirow::text {
namespace {

using nlohmann::json;

std::vector<VocabularyOptions> all_options() {
  std::vector<VocabularyOptions> all;
  for (const auto kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::word}) {
    for (const auto split : {WordSplit::unicode, WordSplit::space}) {
      for (const bool special : {false, true}) {
        VocabularyOptions options;
        options.kind = kind;
        options.split = split;
        options.pad = options.unk = options.bos = options.eos = special;
        all.push_back(options);
      }
    }
  }
  return all;
}

TEST(TokenizerJson, ComesBackAsTheSameTokenizer) {
  std::mt19937 engine(11);
  const std::string text = random_text(engine, 2000);
  for (const VocabularyOptions& options : all_options()) {
    const auto made = made_from(text, options);
    const std::string file = made->to_json().dump();
    const auto read = tokenizer_from_json(json::parse(file), "t.json");
    EXPECT_EQ(read->kind(), made->kind());
    EXPECT_EQ(read->vocab_size(), made->vocab_size());
    EXPECT_EQ(read->encode(text), made->encode(text));
    EXPECT_EQ(read->specials().pad, made->specials().pad);
    EXPECT_EQ(read->specials().eos, made->specials().eos);
    EXPECT_EQ(read->to_json().dump(), file);
  }
}

TEST(TokenizerJson, HasTheFormOfHuggingFace) {
  VocabularyOptions options;
  options.pad = options.eos = true;
  const json root = json::parse(made_from("ba", options)->to_json().dump());
  EXPECT_EQ(root["version"], "1.0");
  for (const char* key : {"truncation", "padding", "normalizer", "post_processor"}) {
    EXPECT_TRUE(root.contains(key) && root[key].is_null()) << key;
  }
  EXPECT_EQ(root["pre_tokenizer"], json::parse(R"({"type":"Split","pattern":{"Regex":"[\\s\\S]"},)"
                                               R"("behavior":"Isolated","invert":false})"));
  EXPECT_EQ(root["decoder"], json::parse(R"({"type":"Fuse"})"));
  EXPECT_EQ(root["model"]["type"], "WordLevel");
  EXPECT_EQ(root["model"]["unk_token"], "<unk>");
  EXPECT_EQ(root["model"]["vocab"], json::parse(R"({"a":0,"b":1,"<pad>":2,"<eos>":3})"));
  EXPECT_EQ(
      root["added_tokens"][1],
      json::parse(R"({"id":3,"content":"<eos>","single_word":false,"lstrip":false,"rstrip":false,)"
                  R"("normalized":false,"special":true})"));
}

/// A change to a good file, and what the error must say of it.
struct Damage {
  const char* path;
  const char* value;
  const char* expected;
};

TEST(TokenizerJson, NamesWhatItCannotRead) {
  VocabularyOptions options;
  options.eos = true;
  const json good = json::parse(made_from("ba", options)->to_json().dump());
  const Damage damages[] = {
      {"/model/type", R"("BPE")", "model type \"BPE\""},
      {"/model/vocab/a", "9", "has the id 9"},
      {"/model/vocab/a", "-1", "has the id -1"},
      {"/model/vocab/a", "1.5", "has the id 1.5"},
      {"/model/vocab/a", "18446744073709551615", "outside 0 to"},
      {"/model/vocab/a", "1", "id 1 stands for"},
      {"/model/vocab/a", "3", "no token has the id 0"},
      {"/model/vocab", R"({"ab":0,"c":1,"<eos>":2})", "\"ab\" is not one character"},
      {"/model/vocab", "[]", "model.vocab is not an object"},
      {"/model", "7", "found 7"},
      {"/added_tokens/0/content", R"("<|endoftext|>")", "added token \"<|endoftext|>\""},
      {"/added_tokens", "{}", "added_tokens is not a list"},
      {"/added_tokens/0", "1", "found 1"},
      {"/normalizer", R"({"type":"NFC"})", "normalizer {\"type\":\"NFC\"}"},
      {"/pre_tokenizer", R"({"type":"Metaspace"})", "pre_tokenizer {\"type\":\"Metaspace\"}"},
      {"/decoder", R"({"type":"WordPiece"})", "decoder"},
      {"/truncation", "{}", "truncation"},
      {"", "[1]", "found [1]"},
  };
  for (const Damage& damage : damages) {
    json bad = good;
    bad[json::json_pointer(damage.path)] = json::parse(damage.value);
    const std::string text = error_of(ErrorKind::file, [&] { tokenizer_from_json(bad, "t.json"); });
    EXPECT_HOLDS(text, damage.expected);
    EXPECT_HOLDS(text, "t.json: ");
  }
}

TEST(TokenizerJson, SpecialTokensComeLast) {
  VocabularyOptions options;
  options.eos = true;
  json root = json::parse(made_from("ba", options)->to_json().dump());
  root["model"]["vocab"] = {{"a", 0}, {"<eos>", 1}, {"b", 2}};
  root["added_tokens"][0]["id"] = 1;
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_from_json(root, "t.json"); }),
               "special tokens must follow");
  // They may be missing from the vocabulary proper.
  root["model"]["vocab"] = {{"a", 0}, {"b", 1}};
  root["added_tokens"][0]["id"] = 2;
  EXPECT_EQ(tokenizer_from_json(root, "t.json")->specials().eos, 2);
}

TEST(TokenizerJson, WordNeedsUnkAndByteItsBytes) {
  VocabularyOptions options;
  options.kind = TokenizerKind::word;
  json word = json::parse(made_from("a b", options)->to_json().dump());
  word["added_tokens"] = json::array();
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_from_json(word, "t.json"); }),
               "needs <unk>");
  options.kind = TokenizerKind::byte;
  json byte = json::parse(made_from("", options)->to_json().dump());
  std::swap(byte["model"]["vocab"]["a"], byte["model"]["vocab"]["b"]);
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_from_json(byte, "t.json"); }),
               "256 bytes");
}

}  // namespace
}  // namespace lexirow::text
