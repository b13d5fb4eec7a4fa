#include "lexirow/language_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "generate/stream.h"
#include "lexirow/error.h"
#include "lexirow/version.h"
#include "model/parameters.h"
#include "store/model_folder.h"
#include "text/vocabulary.h"

namespace lexirow {
namespace {

/// A drawn, untrained model over the letters of "abcd " with a pad row, and one row more than the
/// tokenizer has tokens.
class LanguageModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::temp_directory_path() /
             (std::string("lexirow_api_") + std::to_string(getpid()) + "_" + info->name()))
                .string();
    text::VocabularyOptions options;
    options.pad = true;
    text::VocabularyBuilder builder(options);
    builder.push("abcd abcd");
    builder.end_file();
    text::VocabularyReport report;
    folder_.tokenizer = builder.build(report);
    folder_.path = path_;
    folder_.config.vocab_size = folder_.tokenizer->vocab_size() + 1;
    folder_.config.dim = 3;
    folder_.config.hidden = 5;
    folder_.config.mixer = context::parse_mixer("concat:2");
    folder_.config.pad_id = folder_.tokenizer->specials().pad;
    folder_.parameters = model::Parameters<float>(folder_.config);
    model::initialize(folder_.config, 7, model::Init::torch, folder_.parameters);
    folder_.ledger = rows::Ledger(folder_.config.vocab_size);
    store::save_model(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  Id id(const char* token) const { return folder_.tokenizer->find(token).value(); }

  std::string path_;
  store::ModelFolder folder_;
};

ErrorKind kind_of(const std::function<void()>& call, const std::vector<std::string>& words) {
  try {
    call();
  } catch (const Error& error) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::io;
}

TEST_F(LanguageModelTest, OpensAndTellsItsSizes) {
  const LanguageModel model = LanguageModel::open(path_, 1);
  EXPECT_EQ(model.vocab_size(), 7);
  EXPECT_EQ(model.dim(), 3);
}

TEST_F(LanguageModelTest, EncodesAndDecodes) {
  const LanguageModel model = LanguageModel::open(path_, 1);
  const std::vector<std::int32_t> ids = model.encode("bad dad");
  EXPECT_EQ(ids.size(), 7U);
  EXPECT_EQ(ids[0], id("b"));
  EXPECT_EQ(model.decode(ids), "bad dad");
}

TEST_F(LanguageModelTest, RowsAreThoseOfTheTable) {
  const LanguageModel model = LanguageModel::open(path_, 1);
  const std::vector<float> row = model.row(id("c"));
  const auto expected = folder_.parameters.token_embedding()[id("c")];
  EXPECT_EQ(row, std::vector<float>(expected.begin(), expected.end()));
  EXPECT_EQ(kind_of([&] { model.row(7); }, {"7", "0 to 6"}), ErrorKind::index);
  EXPECT_EQ(kind_of([&] { model.row(-1); }, {"-1"}), ErrorKind::index);
}

TEST_F(LanguageModelTest, NeighboursAreOrderedAndLeaveOutWhatIsNoText) {
  const LanguageModel model = LanguageModel::open(path_, 1);
  const std::vector<Neighbour> near = model.nearest("a", 100);
  ASSERT_EQ(near.size(), 4U);  // b, c, d and the space: not a itself, the pad or the surplus row
  const std::vector<float> query = model.row(id("a"));
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) {
      EXPECT_LE(near[i].cosine, near[i - 1].cosine);
    }
    EXPECT_EQ(near[i].id, folder_.tokenizer->find(near[i].token).value());
    const std::vector<float> row = model.row(near[i].id);
    double dot = 0, query_norm = 0, row_norm = 0, distance = 0;
    for (std::size_t d = 0; d < row.size(); ++d) {
      const double a = query[d], b = row[d];
      dot += a * b;
      query_norm += a * a;
      row_norm += b * b;
      distance += (a - b) * (a - b);
    }
    EXPECT_NEAR(near[i].cosine, dot / std::sqrt(query_norm * row_norm), 1e-6);
    EXPECT_NEAR(near[i].distance, std::sqrt(distance), 1e-6);
  }
  EXPECT_EQ(model.nearest("a", 2).size(), 2U);
}

