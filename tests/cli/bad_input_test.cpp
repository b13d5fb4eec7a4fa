#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

/// A command that must fail: its exit code and what its sentence must say.
struct BadInput {
  std::string name;
  std::string command;
  int code;
  std::vector<std::string> said;
};

void PrintTo(const BadInput& bad, std::ostream* out) {
  *out << bad.command;
}

class BadInputTest : public testing::TestWithParam<BadInput> {};

void expect_refused(const Place& place, const BadInput& bad) {
  const Outcome run = place.run(bad.command);
  EXPECT_EQ(run.code, bad.code) << bad.command << '\n' << run.err;
  for (const std::string& said : bad.said) {
    EXPECT_NE(run.err.find(said), std::string::npos) << bad.command << "\nwants: " << said << '\n'
                                                     << run.err;
  }
  EXPECT_EQ(run.err.find("terminate called"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("unexpected failure"), std::string::npos) << run.err;
}

TEST_P(BadInputTest, EndsInOneSentenceAndTheRightCode) {
  const Place place;
  place.add_text();
  place.write("empty.txt", "");
  place.write("short.txt", "one line");
  place.write("config.json", "{\"dims\": 3}");
  std::filesystem::create_directory(place.path("void"));
  std::filesystem::create_directory(place.path("other"));
  place.write("other/notes.txt", "keep me");
  expect_refused(place, GetParam());
  EXPECT_EQ(place.read("other/notes.txt"), "keep me");
}

std::string name_of(const testing::TestParamInfo<BadInput>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Usage, BadInputTest,
    testing::Values(
        BadInput{"Nothing", "lexirow", 2, {"Usage", "train", "generate"}},
        BadInput{"UnknownVerb", "lexirow trian my.txt", 2, {"trian", "Did you mean train?"}},
        BadInput{"FlagBeforeVerb", "lexirow --steps 3 train", 2, {"verb comes first"}},
        BadInput{"UnknownFlag", "lexirow train my.txt --out m --step 5", 2, {"--step", "--steps"}},
        BadInput{"UnknownFlagWithValue",
                 "lexirow train my.txt --out m --bacth=5",
                 2,
                 {"--bacth", "--batch"}},
        BadInput{"Undashed", "lexirow train device=cpu --out m", 2, {"device=cpu", "--device cpu"}},
        BadInput{"UndashedOption", "lexirow train my.txt --out m steps=100", 2, {"--steps 100"}},
        BadInput{"UndashedUnderscore",
                 "lexirow train my.txt --out m weight_decay=0",
                 2,
                 {"--weight-decay 0"}},
        BadInput{"UndashedInEval", "lexirow eval threads=2 my.txt", 2, {"--threads 2"}},
        BadInput{"NoCorpus", "lexirow train --out m", 2, {"CORPUS"}},
        BadInput{"NoOut", "lexirow train my.txt", 2, {"--out"}},
        BadInput{"NoModel", "lexirow info", 2, {"MODEL"}},
        BadInput{"NoFile", "lexirow eval model", 2, {"FILE"}},
        BadInput{"Surplus", "lexirow info model more", 2, {"more"}},
        BadInput{"ValueMissing", "lexirow train my.txt --out m --steps", 2, {"--steps N"}},
        BadInput{"ValuesMissing",
                 "lexirow similar --vectors 1,0",
                 2,
                 {"too few values", "--vectors X,Y,..."}},
        BadInput{"EmptyName", "lexirow train '' --out m", 2, {"CORPUS", "empty"}},
        BadInput{
            "StepsAreAWord", "lexirow train my.txt --out m --steps many", 2, {"--steps", "many"}},
        BadInput{"StepsAreHalf", "lexirow train my.txt --out m --steps 1.5", 2, {"--steps", "1.5"}},
        BadInput{"BatchNegative", "lexirow train my.txt --out m --batch -1", 2, {"--batch", "-1"}},
        BadInput{"ContextZero", "lexirow train my.txt --out m --context 0", 2, {"--context"}},
        BadInput{"RateZero", "lexirow train my.txt --out m --lr 0", 2, {"--lr"}},
        BadInput{"MixerUnknown", "lexirow train my.txt --out m --mixer sum", 2, {"sum", "mean"}},
        BadInput{"MixerLeaks", "lexirow train my.txt --out m --mixer centred", 2, {"--allow-leak"}},
        BadInput{"LazyTied",
                 "lexirow train my.txt --out m --tied --row-updates lazy",
                 2,
                 {"lazy", "tied"}},
        BadInput{"OptimizerUnknown",
                 "lexirow train my.txt --out m --optimizer adam",
                 2,
                 {"adam", "adamw"}},
        BadInput{
            "ThreadsZero", "lexirow train my.txt --out m --threads 0", 2, {"--threads 0", "1"}},
        BadInput{"ThreadsHuge", "lexirow check --threads 99999999999", 2, {"--threads"}},
        BadInput{
            "TokenizerDecodeChar", "echo 1 2 | lexirow tokenize --decode", 2, {"--tokenizer FILE"}},
        BadInput{"SplitUnknown",
                 "lexirow tokenize my.txt --tokenizer word --word-split lines",
                 2,
                 {"--word-split", "unicode or space"}},
        BadInput{"SplitWithoutWords",
                 "lexirow tokenize my.txt --word-split space",
                 2,
                 {"--word-split", "--tokenizer word"}},
        BadInput{"CountWithoutWords",
                 "lexirow train my.txt --out m --tokenizer char --min-count 2",
                 2,
                 {"--min-count", "--tokenizer word"}},
        BadInput{"VectorsUneven", "lexirow similar --vectors 1,0 2,0,3", 2, {"2 and 3"}},
        BadInput{"VectorsOdd", "lexirow similar --vectors 1,x 2,0", 2, {"1,x"}},
        BadInput{"VectorsOne", "lexirow similar --vectors 1,0", 2, {"--vectors"}},
        BadInput{"SimilarAlone", "lexirow similar model the", 2, {"B is missing"}},
        BadInput{"TextWithoutModel", "lexirow check --text my.txt", 2, {"MODEL"}},
        BadInput{"ReplayNothing", "lexirow replay", 2, {"FILE"}},
        BadInput{"CompletionShell", "lexirow completion fish", 2, {"bash"}},
        BadInput{
            "LogAndJson", "lexirow train my.txt --out m --json --log-json -", 2, {"--log-json"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Failure, BadInputTest,
    testing::Values(
        BadInput{"MissingFile", "lexirow train no-such.txt --out m", 1, {"no-such.txt"}},
        BadInput{"MissingFileTokenize", "lexirow tokenize no-such.txt", 1, {"no-such.txt"}},
        BadInput{"FolderTokenize", "lexirow tokenize void", 1, {"void", "folder"}},
        BadInput{"FolderWithoutText", "lexirow train void --out m", 1, {"void"}},
        BadInput{"EmptyCorpus", "lexirow train empty.txt --out m", 1, {"0 bytes"}},
        BadInput{"EmptyTokenize", "lexirow tokenize empty.txt", 1, {"0 bytes"}},
        BadInput{"ShortCorpus",
                 "lexirow train short.txt --out m --preset plain --context 64",
                 1,
                 {"8", "64", "7"}},
        BadInput{"SizeOverflows",
                 "lexirow train my.txt --out m --preset plain --dim 1000000000",
                 1,
                 {"--dim 1000000000", "63 bits"}},
        BadInput{
            "EmptyValidationFile",
            "lexirow train my.txt --out m --preset plain --steps 1 --validation-file empty.txt",
            1,
            {"empty.txt", "0 tokens"}},
        BadInput{"StrictNamesTheFile",
                 "printf 'a\\xffb' > bad.txt; lexirow train my.txt bad.txt --out m --preset plain "
                 "--strict",
                 1,
                 {"bad.txt: line 1, column 2"}},
        BadInput{"MissingModel", "lexirow info no-model", 1, {"no-model"}},
        BadInput{"FolderIsNoModel", "lexirow generate void --prompt a", 1, {"void"}},
        BadInput{"FileIsNoTable", "lexirow info my.txt", 1, {"my.txt", "no table", "line 1"}},
        BadInput{"ResumeNothing", "lexirow train --out m --resume", 1, {"m"}},
        BadInput{
            "UnwritableOutput", "lexirow train my.txt --out my.txt/m --steps 1", 1, {"my.txt/m"}},
        BadInput{"OutputExists", "lexirow train my.txt --out other --steps 1", 1, {"other"}},
        BadInput{"ForceKeepsOthers",
                 "lexirow train my.txt --out other --steps 1 --force",
                 1,
                 {"other", "no Lexirow model"}},
        BadInput{"ConfigUnknownKey",
                 "lexirow train my.txt --out m --config config.json",
                 1,
                 {"config.json", "dims"}},
        BadInput{
            "ConfigMissing", "lexirow train my.txt --out m --config none.json", 1, {"none.json"}},
        BadInput{"ConfigNoJson",
                 "lexirow train my.txt --out m --config my.txt",
                 1,
                 {"my.txt: not valid JSON: parse"}},
        BadInput{"Diverges",
                 "lexirow train my.txt --out m --preset plain --optimizer sgd --lr 1e30 --steps 50",
                 1,
                 {"step", "1e+30"}},
        BadInput{"NegativeId",
                 "echo 3 -1 2 | lexirow tokenize --decode --tokenizer byte",
                 1,
                 {"-1", "position 1", "256"}},
        BadInput{"IdTooLarge",
                 "echo 3,256 | lexirow tokenize --decode --tokenizer byte",
                 1,
                 {"256", "position 1"}},
        BadInput{"IdHuge",
                 "echo 99999999999999999999 | lexirow tokenize --decode --tokenizer byte",
                 1,
                 {"position 0", "256"}},
        BadInput{"IdOf32Bits",
                 "echo 4294967296 | lexirow tokenize --decode --tokenizer byte",
                 1,
                 {"4294967296", "256"}},
        BadInput{"FloatIds",
                 "echo 1.0 2.0 | lexirow tokenize --decode --tokenizer byte",
                 1,
                 {"1.0", "whole numbers", "astype(int)"}},
        BadInput{"TokenizerNoJson",
                 "lexirow tokenize my.txt --tokenizer my.txt",
                 1,
                 {"my.txt", "tokenizer.json"}},
        BadInput{"OutputFull",
                 "lexirow tokenize my.txt --tokenizer byte >/dev/full",
                 1,
                 {"standard output"}},
        BadInput{"StrictUtf8", "printf 'a\\xffb' | lexirow tokenize --strict", 1, {"UTF-8"}}),
    name_of);

TEST(BadInputWithModel, IsRefused) {
  const Place place;
  place.add_model();
  const std::vector<BadInput> table = {
      {"", "lexirow generate model --prompt a --top-k 0", 2, {"--top-k 0"}},
      {"", "lexirow generate model --prompt a --top-k -3", 2, {"--top-k -3"}},
      {"", "lexirow generate model --prompt a --top-p 1.5", 2, {"1.5"}},
      {"", "lexirow generate model --prompt a --top-p 0", 2, {"0"}},
      {"", "lexirow generate model --prompt a --temperature -1", 2, {"--temperature -1"}},
      {"", "lexirow generate model --prompt a --temperature nan", 2, {"--temperature"}},
      {"", "lexirow generate model --prompt a --tokens -1", 2, {"--tokens -1"}},
      {"", "lexirow generate model --prompt a --prompt-file my.txt", 2, {"--prompt-file"}},
      {"", "lexirow generate model --prompt 'The QX'", 1, {"Q", "U+0051", "column 5"}},
      {"", "lexirow near model", 2, {"TOKEN"}},
      {"", "lexirow near model Q", 1, {"Q", "vocabulary"}},
      {"", "lexirow near model a k=3", 2, {"--k 3"}},
      {"", "lexirow near model a -k 0", 2, {"-k 0"}},
      {"", "lexirow near model --id -1", 1, {"-1"}},
      {"", "lexirow near model --id 1000", 1, {"1000"}},
      {"", "lexirow eval model none.txt", 1, {"none.txt"}},
      {"", "lexirow eval model .empty", 1, {"2 tokens"}},
      {"", "lexirow train my.txt --out model --steps 1", 1, {"model", "--force"}},
      {"", "lexirow train --out model --resume --dim 9", 2, {"--dim"}},
      {"", "lexirow check model --text none.txt", 1, {"none.txt"}},
      {"", "lexirow check model --text .nothing", 1, {".nothing", "no text"}},
      {"", "lexirow check model --text .foreign", 1, {".foreign", "U+0051"}},
      {"", "lexirow eval model .foreign", 1, {".foreign", "U+0051"}},
  };
  place.write(".empty", "a");
  place.write(".nothing", "");
  place.write(".foreign", "Q");
  const std::string before = place.read("model/model.safetensors");
  for (const BadInput& bad : table) expect_refused(place, bad);
  EXPECT_EQ(place.read("model/model.safetensors"), before);
}

TEST(BadInputWithModel, NearNamesCloseSpellings) {
  const Place place;
  place.add_model("--tokenizer word");
  expect_refused(place, {"", "lexirow near model harbor", 1, {"harbor", "harbour"}});
}

TEST(BadInputWithModel, AVocabularyLargerThanTheTableIsRefused) {
  const Place place;
  place.add_model();
  place.write("more.txt", place.read("my.txt") + "0123456789");
  ASSERT_EQ(place.run("lexirow train more.txt --out larger --preset plain --steps 1").code, 0);
  ASSERT_EQ(place.run("cp larger/tokenizer.json model/tokenizer.json").code, 0);
  expect_refused(place, {"", "lexirow generate model --prompt a", 1, {"model"}});
}

}  // namespace
}  // namespace lexirow::cli_test
