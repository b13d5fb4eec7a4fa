#include "text/model_lists.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lexirow/error.h"
#include "text/bpe_support.h"
#include "text/file_stamp.h"
#include "text/json_text.h"
#include "text/text_support.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary.h"

namespace lexirow::text {
namespace {

/// A file read by both ways: the quick one gives the same tokenizer or none.
void expect_same_both_ways(const std::string& text, bool quick) {
  SCOPED_TRACE(text.substr(0, 300));
  std::unique_ptr<Tokenizer> slow;
  try {
    slow = tokenizer_from_json(parse_json(text, "t.json"), "t.json");
  } catch (const Error&) {
    slow = nullptr;
  }
  std::optional<LiftedFile> lifted = lift_json(text);
  std::unique_ptr<Tokenizer> fast;
  if (lifted) fast = tokenizer_from_lifted(std::move(*lifted), "t.json");
  EXPECT_EQ(fast != nullptr, quick);
  if (fast == nullptr) return;
  ASSERT_NE(slow, nullptr) << "the quick way must not take what the other refuses";
  EXPECT_EQ(fast->to_json().dump(), slow->to_json().dump());
  EXPECT_EQ(fast->kind(), slow->kind());
  EXPECT_EQ(fast->notes(), slow->notes());
  const std::string sample = " the ==== aaaa's caf\xC3\xA9<|endoftext|>";
  EXPECT_EQ(fast->encode(sample), slow->encode(sample));
}

TEST(ModelLists, GoodFilesGiveTheSameByBothWays) {
  json root = small_bpe();
  expect_same_both_ways(root.dump(), true);
  expect_same_both_ways(root.dump(2), true);
  expect_same_both_ways(tokenizer_file_text(*tokenizer_of(root)), true);
  for (json& merge : root["model"]["merges"]) {
    merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }
  expect_same_both_ways(root.dump(-1, ' ', true), true);
  root["model"].erase("type");
  expect_same_both_ways(root.dump(), true);
  root["model"]["vocab"]["reserved"] = 300;  // holes
  expect_same_both_ways(root.dump(), true);
  root["truncation"] = {{"max_length", 1.5e3}, {"deep", {{{"a", -1}}, true, nullptr}}};
  expect_same_both_ways(root.dump(), true);
  for (const TokenizerKind kind :
       {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::word}) {
    VocabularyOptions options;
    options.kind = kind;
    options.unk = options.eos = true;
    VocabularyBuilder builder(options);
    builder.push("the = a's caf\xC3\xA9");
    builder.end_file();
    VocabularyReport report;
    expect_same_both_ways(tokenizer_file_text(*builder.build(report)), true);
  }
}

TEST(ModelLists, WhateverIsOddIsLeftToTheOtherWay) {
  const json good = small_bpe();
  for (const Damage& damage :
       std::initializer_list<Damage>{{"/model/vocab/a", "900000", ""},
                                     {"/model/vocab/a", "-1", ""},
                                     {"/model/vocab/a", "1.5", ""},
                                     {"/model/vocab/a", "18446744073709551615", ""},
                                     {"/model/vocab/a", "1", ""},
                                     {"/model/vocab/a", "null", ""},
                                     {"/model/vocab/", "300", ""},
                                     {"/model/vocab", "[]", ""},
                                     {"/model", "7", ""},
                                     {"/model", "[]", ""},
                                     {"/model/merges", "7", ""},
                                     {"/model/merges", "null", ""},
                                     {"/model/merges", "[]", ""},
                                     {"/model/merges/0", "\"one two three\"", ""},
                                     {"/model/merges/0", "\"t\"", ""},
                                     {"/model/merges/0", "[\"t\"]", ""},
                                     {"/model/merges/0", "[\"t\", 1]", ""},
                                     {"/model/merges/0", "[\"t\", \"zz\"]", ""},
                                     {"/model/type", "\"Unigram\"", ""},
                                     {"/model/dropout", "0.5", ""},
                                     {"/model/unk_token", "\"<none>\"", ""},
                                     {"/version", "\"2.0\"", ""},
                                     {"/added_tokens/0/id", "\"x\"", ""},
                                     {"/pre_tokenizer", "7", ""},
                                     {"", "[1]", ""}}) {
    expect_same_both_ways(damaged(good, damage).dump(), false);
  }
  const std::string text = good.dump();
  for (std::size_t end = 0; end < text.size(); end += 97) {
    expect_same_both_ways(text.substr(0, end), false);
  }
  for (const char* odd : {R"({"model":{"type":"WordLevel","vocab":{"<unk>":0,"a":1,"<unk>":2}}})",
                          R"({"model":{"type":"WordLevel","type":"BPE","vocab":{"a":0}}})",
                          R"({"model":{"type":"WordLevel","vocab":{"a":0},"vocab":{"a":0}}})",
                          R"({"model":{"type":"BPE","merges":null,"merges":[],"vocab":{"a":0}}})",
                          R"({"model":{"type":"BPE","merges":[],"merges":null,"vocab":{"a":0}}})",
                          R"({"x":{"y":1,"y":1},"model":{"type":"WordLevel","vocab":{"a":0}}})",
                          "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"\xFF\":0}}}",
                          R"({"model":{"type":"WordLevel","vocab":{"\ud800":0}}})",
                          R"({"model":{"type":"WordLevel","vocab":{"a":0}}} 1)"}) {
    expect_same_both_ways(odd, false);
  }
}

TEST(ModelLists, AStampIsCheckedByBothWays) {
  const json good = json::parse(tokenizer_file_text(*tokenizer_of(small_bpe())));
  EXPECT_HOLDS(good["model"]["lexirow"]["checksum"].get<std::string>(), "crc32-parts ");
  json pairs = good;  // another spelling of the same merges is the same
  for (json& merge : pairs["model"]["merges"]) {
    const auto line = merge.get<std::string>();
    const std::size_t blank = line.find(' ');
    merge = json::array({line.substr(0, blank), line.substr(blank + 1)});
  }
  expect_same_both_ways(pairs.dump(), true);
  json swapped = good;
  std::swap(swapped["model"]["merges"][0], swapped["model"]["merges"][3]);
  json other = good;
  other["model"]["fuse_unk"] = true;
  json tokens = good;
  tokens["model"]["vocab"]["a"].swap(tokens["model"]["vocab"]["b"]);
  for (const json& changed : {swapped, other, tokens}) {
    expect_same_both_ways(changed.dump(), false);
    EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_of(changed); }), "its checksum is");
  }
}

