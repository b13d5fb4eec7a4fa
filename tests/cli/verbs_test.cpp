#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

using Json = nlohmann::ordered_json;

void expect_keys(const Json& json, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(json.contains(key)) << key << " in " << json;
}

std::int64_t lines_of(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST(Tokenize, ChangesNoByte) {
  const Place place;
  place.write("odd.txt", std::string("\357\273\277a\r\nb\0\xFF\n", 10));
  EXPECT_EQ(place.run("lexirow tokenize odd.txt --tokenizer byte").out,
            "239 187 191 97 13 10 98 0 255 10\n");
  EXPECT_EQ(place
                .run("lexirow tokenize odd.txt --tokenizer byte | lexirow tokenize - --decode "
                     "--tokenizer byte | cmp - odd.txt")
                .code,
            0);
}

TEST(Tokenize, ReadsStandardInputAndJsonLists) {
  const Place place;
  EXPECT_EQ(place.run("printf hi | lexirow tokenize --tokenizer byte").out, "104 105\n");
  EXPECT_EQ(place.run("echo '[104, 105]' | lexirow tokenize --decode --tokenizer byte").out, "hi");
  EXPECT_EQ(place.run("printf '' | lexirow tokenize --tokenizer byte").out, "\n");
}

TEST(Tokenize, JsonHasItsKeysAndBytesWhereTextLosesThem) {
  const Place place;
  const Json json = place.run("printf 'a\\xff' | lexirow tokenize --tokenizer byte --json").json();
  expect_keys(json, {"ids", "pieces", "tokens", "vocab_size"});
  EXPECT_EQ(json["ids"], Json({97, 255}));
  EXPECT_EQ(json["tokens"], 2);
  EXPECT_EQ(json["vocab_size"], 256);
  EXPECT_FALSE(json["pieces"][0].contains("bytes"));
  EXPECT_EQ(json["pieces"][1]["token"], "\xEF\xBF\xBD");
  EXPECT_EQ(json["pieces"][1]["bytes"], "ff");
  EXPECT_EQ(json["pieces"][1]["begin"], 1);
  EXPECT_EQ(json["pieces"][1]["end"], 2);
}

TEST(Tokenize, PiecesAreATable) {
  const Place place;
  const Outcome run = place.run("printf 'b a' | lexirow tokenize --pieces");
  EXPECT_NE(run.out.find("0..1"), std::string::npos) << run.out;
  EXPECT_EQ(lines_of(run.out), 4);
  EXPECT_NE(run.err.find("3 tokens"), std::string::npos) << run.err;
}

TEST(Tokenize, WordsAreCutWhereAskedFor) {
  const Place place;
  place.write("words.txt", "well, well-known");
  const std::string command = "lexirow tokenize words.txt --tokenizer word --json";
  EXPECT_EQ(place.run(command).json()["tokens"], 5);
  EXPECT_EQ(place.run(command + " --word-split space").json()["tokens"], 2);
}

TEST(Tokenize, UsesTheVocabularyOfAModel) {
  const Place place;
  place.add_model();
  const std::string ids = place.run("printf 'The boat' | lexirow tokenize --tokenizer model").out;
  place.write("ids", ids);
  EXPECT_EQ(place.run("lexirow tokenize ids --decode --tokenizer model/tokenizer.json").out,
            "The boat");
  const Outcome unknown = place.run("printf 'The Q' | lexirow tokenize --tokenizer model");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("U+0051"), std::string::npos) << unknown.err;
}

TEST(Tokenize, EndsQuietlyWhenTheReaderGoes) {
  const Place place;
  place.run("yes 'a long text of many lines' | head -c 4000000 > big.txt");
  const Outcome run = place.run(
      "lexirow tokenize big.txt --tokenizer byte | head -c 8; echo \" ${PIPESTATUS[0]}\"");
  EXPECT_EQ(run.out, "97 32 10 0\n");
  EXPECT_EQ(run.err, "");
}

TEST(Generate, JsonHoldsTheNewTokensOnly) {
  const Place place;
  place.add_model();
  const Json json = place.run("lexirow generate model --prompt 'The ' --tokens 12 --json").json();
  expect_keys(json, {"text", "ids", "tokens_per_second"});
  EXPECT_EQ(json["ids"].size(), 12U);
  const Outcome plain = place.run("lexirow generate model --prompt 'The ' --tokens 12");
  EXPECT_EQ(plain.out, "The " + json["text"].get<std::string>() + "\n");
  EXPECT_EQ(plain.err, "");
}

