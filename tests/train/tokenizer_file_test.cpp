#include <gtest/gtest.h>

#include "store/model_folder.h"
#include "train/sizes.h"
#include "train_support.h"

// --tokenizer FILE brings a vocabulary of its own: options that make one have to agree with it.

namespace lexirow::train {
namespace {

using testing::TempFolder;

class TokenizerFile : public ::testing::Test {
 protected:
  TokenizerFile() {
    folder_.write("text.txt", small_text(60));
    QuietRun()(small_request(folder_, "words",
                             {{"tokenizer", "word"}, {"word-split", "space"}, {"pad", "true"}}));
    QuietRun()(small_request(folder_, "chars", {{"eos", "true"}}));
  }
  /// A run with the vocabulary of that model.
  TrainRequest request(const std::string& model, Given given) {
    given.emplace_back("tokenizer", folder_.path(model));
    return small_request(folder_, "m" + std::to_string(++runs_), given);
  }
  void expect_refused(const std::string& model, const Given& given, const std::string& option,
                      const std::string& reason) {
    const TrainRequest wanted = request(model, given);
    try {
      QuietRun()(wanted);
      ADD_FAILURE() << option << " was taken";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.kind(), ErrorKind::argument) << text;
      EXPECT_TRUE(text.starts_with(option)) << text;
      EXPECT_NE(text.find(reason), std::string::npos) << text;
    }
  }

  TempFolder folder_;
  int runs_ = 0;
};

TEST_F(TokenizerFile, RefusesOptionsThatItContradicts) {
  expect_refused("words", {{"min-count", "2"}}, "--min-count:", "--tokenizer word");
  expect_refused("words", {{"max-vocab", "9"}}, "--max-vocab:", "--tokenizer word");
  expect_refused("words", {{"word-split", "unicode"}}, "--word-split unicode:", "by space");
  expect_refused("chars", {{"word-split", "space"}}, "--word-split space:", "of kind char");
  expect_refused("chars", {{"pad", "true"}}, "--pad:", "has no <pad>; leave out --pad");
  expect_refused("words", {{"pad", "false"}}, "--no-pad:", "has <pad>");
  expect_refused("chars", {{"unk", "true"}}, "--unk:", "has no <unk>");
  expect_refused("words", {{"bos", "true"}}, "--bos:", "has no <bos>");
  expect_refused("words", {{"eos", "true"}}, "--eos:",
                 "leave out --eos, or make a vocabulary that has it: --eos with --tokenizer char");
}

TEST_F(TokenizerFile, TakesOptionsThatAgree) {
  const TrainRequest words =
      request("words", {{"word-split", "space"}, {"pad", "true"}, {"unk", "true"}});
  QuietRun()(words);
  QuietRun()(request("chars", {{"eos", "true"}}));

  // What was taken over stands in the settings, so that the stored command says the same again.
  const TrainRequest silent = request("words", {});
  QuietRun()(silent);
  const Settings settings = stored_settings(store::open_model(silent.out));
  EXPECT_EQ(settings.word_split, "space");
  EXPECT_TRUE(settings.pad);
  EXPECT_TRUE(settings.unk);
  EXPECT_FALSE(settings.eos);
  EXPECT_EQ(identical_parts(silent.out) == identical_parts(words.out), true);
}

// The presets for words set --min-count and --max-vocab: those are nobody's wish.
TEST_F(TokenizerFile, TakesAPreset) {
  TrainRequest wanted = request("words", {{"preset", "word"}, {"steps", "2"}});
  wanted.given.erase(wanted.given.begin());  // the plain preset
  QuietRun()(wanted);
  const Settings settings = stored_settings(store::open_model(wanted.out));
  EXPECT_EQ(settings.min_count, 1);
  EXPECT_EQ(settings.max_vocab, 0);
}

}  // namespace
}  // namespace lexirow::train
