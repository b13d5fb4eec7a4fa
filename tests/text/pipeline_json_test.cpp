#include "text/pipeline_json.h"

#include <span>

#include "bpe_support.h"
#include "text_support.h"

namespace lexirow::text {
namespace {

using Ids = std::vector<Id>;

/// Each damage to a good file is an error that names the file.
void expect_refused(std::span<const Damage> damages) {
  for (const Damage& damage : damages) {
    const std::string text =
        error_of(ErrorKind::file, [&] { tokenizer_of(damaged(small_bpe(), damage)); });
    EXPECT_HOLDS(text, damage.expected);
    EXPECT_HOLDS(text, "t.json");
  }
}

TEST(PipelineJson, NamesEveryPartThatIsNotSupported) {
  const Damage damages[] = {
      {"/model/type", R"("WordPiece")",
       "model: type \"WordPiece\" is not supported; supported are BPE"},
      {"/model/type", R"("Unigram")", "type \"Unigram\""},
      {"/model/type", "1", "a text"},
      {"/model/dropout", "0.1", "\"dropout\" is 0.1"},
      {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":""})",
       "normalizer: type \"Precompiled\" is not supported; supported are NFC"},
      {"/normalizer", R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Nmt"}]})",
       "normalizer.normalizers[1]: type \"Nmt\""},
      {"/pre_tokenizer", R"({"type":"UnicodeScripts"})", "pre_tokenizer: type \"UnicodeScripts\""},
      {"/pre_tokenizer",
       R"({"type":"Split","pattern":{"Regex":"[a&&b]"},"behavior":"Isolated","invert":false})",
       "the set operation &&"},
      {"/pre_tokenizer",
       R"({"type":"Split","pattern":{"Regex":"(a"},"behavior":"Isolated","invert":false})",
       "cannot be used"},
      {"/pre_tokenizer",
       R"({"type":"Split","pattern":{"Regex":"\\p{Nothing}"},"behavior":"Isolated","invert":false})",
       "cannot be used"},
      {"/pre_tokenizer",
       R"({"type":"Split","pattern":{"Glob":"a"},"behavior":"Isolated","invert":false})",
       "\"pattern\""},
      {"/pre_tokenizer",
       R"({"type":"Split","pattern":{"String":"a"},"behavior":"Cut","invert":false})",
       "\"behavior\" is \"Cut\""},
      {"/pre_tokenizer", R"({"type":"Metaspace"})", "\"replacement\" is missing"},
      {"/pre_tokenizer", "7", "found 7"},
      {"/post_processor", R"({"type":"Magic"})", "post_processor: type \"Magic\""},
      {"/decoder", R"({"type":"CTC"})", "decoder: type \"CTC\""},
      {"/added_tokens", "{}", "\"added_tokens\""},
      {"/added_tokens/0/content", "1", "\"content\" is 1"},
      {"/added_tokens/0/id", "1.5", "\"id\" is 1.5"},
      {"/version", R"("2.0")", "\"version\" is 2.0"},
      {"/model/vocab/a", "-1", "has the id -1"},
      {"/model/vocab/a", "1.5", "has the id 1.5"},
      {"/model/vocab/a", "900000000", "has the id 900000000"},
      {"/model/vocab/a", "98", "id 98 stands for"},
      {"/model/vocab", "[]", "not an object of tokens and ids"},
      {"/model/unk_token", R"("<none>")", "unk_token \"<none>\" is not in the vocabulary"},
      {"/model/merges/0", R"(["t","zz"])", "merges: entry 0: \"zz\" is no token"},
      {"/model/merges/0", R"("th")", "merges: entry 0: found \"th\""},
      {"/model/merges/1", R"(["z","z"])", "\"zz\" is no token"},
      {"/model/merges", "3", "not a list"},
      {"/model", "null", "model: found null"},
  };
  expect_refused(damages);
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_of(json::array()); }), "found []");
}

