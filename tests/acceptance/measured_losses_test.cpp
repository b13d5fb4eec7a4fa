// The losses of small language models that were measured in PyTorch before this library was written
// (../shared/cases/figures.md, "Language models"), trained again here: D 64, AdamW of rate 3e-3, 64
// windows a step at any place of the text, 1500 steps unless said otherwise. PyTorch drew its
// windows in another order, so losses agree to a few hundredths, not to their digits; entropies are
// counted and agree to their digits.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"
#include "text/vocabulary.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kDim = 64;
constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kSteps = 1500;

std::string shared_text(const std::string& name) {
  std::ifstream file(std::string(LEXIROW_SHARED_DIR) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A whole text, large or not. Words rarer than `min_count` are <unk>.
TextIds encode_whole(std::string_view text, text::TokenizerKind kind, std::int64_t min_count = 1) {
  text::VocabularyOptions options;
  options.kind = kind;
  options.min_count = min_count;
  text::VocabularyBuilder builder(options);
  builder.push(text);
  builder.end_file();
  text::VocabularyReport report;
  TextIds result;
  result.tokenizer = builder.build(report);
  result.ids = result.tokenizer->encode(text);
  return result;
}

/// One run on one text.
struct Training {
  std::string mixer;
  std::int64_t length = 8;
  std::int64_t batch = kBatch;
  std::int64_t steps = kSteps;
  std::int64_t stride = 1;
};

train::Settings settings_of(const Training& training) {
  train::Settings settings = trial_settings(training.mixer, training.length, kDim, training.batch,
                                            training.steps, /*seed=*/1);
  settings.stride = training.stride;
  return settings;
}

class LanguageModels : public ::testing::Test {
 protected:
  /// False where the text is absent.
  bool open(const std::string& name, text::TokenizerKind kind, std::int64_t min_count = 1) {
    const std::string bytes = shared_text(name);
    if (bytes.empty()) return false;
    text_ = encode_whole(bytes, kind, min_count);
    return true;
  }
  bool open_lantern(text::TokenizerKind kind) { return open("cases/lantern-bay.txt", kind); }

  double loss(const Training& training) {
    const train::Settings settings = settings_of(training);
    Trial trial(pool_, text_, settings);
    trial.train_to(training.steps);
    return trial.loss();
  }
  /// With windows that follow each other, so that every pair of the text counts once.
  Entropies entropies() {
    const train::Settings settings = settings_of({.mixer = "none", .stride = 0});
    return Trial(pool_, text_, settings).entropies();
  }

  base::ThreadPool pool_{1};
  TextIds text_;
};
/// The same on a text of a megabyte.
using SlowLanguageModels = LanguageModels;

TEST_F(LanguageModels, TheCurrentTokenStaysAtTheBigramEntropyAndTheMeanPassesIt) {
  if (!open_lantern(text::TokenizerKind::character)) GTEST_SKIP() << "../shared is absent";
  EXPECT_EQ(text_.vocab_size(), 24);
  const Entropies floor = entropies();
  EXPECT_EQ(floor.pairs, 10019);
  EXPECT_NEAR(floor.bigram, 1.642, 5e-4);
  const double none = loss({.mixer = "none"});
  EXPECT_GE(none, 1.650 - 0.003);
  EXPECT_LE(none, 1.666 + 0.003);
  EXPECT_NEAR(loss({.mixer = "mean"}), 0.906, 0.03);
}

// Longer pieces with as many labels a step: 512.
TEST_F(LanguageModels, OneMeanForTheWholePieceLearnsLessThanTheCausalOne) {
  if (!open_lantern(text::TokenizerKind::character)) GTEST_SKIP() << "../shared is absent";
  EXPECT_NEAR(loss({.mixer = "full-mean"}), 1.962, 0.02);
  EXPECT_NEAR(loss({.mixer = "mean", .length = 16, .batch = 32}), 1.03, 0.08);
  EXPECT_NEAR(loss({.mixer = "full-mean", .length = 16, .batch = 32}), 2.32, 0.02);
  EXPECT_NEAR(loss({.mixer = "mean", .length = 32, .batch = 16}), 1.39, 0.08);
  EXPECT_NEAR(loss({.mixer = "full-mean", .length = 32, .batch = 16}), 2.54, 0.02);
}

TEST_F(LanguageModels, TheMeanBeatsTheBigramEntropyOnShortPiecesOnly) {
  if (!open_lantern(text::TokenizerKind::character)) GTEST_SKIP() << "../shared is absent";
  const std::pair<std::int64_t, double> expected[] = {
      {4, 1.257}, {8, 1.308}, {16, 1.477}, {32, 1.805}, {64, 2.027}};
  const double floor = entropies().bigram;
  for (const auto& [length, figure] : expected) {
    const double found = loss({.mixer = "mean", .length = length, .steps = 400});
    // 400 steps are the steep part of the curve: another order of windows moves a loss by up to
    // 0.1.
    EXPECT_NEAR(found, figure, 0.12) << "T " << length;
    EXPECT_EQ(found < floor, figure < floor) << "T " << length;
  }
}

TEST_F(LanguageModels, TheCentredMeanSeesTheAnswerAndIsLostWithoutIt) {
  if (!open_lantern(text::TokenizerKind::character)) GTEST_SKIP() << "../shared is absent";
  const train::Settings settings =
      settings_of({.mixer = "centred", .length = 16, .batch = 32, .stride = 16});
  Trial trial(pool_, text_, settings);
  trial.train_to(kSteps);
  EXPECT_NEAR(trial.loss(), 0.361, 0.03);
  EXPECT_NEAR(trial.prefix_loss(), 2.461, 0.25);
}

TEST_F(LanguageModels, TheMeanOfWordsIsBelowTheBigramEntropyEarly) {
  if (!open_lantern(text::TokenizerKind::word)) GTEST_SKIP() << "../shared is absent";
  const double floor = entropies().bigram;
  EXPECT_NEAR(floor, 0.812, 5e-4);
  const train::Settings settings = settings_of({.mixer = "mean", .steps = 1200});
  Trial mean(pool_, text_, settings);
  mean.train_to(200);
  EXPECT_LT(mean.loss(), floor);
  mean.train_to(1200);
  EXPECT_NEAR(mean.loss(), 0.27, 0.02);
  EXPECT_GT(loss({.mixer = "none", .steps = 1200}), floor);
}

TEST_F(SlowLanguageModels, CharactersOfTinyShakespeare) {
  if (!open("corpora/tinyshakespeare.txt", text::TokenizerKind::character)) {
    GTEST_SKIP() << "../shared is absent";
  }
  EXPECT_NEAR(loss({.mixer = "mean", .stride = 8}), 2.662, 0.03);
  EXPECT_NEAR(loss({.mixer = "full-mean", .stride = 8}), 2.304, 0.03);
  EXPECT_NEAR(loss({.mixer = "mean", .length = 64, .stride = 64}), 3.061, 0.04);
  EXPECT_NEAR(loss({.mixer = "full-mean", .length = 64, .stride = 64}), 3.092, 0.04);
  EXPECT_NEAR(loss({.mixer = "centred", .length = 64, .stride = 64}), 0.68, 0.05);
}

// PyTorch's run had V 1093; the rule by which it cut words is not known, so losses are compared
// more loosely: 22 is the least count that leaves about as many of the unicode split.
TEST_F(SlowLanguageModels, WordsOfTinyShakespeareLeakThroughTheMeanOfAShortPiece) {
  if (!open("corpora/tinyshakespeare.txt", text::TokenizerKind::word, 22)) {
    GTEST_SKIP() << "../shared is absent";
  }
  EXPECT_NEAR(static_cast<double>(text_.vocab_size()), 1093, 20);
  EXPECT_NEAR(loss({.mixer = "mean", .stride = 8}), 4.46, 0.15);
  EXPECT_NEAR(loss({.mixer = "full-mean", .stride = 8}), 3.43, 0.15);
  EXPECT_NEAR(loss({.mixer = "none", .stride = 8}), 3.97, 0.15);
  EXPECT_NEAR(loss({.mixer = "mean", .length = 4, .stride = 4}), 4.27, 0.15);
  EXPECT_NEAR(loss({.mixer = "full-mean", .length = 4, .stride = 4}), 2.99, 0.15);
}

}  // namespace
}  // namespace lexirow::experiment