TEST(Generate, EveryOptionTellsInTheText) {
  const Place place;
  place.add_model();
  const auto text = [&](const std::string& options) {
    const Outcome run =
        place.run("lexirow generate model --prompt 'The boat' --tokens 40 " + options);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.out;
  };
  const std::string plain = text("");
  EXPECT_EQ(plain, text(""));
  EXPECT_EQ(plain, text("--threads 3"));
  EXPECT_NE(plain, text("--seed 2"));
  EXPECT_NE(plain, text("--temperature 0"));
  EXPECT_EQ(text("--temperature 0"), text("--top-k 1"));
  EXPECT_EQ(text("--temperature 0"), text("--top-p 0.000001"));
  EXPECT_NE(plain, text("--context 1"));
  EXPECT_EQ(text("--tokens 0"), "The boat\n");
  EXPECT_EQ(text("--prompt ''").size(), 41U);
}

TEST(Generate, ReadsThePromptFromAFileOrStandardInput) {
  const Place place;
  place.add_model();
  place.write("prompt", "The lamp");
  const std::string expected = place.run("lexirow generate model --prompt 'The lamp'").out;
  EXPECT_EQ(place.run("lexirow generate model --prompt-file prompt").out, expected);
  EXPECT_EQ(place.run("lexirow generate model --prompt - <prompt").out, expected);
}

TEST(Generate, SaysWhatTheRequestLost) {
  const Place place;
  place.add_model();
  const Outcome large = place.run("lexirow generate model --prompt a --top-k 500");
  EXPECT_EQ(large.code, 0);
  EXPECT_NE(large.err.find("--top-k 500"), std::string::npos) << large.err;
  const Outcome cut = place.run("lexirow generate model --prompt 'The boat' --context 3");
  EXPECT_NE(cut.err.find("first 5 of the prompt's 8"), std::string::npos) << cut.err;
  // A mean has no limit of its own: a long prompt loses nothing and needs no word.
  place.run("head -c 1500 my.txt > long");
  EXPECT_EQ(place.run("lexirow generate model --prompt-file long").err, "");
}

TEST(Generate, WordsUnknownToTheModelAreNamed) {
  const Place place;
  place.add_model("--tokenizer word");
  const Outcome run = place.run("lexirow generate model --prompt 'The zeppelin' --tokens 5");
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.err.find("zeppelin"), std::string::npos) << run.err;
  EXPECT_EQ(run.out.rfind("The zeppelin ", 0), 0U) << run.out;
}

TEST(Eval, ReportsAndScoresEveryLine) {
  const Place place;
  place.add_model();
  const Json json = place.run("lexirow eval model my.txt --json").json();
  expect_keys(json, {"loss", "perplexity", "bits_per_byte", "tokens", "unknown", "ignored"});
  EXPECT_NEAR(json["perplexity"].get<double>(), std::exp(json["loss"].get<double>()), 1e-6);

  place.write("lines", "The boat\n\na\nThe net");
  const Outcome lines = place.run("lexirow eval model lines --lines");
  ASSERT_EQ(lines_of(lines.out), 4) << lines.out;
  EXPECT_NE(lines.out.find("\n-\n-\n"), std::string::npos) << lines.out;
  place.write("ended", "The boat\n\na\nThe net\n");
  EXPECT_EQ(place.run("lexirow eval model ended --lines").out, lines.out);
  EXPECT_EQ(place.run("lexirow eval model - --lines <ended").out, lines.out);
  EXPECT_EQ(place.run("lexirow eval model ended --lines --json").json()["lines"].size(), 4U);
}

TEST(Info, CountsParametersAndBytes) {
  const Place place;
  place.add_model("--tied --hidden 4");
  const Json json = place.run("lexirow info model --json").json();
  expect_keys(json, {"parameters", "weight_bytes", "training_bytes", "tensors"});
  std::int64_t count = 0;
  for (const Json& tensor : json["tensors"]) {
    std::int64_t size = 1;
    for (const Json& extent : tensor["shape"]) size *= extent.get<std::int64_t>();
    count += size;
  }
  EXPECT_EQ(json["parameters"], count);
  EXPECT_EQ(json["weight_bytes"], 4 * count);
  EXPECT_NE(place.run("lexirow info model").out.find("lm_head.weight"), std::string::npos);
}