TEST(ModelLists, AMergeIsSavedAsOneTextUnlessThatCouldBeMisread) {
  const auto saved = [](const json& root) {
    return json(tokenizer_of(root)->to_json())["model"]["merges"];
  };
  EXPECT_EQ(saved(small_bpe())[0], "t h");
  json root = small_bpe();
  root["pre_tokenizer"] = root["decoder"] = nullptr;
  root["model"]["vocab"] = {{"a", 0}, {" ", 1}, {"a ", 2}};
  root["model"]["merges"] = json::array({json::array({"a", " "})});
  EXPECT_EQ(saved(root), root["model"]["merges"]);
}

TEST(ModelLists, StampsOfBeforeStillHold) {
  // As version 0.1 of the file wrote it: the sum of the whole without blanks.
  json old = {{"model",
               {{"type", "WordLevel"},
                {"vocab", {{"a", 0}, {"b", 1}}},
                {"unk_token", "a"},
                {"lexirow", {{"tokens", 2}, {"checksum", "crc32 62a4bbb3"}}}}}};
  expect_same_both_ways(old.dump(), false);
  EXPECT_EQ(tokenizer_of(old)->vocab_size(), 2);
  old["model"]["unk_token"] = "b";
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_of(old); }), "its checksum is");
}

TEST(ModelLists, PlainVocabulariesAreTokensAlone) {
  const auto file = lift_json(R"({"model": 1, "a": 0, "ab": 3})");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->rest, nullptr);
  EXPECT_EQ(file->lists.tokens.spellings(), StringList({"a", "model", "", "ab"}));
  EXPECT_EQ(file->lists.tokens.distinct(), 3u);
  EXPECT_EQ(file->lists.tokens.find("ab"), 3);
  EXPECT_EQ(file->lists.tokens.find("b"), kNoId);
  EXPECT_EQ(file->lists.tokens.find(""), kNoId);
  for (const char* odd : {"{}", "[]", R"({"a": []})", R"({"a": 0, "b": 1, "a": 2})", "{\"a\": 1"}) {
    EXPECT_FALSE(lift_json(odd)) << odd;
  }
}

}  // namespace
}  // namespace lexirow::text