// What Hugging Face's reader refuses is not guessed at: a misspelt field is another tokenizer.
TEST(PipelineJson, NamesFieldsThatAreMissingMisspeltOrMixed) {
  const Damage damages[] = {
      {"/added_tokens/0/special", "null", "\"special\" is missing"},
      {"/added_tokens/0/lstrip", "null", "\"lstrip\" is missing"},
      {"/pre_tokeniser", "null", "the field \"pre_tokeniser\" is not known; known are version"},
      {"/truncation", R"("yes")", "\"truncation\" is \"yes\", expected an object or null"},
      {"/post_processor", R"({"type":"TemplateProcessing"})", "\"single\" is missing"},
      {"/pre_tokenizer", R"({"type":"Split","pattern":"a","behavior":"Isolated","invert":false})",
       "\"pattern\" is \"a\""},
      {"/model/merges/3", R"("= =")", "merges: entry 3: found \"= =\" after"},
  };
  expect_refused(damages);
}

// What reads the parts recurses: a file must not be able to exhaust the stack.
TEST(PipelineJson, RefusesPartsInsideOneAnotherWithoutEnd) {
  std::string part;
  std::string ends;
  for (int level = 0; level < 20000; ++level) {
    part += R"({"type":"Sequence","normalizers":[)";
    ends += "]}";
  }
  part += R"({"type":"NFC"})" + ends;
  std::string text = small_bpe().dump();
  text.replace(text.find(R"("normalizer":null)"), 17, R"("normalizer":)" + part);
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { parse_json(text, "t.json"); }),
               "t.json: more than 128 objects and lists inside one another");
}

TEST(PipelineJson, ReadsBothSpellingsOfMerges) {  // TOK-16
  const json pairs = small_bpe();
  json lines = pairs;
  for (json& merge : lines["model"]["merges"]) {
    merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }
  const std::string text = " the ==== aaaa's caf\xC3\xA9";
  const Ids ids = tokenizer_of(pairs)->encode(text);
  EXPECT_EQ(ids, (Ids{258, 32, 260, 32, 262, 263, 32, 99, 97, 102, 264}));
  EXPECT_EQ(tokenizer_of(lines)->encode(text), ids);
}

TEST(PipelineJson, LongerTokensWithoutMergesAreAnError) {  // TOK-16
  json root = small_bpe();
  root["model"]["merges"] = json::array();
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_of(root); }), "the merges were lost");
  root["model"].erase("merges");
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_of(root); }), "the merges were lost");
}

// A file cut at the end of a line is a good file of fewer merges: other ids, without a word.
TEST(PipelineJson, MergesThatWereCutShortAreAnError) {
  json root = small_bpe();
  for (int i = 0; i < 40; ++i) {
    root["model"]["vocab"]["long" + std::to_string(i)] = 265 + i;
    if (i == 19) {
      EXPECT_NE(tokenizer_of(root), nullptr);
    }
  }
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_of(root); }),
               "no merge makes 40 of the 305 tokens, such as \"long0\" (id 265)");
}

TEST(PipelineJson, DuplicateTokensAreReportedWithBothIds) {  // VOCAB-11
  const std::string text = error_of(ErrorKind::file, [] {
    parse_json(R"({"model":{"type":"WordLevel","vocab":{"<unk>":0,"a":1,"<unk>":2}}})", "t.json");
  });
  EXPECT_HOLDS(text, "t.json: \"<unk>\" stands twice in one object, with 0 and with 2");
  EXPECT_EQ(parse_json(R"({"a":{"x":1},"b":{"x":[{"y":1},{"y":2}]}})", "t.json")["b"]["x"].size(),
            2u);
  json root = small_bpe();
  root["added_tokens"].push_back(root["added_tokens"][0]);
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer_of(root); }), "stands twice");
}

TEST(PipelineJson, SpecialSpellingsAreTextUnlessAllowed) {  // TOK-7
  const auto tokenizer = tokenizer_of(small_bpe());
  const std::string text = "the<|endoftext|>the";
  EncodeCounts counts;
  Ids ids;
  tokenizer->encode(text, {}, ids, counts);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 265), 0);
  EXPECT_EQ(counts.special_spellings, 1);
  EXPECT_EQ(tokenizer->decode(ids), text);
  EncodeRules rules;
  rules.specials = allow_specials(*tokenizer, {"<|endoftext|>"});
  ids.clear();
  counts = {};
  tokenizer->encode(text, rules, ids, counts);
  EXPECT_EQ(ids, (Ids{257, 265, 257}));
  EXPECT_EQ(counts.special_spellings, 0);
  EXPECT_EQ(tokenizer->decode(ids), text);
  EXPECT_EQ(allow_specials(*tokenizer, {"all"}), (Ids{265}));
  EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { allow_specials(*tokenizer, {"<s>"}); }),
               "it has <|endoftext|>");
}

