#include "generate/generator.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "context/mixer.h"
#include "generate/stream.h"
#include "support/expect_error.h"
#include "text/vocabulary.h"

namespace lexirow::generate {
namespace {

using lexirow::testing::expect_error;

// Characters a b c d, then <pad> 4, <unk> 5, <bos> 6, <eos> 7; the table has two surplus rows.
class GeneratorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    text::VocabularyOptions options;
    options.pad = options.unk = options.bos = options.eos = true;
    text::VocabularyBuilder builder(options);
    builder.push("abcd");
    builder.end_file();
    text::VocabularyReport report;
    tokenizer_ = builder.build(report);
    make("mean");
  }

  void make(const std::string& mixer) {
    config_ = {};
    config_.vocab_size = 10;
    config_.dim = 8;
    config_.mixer = context::parse_mixer(mixer);
    config_.hidden = 16;
    config_.pad_id = 4;
    parameters_ = model::Parameters<float>(config_);
    model::initialize(config_, 3, model::Init::torch, parameters_);
  }

  GenerateResult run(const std::vector<Id>& prompt, const GenerateOptions& options) {
    return generate(pool_, config_, parameters_, *tokenizer_, prompt, options, {});
  }

  base::ThreadPool pool_{2};
  std::unique_ptr<text::Tokenizer> tokenizer_;
  model::ModelConfig config_;
  model::Parameters<float> parameters_;
};

// VOCAB-3
TEST_F(GeneratorTest, OnlyTextIsDrawn) {
  EXPECT_EQ(allowed_ids(config_, *tokenizer_),
            (std::vector<bool>{true, true, true, true, false, false, false, true, false, false}));
  // Even where the model prefers them.
  for (std::int64_t id : {4, 5, 6, 8, 9}) parameters_.head_bias()[id] = 30;
  for (double temperature : {0.0, 1.0}) {
    GenerateOptions options;
    options.tokens = 300;
    options.choice.temperature = temperature;
    for (Id id : run({0, 1}, options).ids) EXPECT_TRUE(id < 4 || id == 7) << id;
  }
}

TEST_F(GeneratorTest, GreedyFollowsTheArgMaxOfTheStream) {
  GenerateOptions options;
  options.tokens = 20;
  options.choice.temperature = 0;
  const GenerateResult result = run({0, 1, 2}, options);
  ASSERT_EQ(result.ids.size(), 20U);
  Stream stream(pool_, config_, parameters_);
  for (Id id : {0, 1, 2}) stream.push(id);
  const std::vector<bool> allowed = allowed_ids(config_, *tokenizer_);
  for (Id id : result.ids) {
    const std::vector<float>& logits = stream.logits();
    for (std::size_t other = 0; other < logits.size(); ++other) {
      if (!allowed[other]) continue;
      EXPECT_LE(logits[other], logits[static_cast<std::size_t>(id)]);
    }
    stream.push(id);
  }
  EXPECT_GT(result.tokens_per_second, 0);
  EXPECT_EQ(result.dropped_prompt_tokens, 0);
  EXPECT_EQ(result.unseen_prompt_tokens, 0);
}

TEST_F(GeneratorTest, OneSeedGivesOneTextAndEachTokenIsToldAtOnce) {
  GenerateOptions options;
  options.tokens = 50;
  std::vector<Id> told;
  const GenerateResult first =
      generate(pool_, config_, parameters_, *tokenizer_, std::vector<Id>{1}, options,
               [&](Id id) { told.push_back(id); });
  EXPECT_EQ(told, first.ids);
  EXPECT_EQ(run({1}, options).ids, first.ids);
  options.seed = 2;
  EXPECT_NE(run({1}, options).ids, first.ids);
  // An empty prompt is a prompt; so are no tokens.
  EXPECT_EQ(run({}, options).ids.size(), 50U);
  options.tokens = 0;
  const GenerateResult none = run({1}, options);
  EXPECT_TRUE(none.ids.empty());
  EXPECT_EQ(none.tokens_per_second, 0);
}

// TRAIN-16
TEST_F(GeneratorTest, ALongPromptIsCutOnlyWhereAsked) {
  const std::vector<Id> prompt(8000, 2);
  GenerateOptions options;
  options.tokens = 3;
  GenerateResult result = run(prompt, options);
  EXPECT_EQ(result.dropped_prompt_tokens, 0);
  EXPECT_EQ(result.unseen_prompt_tokens, 0);
  options.context = 1024;
  result = run(prompt, options);
  EXPECT_EQ(result.dropped_prompt_tokens, 6976);
  EXPECT_EQ(result.unseen_prompt_tokens, 0);
  EXPECT_EQ(run({0, 1}, options).dropped_prompt_tokens, 0);

  make("window:5");
  options.context = 0;
  result = run(prompt, options);
  EXPECT_EQ(result.dropped_prompt_tokens, 0);
  EXPECT_EQ(result.unseen_prompt_tokens, 7995);
  options.context = 1024;
  result = run(prompt, options);
  EXPECT_EQ(result.dropped_prompt_tokens, 6976);
  EXPECT_EQ(result.unseen_prompt_tokens, 1019);
  make("none");
  EXPECT_EQ(run({0, 1, 2}, options).unseen_prompt_tokens, 2);
}

TEST_F(GeneratorTest, AContextChangesWhatIsSeen) {
  GenerateOptions options;
  options.tokens = 40;
  options.choice.temperature = 0;
  options.context = 2;
  const std::vector<Id> cut = run({3, 3, 3, 0, 1}, options).ids;
  EXPECT_EQ(run({0, 1}, options).ids, cut);
}

TEST_F(GeneratorTest, StopsAtTheEndOnRequest) {
  parameters_.head_bias()[7] = 50;
  GenerateOptions options;
  options.tokens = 10;
  GenerateResult result = run({0}, options);
  EXPECT_EQ(result.ids, std::vector<Id>(10, 7));
  EXPECT_FALSE(result.stopped_at_eos);
  options.stop_at_eos = true;
  result = run({0}, options);
  EXPECT_TRUE(result.ids.empty());
  EXPECT_TRUE(result.stopped_at_eos);
}

TEST_F(GeneratorTest, RefusesOptionsOutOfRange) {
  GenerateOptions options;
  options.tokens = -1;
  expect_error(ErrorKind::argument, {"tokens", "-1"}, [&] { run({0}, options); });
  options.tokens = 1;
  options.context = -1;
  expect_error(ErrorKind::argument, {"context", "-1"}, [&] { run({0}, options); });
  options.context = 0;
  options.choice.top_p = 0;
  expect_error(ErrorKind::argument, {"top-p"}, [&] { run({0}, options); });
  expect_error(ErrorKind::index, {"id 10", "10 rows"}, [&] { run({10}, {}); });
}

}  // namespace
}  // namespace lexirow::generate
