#include "text/tokenizer_json.h"

#include "bpe_support.h"
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

TEST(TokenizerJson, WhatIsNoOwnFormOpensAsHuggingFacesOwn) {
  VocabularyOptions options;
  options.eos = true;
  const json good = json::parse(made_from("ba", options)->to_json().dump());
  const Damage changes[] = {
      {"/model/vocab/a", "3", ""},  // an id that no token has
      {"/model/vocab", R"({"ab":0,"c":1,"<eos>":2})", ""},
      {"/added_tokens/0/content", R"("<|endoftext|>")", ""},
      {"/normalizer", R"({"type":"NFC"})", ""},
      {"/truncation", "{}", ""},
      {"/model/unk_token", R"("[UNK]")", ""},
  };
  EXPECT_EQ(tokenizer_from_json(good, "t.json")->kind(), TokenizerKind::character);
  for (const Damage& change : changes) {
    const auto tokenizer = tokenizer_from_json(damaged(good, change), "t.json");
    EXPECT_EQ(tokenizer->kind(), TokenizerKind::word_level) << change.path;
  }
}

TEST(TokenizerJson, NamesWhatItCannotRead) {
  VocabularyOptions options;
  options.eos = true;
  const json good = json::parse(made_from("ba", options)->to_json().dump());
  const Damage damages[] = {
      {"/model/type", R"("BPE")", "unk_token \"<unk>\" is not in the vocabulary"},
      {"/model/vocab/a", "900000", "has the id 900000"},
      {"/model/vocab/a", "-1", "has the id -1"},
      {"/model/vocab/a", "1.5", "has the id 1.5"},
      {"/model/vocab/a", "18446744073709551615", "has the id 18446744073709551615"},
      {"/model/vocab/a", "1", "id 1 stands for"},
      {"/model/vocab", "[]", "not an object of tokens"},
      {"/model", "7", "found 7"},
      {"/added_tokens", "{}", "\"added_tokens\""},
      {"/added_tokens/0", "1", "found 1"},
      {"/pre_tokenizer", R"({"type":"Metaspace"})", "\"replacement\""},
      {"/decoder", R"({"type":"WordPiece","cleanup":true})", "\"prefix\""},
      {"", "[1]", "found [1]"},
  };
  for (const Damage& damage : damages) {
    const std::string text =
        error_of(ErrorKind::file, [&] { tokenizer_from_json(damaged(good, damage), "t.json"); });
    EXPECT_HOLDS(text, damage.expected);
    EXPECT_HOLDS(text, "t.json: ");
  }
}

TEST(TokenizerJson, SpecialTokensMayStandBeforeTheOthersOrOutside) {
  VocabularyOptions options;
  options.eos = true;
  json root = json::parse(made_from("ba", options)->to_json().dump());
  root["model"]["vocab"] = {{"a", 0}, {"<eos>", 1}, {"b", 2}};
  root["added_tokens"][0]["id"] = 1;
  const auto first = tokenizer_from_json(root, "t.json");
  EXPECT_EQ(first->kind(), TokenizerKind::word_level);
  EXPECT_EQ(first->specials().eos, 1);
  EXPECT_EQ(first->encode("ab"), (std::vector<Id>{0, 2}));
  // They may be missing from the vocabulary proper.
  root["model"]["vocab"] = {{"a", 0}, {"b", 1}};
  root["added_tokens"][0]["id"] = 2;
  const auto outside = tokenizer_from_json(root, "t.json");
  EXPECT_EQ(outside->kind(), TokenizerKind::character);
  EXPECT_EQ(outside->specials().eos, 2);
}

}  // namespace
}  // namespace lexirow::text