// figures.md: V 4096, D 256 are 1048576 parameters, 4 MiB a table.
TEST(Info, TellsTheSizesOfTablesOf4096Rows) {
  const Place place;
  std::string text;
  for (int word = 1; word < 4096; ++word) text += "w" + std::to_string(word) + ' ';
  place.write("my.txt", text);  // with <unk> 4096 tokens
  const std::string train =
      "lexirow train my.txt --preset plain --tokenizer word --min-count 1 --max-vocab 4096 --mixer "
      "none --no-bias --dim 256 --batch 8 --context 16 --steps 1 --out ";
  ASSERT_EQ(place.run(train + "one --tied").code, 0);
  ASSERT_EQ(place.run(train + "two").code, 0);
  const Json one = place.run("lexirow info one --json").json();
  const Json two = place.run("lexirow info two --json").json();
  EXPECT_EQ(one["parameters"], 1048576);
  EXPECT_EQ(one["weight_bytes"], 4 << 20);
  EXPECT_EQ(two["weight_bytes"], 8 << 20);
  // Trained: a gradient and two moments more. An untied table's gradient is that of the rows read.
  EXPECT_EQ(one["gradient_bytes"], 4 << 20);
  EXPECT_EQ(one["moment_bytes"], 8 << 20);
  EXPECT_EQ(two["moment_bytes"], 16 << 20);
  EXPECT_NE(place.run("lexirow info one").out.find("4.0 MiB"), std::string::npos)
      << place.run("lexirow info one").out;
}

TEST(Near, ListsNeighboursWithoutTheQuery) {
  const Place place;
  place.add_model();
  const Json json = place.run("lexirow near model a e -k 3 --json").json();
  ASSERT_EQ(json["neighbours"].size(), 6U);
  for (const Json& entry : json["neighbours"]) {
    expect_keys(entry, {"query", "token", "id", "cosine", "distance"});
    EXPECT_NE(entry["query"], entry["token"]);
  }
  EXPECT_GE(json["neighbours"][0]["cosine"], json["neighbours"][1]["cosine"]);
}

TEST(Near, FindsTokensAsTablesShowThem) {
  const Place place;
  place.add_model();
  EXPECT_EQ(place.run("lexirow near model '\\n' -k 1").code, 0);
  EXPECT_EQ(place.run("lexirow near model ' ' -k 1").code, 0);
  // Ids of characters are in code point order: the line end is 0.
  EXPECT_EQ(place.run("lexirow near model '\\n' -k 4").out,
            place.run("lexirow near model --id 0 -k 4").out);
  // However a blank is shown or escaped, or written by byte letters.
  const std::string blank =
      place.run("lexirow near model ' ' -k 3 --json").json()["neighbours"].dump();
  for (const char* spelling : {"\xE2\x90\xA3", "\\x20", "\\u0020", "\xC4\xA0"}) {
    const Outcome run = place.run(std::string("lexirow near model '") + spelling + "' -k 3 --json");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.json()["neighbours"][0]["id"], Json::parse(blank)[0]["id"]) << spelling;
  }
  const Json text = place.run("lexirow near model --text 'at sea' -k 100 --json").json();
  for (const Json& entry : text["neighbours"]) EXPECT_NE(entry["token"], "s");
}

TEST(Similar, SaysWhyACosineIsUndefined) {
  const Place place;
  const Json same = place.run("lexirow similar --vectors 1,0 2,0 --json").json();
  EXPECT_EQ(same["dot"], 2);
  EXPECT_EQ(same["cosine"], 1);
  EXPECT_EQ(same["euclidean"], 1);
  EXPECT_EQ(same["norms"], Json({1.0, 2.0}));
  EXPECT_TRUE(same["reason"].is_null());
  const Json none = place.run("lexirow similar --vectors -1,0 0,0 --json").json();
  EXPECT_TRUE(none["cosine"].is_null());
  EXPECT_TRUE(none["reason"].is_string());
  EXPECT_NE(place.run("lexirow similar --vectors -1,0 0,0").out.find("undefined"),
            std::string::npos);
}