TEST(PipelineJson, OwnTokenizersTakeAllowedSpecialsToo) {
  VocabularyOptions options;
  options.eos = options.unk = true;
  for (const auto kind : {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::word}) {
    options.kind = kind;
    const auto tokenizer = made_from("one two", options);
    EncodeRules rules;
    rules.specials = allow_specials(*tokenizer, {"<eos>"});
    EncodeCounts counts;
    std::vector<Piece> pieces;
    tokenizer->encode_pieces("one<eos>two", rules, pieces, counts);
    const auto eos = std::find_if(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      return piece.id == tokenizer->specials().eos;
    });
    ASSERT_NE(eos, pieces.end()) << tokenizer_kind_name(kind);
    EXPECT_EQ(eos->begin, 3);
    EXPECT_EQ(eos->end, 8);
    EXPECT_EQ(pieces.back().end, 11);
    Ids ids;
    tokenizer->encode("one<eos>two", rules, ids, counts);
    ASSERT_EQ(ids.size(), pieces.size());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], pieces[i].id);
  }
}

TEST(PipelineJson, SaysWhatIsKeptButNotApplied) {
  json root = small_bpe();
  EXPECT_TRUE(tokenizer_of(root)->notes().empty());
  root["truncation"] = {{"max_length", 4}};
  root["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", json::array()},
                            {"pair", json::array()},
                            {"special_tokens", json::object()}};
  root["added_tokens"][0]["id"] = 300;
  const auto tokenizer = tokenizer_of(root);
  std::string notes;
  for (const std::string& note : tokenizer->notes()) notes += note + "\n";
  EXPECT_HOLDS(notes, "truncation is kept but not applied");
  EXPECT_HOLDS(notes, "TemplateProcessing is kept but not applied");
  EXPECT_HOLDS(notes, "says it has the id 300, but has 265");
  const json saved = json::parse(tokenizer->to_json().dump());
  EXPECT_EQ(saved["truncation"], root["truncation"]);
  EXPECT_EQ(saved["post_processor"], root["post_processor"]);
  EXPECT_EQ(saved["added_tokens"][0]["id"], 265);
}

TEST(PipelineJson, RolesComeFromNames) {
  json root = small_bpe();
  EXPECT_EQ(tokenizer_of(root)->specials().eos, 265);
  EXPECT_EQ(tokenizer_of(root)->specials().bos, kNoId);
  json more = root["added_tokens"][0];
  for (const char* name : {"<s>", "</s>", "<pad>"}) {
    more["content"] = name;
    more["id"] = 265 + root["added_tokens"].size();
    root["added_tokens"].push_back(more);
  }
  root["model"]["unk_token"] = "a";
  const SpecialTokens roles = tokenizer_of(root)->specials();
  EXPECT_EQ(roles.eos, 265);
  EXPECT_EQ(roles.bos, 266);
  EXPECT_EQ(roles.pad, 268);
  EXPECT_EQ(roles.unk, 97);
}

TEST(PipelineJson, WhatHasNoTokenIsUnknownOrLeftOut) {
  json root;
  root["model"] = {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}};
  root["model"]["merges"] = json::array({"a b"});
  EncodeCounts counts;
  Ids ids;
  const auto without = tokenizer_of(root);
  without->encode("azb", {}, ids, counts);
  EXPECT_EQ(ids, (Ids{2}));  // as Hugging Face: what is left out leaves no gap
  EXPECT_EQ(counts.left_out, 1);
  root["model"]["unk_token"] = "a";
  const auto with = tokenizer_of(root);
  ids.clear();
  counts = {};
  with->encode("bzzb", {}, ids, counts);
  EXPECT_EQ(ids, (Ids{1, 0, 2}));
  EXPECT_EQ(counts.unknown, 2);
  root["model"] = {{"type", "WordLevel"}, {"vocab", {{"a", 0}}}, {"unk_token", "[UNK]"}};
  root["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { tokenizer_of(root)->encode("a zz"); }),
               "\"zz\" is not in the vocabulary");
  root["model"]["vocab"]["[UNK]"] = 1;
  EXPECT_EQ(tokenizer_of(root)->encode("a zz"), (Ids{0, 1}));
  EXPECT_EQ(tokenizer_of(root)->kind(), TokenizerKind::word_level);
}

}  // namespace
}  // namespace lexirow::text
