#include "measure/plan.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "store/model_folder.h"
#include "support/expect_error.h"
#include "train/train_support.h"

namespace lexirow::measure {
namespace {

using testing::TempFolder;

Plan plan_of(const PlanRequest& request) {
  base::ThreadPool pool(2);
  return make_plan(pool, request, [](const std::string&) {});
}

TEST(Plan, OfAVocabularyIsTheArithmetic) {
  PlanRequest request;
  request.vocab_size = 4096;
  request.given = {{"dim", "256"}, {"mixer", "none"}, {"bias", "false"}, {"steps", "100"}};
  request.probe_seconds = 0;
  Plan plan = plan_of(request);
  EXPECT_EQ(plan.sizes.parameters, 2 * 1048576);
  EXPECT_EQ(plan.sizes.weight_bytes, std::int64_t{8} << 20);
  ASSERT_EQ(plan.tensors.size(), 2U);
  EXPECT_EQ(plan.tensors[1].name, "lm_head.weight");
  EXPECT_EQ(plan.tensors[1].shape, (std::vector<std::int64_t>{4096, 256}));
  EXPECT_EQ(plan.steps, 100);
  EXPECT_EQ(plan.tokens, 100 * 32 * 64);
  EXPECT_FALSE(plan.estimated_seconds);
  EXPECT_FALSE(plan.corpus);
  // Passes over a text cannot be counted without one.
  request.given = {{"epochs", "2"}};
  EXPECT_EQ(plan_of(request).steps, 0);
  request.probe_seconds = 0.05;
  request.given = {{"dim", "8"}, {"steps", "40"}};
  request.vocab_size = 100;
  plan = plan_of(request);
  EXPECT_GT(plan.step_seconds, 0);
  EXPECT_DOUBLE_EQ(plan.estimated_seconds.value(), 40 * plan.step_seconds);
  request.given = {{"dim", "8"}, {"minutes", "1"}};
  plan = plan_of(request);
  EXPECT_EQ(plan.steps, static_cast<std::int64_t>(60 / plan.step_seconds));
}

// What a plan says of a corpus is what a run then does.
TEST(Plan, OfACorpusIsWhatARunDoes) {
  const TempFolder folder;
  folder.write("text.txt", train::small_text(80) + "quiz zebra quiz zebra");
  const std::vector<train::Given> kinds = {
      {{"epochs", "2"}, {"steps", "0"}},
      {{"epochs", "1"}, {"steps", "0"}, {"documents", "line"}},
      {{"tokenizer", "word"}, {"min-count", "3"}, {"epochs", "1"}, {"steps", "0"}},
      {{"epochs", "1"}, {"steps", "0"}, {"context", "5"}, {"stride", "3"}, {"tied", "true"}}};
  for (const train::Given& kind : kinds) {
    train::TrainRequest run = train::small_request(folder, "model", kind);
    PlanRequest request;
    request.corpus = run.corpus;
    request.given = run.given;
    request.probe_seconds = 0;
    const Plan plan = plan_of(request);
    EXPECT_FALSE(std::filesystem::exists(folder.path("model"))) << "a plan writes nothing";
    const train::TrainResult result = train::QuietRun()(run);
    EXPECT_EQ(plan.steps, result.steps);
    EXPECT_EQ(plan.vocab_size, result.vocab_size);
    EXPECT_EQ(plan.sizes.parameters, result.parameters);
    EXPECT_NEAR(static_cast<double>(plan.tokens), static_cast<double>(result.tokens), 1);
    const store::ModelFolder model = store::open_model(folder.path("model"));
    const auto never =
        std::count(model.ledger.updates.begin(), model.ledger.updates.end(), std::int64_t{0});
    EXPECT_EQ(plan.corpus->untouched, never) << kind[0].second;
    std::filesystem::remove_all(folder.path("model"));
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"text.txt"}));
}

// The rows of the very batches that training draws.
TEST(Plan, CountsTheRowsThatAFewStepsDoNotRead) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "w" + std::to_string(i % 97) + " v" + std::to_string(i * i % 89) + (i % 7 ? " " : "\n");
  }
  folder.write("text.txt", text);
  base::ThreadPool pool(2);
  for (const char* documents : {"stream", "line"}) {
    for (const char* stride : {"2", "3", "4"}) {
      for (const char* steps : {"1", "3", "6"}) {
        PlanRequest request;
        request.corpus = {folder.path("text.txt")};
        request.probe_seconds = 0;
        request.given = {
            {"preset", "plain"}, {"tokenizer", "word"},    {"min-count", "1"}, {"dim", "4"},
            {"hidden", "0"},     {"context", "4"},         {"stride", stride}, {"batch", "5"},
            {"steps", steps},    {"documents", documents}, {"seed", "5"}};
        const Plan plan = make_plan(pool, request, [](const std::string&) {});
        train::TrainRequest wish;
        wish.corpus = request.corpus;
        wish.given = request.given;
        wish.out = folder.path("model");
        train::QuietRun run;
        run(wish);
        const store::ModelFolder model = store::open_model(folder.path("model"));
        const auto& updates = model.ledger.updates;
        EXPECT_EQ(plan.corpus->untouched,
                  std::count(updates.begin(), updates.end(), std::int64_t{0}))
            << documents << ' ' << stride << ' ' << steps;
        EXPECT_GT(plan.corpus->untouched, 20);
        std::filesystem::remove_all(folder.path("model"));
      }
    }
  }
}

TEST(Plan, CountsUnknownTokens) {
  const TempFolder folder;
  folder.write("text.txt", "one two one two one three");
  PlanRequest request;
  request.corpus = {folder.path("text.txt")};
  request.given = {{"tokenizer", "word"}, {"min-count", "2"}, {"preset", "plain"}};
  request.probe_seconds = 0;
  const Plan plan = plan_of(request);
  EXPECT_EQ(plan.corpus->unknown, 1);
  EXPECT_EQ(plan.vocab_size, 3);  // one, two, <unk>
}

TEST(Plan, RefusesWhatTrainRefuses) {
  PlanRequest request;
  request.vocab_size = 100;
  request.given = {{"dim", "0"}};
  testing::expect_error(ErrorKind::argument, {"--dim"}, [&] { plan_of(request); });
  const TempFolder folder;
  request.corpus = {folder.path("absent")};
  request.given.clear();
  testing::expect_error(ErrorKind::io, {"absent"}, [&] { plan_of(request); });
}

}  // namespace
}  // namespace lexirow::measure