TEST(Check, HoldsForAModelAndSaysWhatDoesNotApply) {
  const Place place;
  place.add_model();
  const Outcome run = place.run("lexirow check model --json");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  const Json json = run.json();
  expect_keys(json, {"checks", "skipped", "passed"});
  EXPECT_EQ(json["passed"], true);
  std::string save_load;
  for (const Json& check : json["checks"]) {
    expect_keys(check, {"name", "passed", "figure", "limit"});
    if (check["name"] == "save-load") save_load = check["text"].dump();
  }
  // The checks of a model save and open a whole folder, those of an architecture its tensors.
  EXPECT_NE(save_load.find("Of the model folder"), std::string::npos) << save_load;
  ASSERT_EQ(place.run("rm my.txt").code, 0);
  const Outcome without = place.run("lexirow check model");
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_NE(without.err.find("built-in ids"), std::string::npos) << without.err;
}

TEST(Check, FailsForAModelThatSeesTheFuture) {
  const Place place;
  place.add_model("--mixer centred --allow-leak");
  const Outcome run = place.run("lexirow check model");
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_NE(run.out.find("FAILED"), std::string::npos) << run.out;
  const Outcome text = place.run("lexirow generate model --prompt a");
  EXPECT_EQ(text.code, 1);
  EXPECT_NE(text.err.find("centred"), std::string::npos) << text.err;
}

TEST(Verbs, TakeWordsThatLookLikeOptionsOrLists) {
  const Place place;
  place.write("-k", "x");
  EXPECT_EQ(place.run("lexirow tokenize --tokenizer byte -- -k").out, "120\n");
  place.write("[a,b]", "y");
  EXPECT_EQ(place.run("lexirow tokenize '[a,b]' --tokenizer byte").out, "121\n");
  place.write("steps=1", "z");
  EXPECT_EQ(place.run("lexirow tokenize steps=1 --tokenizer byte").out, "122\n");
  place.add_model();
  EXPECT_EQ(place.run("lexirow generate model --prompt= --tokens 0").out, "\n");
  EXPECT_EQ(place.run("lexirow generate model --prompt '[a]' --tokens 0").code, 1);
  EXPECT_EQ(place.run("lexirow near model -k 2 --json -- a").json()["neighbours"].size(), 2U);
  EXPECT_NE(place.run("lexirow info model --limit 3").err.find("--limit is for tables"),
            std::string::npos);
}

TEST(Eval, MeasuresATableByWordLists) {
  const Place place;
  place.write("v.vec", "4 2\nsun 1 0\nmoon 1 0.1\nfish 0 1\nbird 0.3 1\n");
  place.write("pairs", "sun\tmoon\t9\nSun\tfish\t1\nsun\tbird\t2\nsun\tcomet\t4\n");
  const Outcome text = place.run("lexirow eval v.vec --similarity pairs");
  EXPECT_EQ(text.out, "Spearman 1.0000 over the 3 pairs found of 4\n");
  EXPECT_NE(text.err.find("1 word without a row: comet"), std::string::npos) << text.err;
  const Json json = place.run("lexirow eval v.vec --similarity pairs --json").json();
  EXPECT_DOUBLE_EQ(json["spearman"].get<double>(), 1);
  EXPECT_EQ(json["found"], 3);
  EXPECT_EQ(json["missing"], Json({"comet"}));
  EXPECT_EQ(json["zero"], Json::array());
  EXPECT_EQ(place.run("cat pairs | lexirow eval v.vec --similarity -").out, text.out);
  place.write("questions", ": light\nsun moon fish bird\n");
  place.write("absent", "sun moon star light\n");
  EXPECT_NE(
      place.run("lexirow eval v.vec --analogy absent").err.find("2 words without a row: star"),
      std::string::npos);
  const Json analogy = place.run("lexirow eval v.vec --analogy questions --json").json();
  EXPECT_EQ(analogy["asked"], 1);
  EXPECT_EQ(analogy["sections"][0]["section"], "light");
  EXPECT_EQ(place.run("lexirow eval v.vec pairs --similarity pairs").code, 2);
  EXPECT_EQ(place.run("lexirow eval model my.txt --limit 3").code, 2);
  EXPECT_EQ(place.run("lexirow eval v.vec --similarity pairs --analogy questions").code, 2);
}

}  // namespace
}  // namespace lexirow::cli_test