TEST_F(LanguageModelTest, AsksForWhatExists) {
  const LanguageModel model = LanguageModel::open(path_, 1);
  EXPECT_EQ(kind_of([&] { model.nearest("A"); }, {"\"A\"", "a"}), ErrorKind::argument);
  EXPECT_EQ(kind_of([&] { model.nearest("a", 0); }, {"k is 0"}), ErrorKind::argument);
  EXPECT_EQ(kind_of([&] { model.encode("z"); }, {"z"}), ErrorKind::argument);
  EXPECT_EQ(kind_of([&] { LanguageModel::open(path_, -1); }, {"-1"}), ErrorKind::argument);
  EXPECT_EQ(kind_of([&] { LanguageModel::open(path_ + "-none"); }, {path_ + "-none"}),
            ErrorKind::io);
}

TEST_F(LanguageModelTest, ScoresAreThoseOfTheStream) {
  const LanguageModel model = LanguageModel::open(path_, 1);
  base::ThreadPool pool(1);
  generate::Stream stream(pool, folder_.config, folder_.parameters);
  EXPECT_EQ(model.next_token_scores(""), stream.logits());
  for (const Id next : folder_.tokenizer->encode("ab")) stream.push(next);
  EXPECT_EQ(model.next_token_scores("ab"), stream.logits());
}

TEST_F(LanguageModelTest, GreedyTextFollowsTheBestScore) {
  const LanguageModel model = LanguageModel::open(path_, 1);
  GenerateOptions options;
  options.tokens = 4;
  options.temperature = 0;
  std::string text = "ab";
  for (int i = 0; i < 4; ++i) {
    const std::vector<float> scores = model.next_token_scores(text);
    Id best = 0;
    for (Id candidate = 1; candidate < 5; ++candidate) {
      if (scores[static_cast<std::size_t>(candidate)] > scores[static_cast<std::size_t>(best)]) {
        best = candidate;
      }
    }
    text += model.decode({best});
  }
  EXPECT_EQ("ab" + model.generate("ab", options), text);
}

TEST_F(LanguageModelTest, TheSameSeedGivesTheSameTextForAnyThreads) {
  const LanguageModel one = LanguageModel::open(path_, 1);
  const LanguageModel three = LanguageModel::open(path_, 3);
  GenerateOptions options;
  options.tokens = 200;
  const std::string text = one.generate("a", options);
  EXPECT_EQ(text.size(), 200U);  // neither the pad nor the surplus row was drawn
  EXPECT_EQ(text.find_first_not_of("abcd "), std::string::npos);
  EXPECT_EQ(three.generate("a", options), text);
  options.seed = 2;
  EXPECT_NE(one.generate("a", options), text);
}

TEST_F(LanguageModelTest, RefusesOptionsOutOfRange) {
  const LanguageModel model = LanguageModel::open(path_, 1);
  GenerateOptions options;
  options.tokens = -1;
  EXPECT_EQ(kind_of([&] { model.generate("a", options); }, {"-1"}), ErrorKind::argument);
  options.tokens = 1;
  options.temperature = -1;
  EXPECT_EQ(kind_of([&] { model.generate("a", options); }, {"-1"}), ErrorKind::argument);
}

TEST_F(LanguageModelTest, Moves) {
  LanguageModel model = LanguageModel::open(path_, 1);
  LanguageModel other = std::move(model);
  model = std::move(other);
  EXPECT_EQ(model.dim(), 3);
}

TEST(Version, IsThatOfTheHeaders) {
  EXPECT_EQ(std::string(kVersion), std::to_string(kVersionMajor) + "." +
                                       std::to_string(kVersionMinor) + "." +
                                       std::to_string(kVersionPatch));
}

}  // namespace
}  // namespace lexirow
