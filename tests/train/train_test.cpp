#include "train/train.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "files/safetensors.h"
#include "store/model_folder.h"
#include "train/evaluate.h"
#include "train/sizes.h"
#include "train_support.h"

namespace lexirow::train {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

TEST(Train, LossFallsAndTheFolderIsWhole) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  QuietRun run;
  const TrainResult result =
      run(small_request(folder, "m", {{"mixer", "concat:4"}, {"steps", "300"}, {"lr", "0.01"}}));
  EXPECT_EQ(result.steps, 300);
  EXPECT_LT(result.train_loss, 0.7 * run.progress.front().train_loss);
  ASSERT_TRUE(result.validation_loss.has_value());
  for (const char* name : {"config.json", "model.safetensors", "tokenizer.json",
                           "ledger.safetensors", "training/state.safetensors", "history.jsonl"}) {
    EXPECT_TRUE(fs::exists(folder.path("m/") + name)) << name;
  }
  base::ThreadPool pool(1);
  const store::ModelFolder model = store::open_model(folder.path("m"));
  const EvalReport report = evaluate_file(pool, model, folder.path("text.txt"));
  EXPECT_LT(report.loss, 1.5);
  EXPECT_TRUE(report.bits_per_byte.has_value());
}

TEST(Train, SameBytesForAnyNumberOfThreads) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  const std::vector<Given> kinds = {
      {{"mixer", "concat:4"}, {"carry", "true"}, {"row-updates", "lazy"}, {"clip", "1"}},
      {{"mixer", "mean"}, {"tied", "true"}, {"schedule", "cosine"}, {"warmup", "5%"}},
      {{"mixer", "window:3"}, {"tokenizer", "word"}, {"optimizer", "adagrad"}, {"pad", "true"}},
      {{"mixer", "none"}, {"optimizer", "sgd"}, {"momentum", "0.9"}, {"documents", "line"}},
      {{"mixer", "none+concat:3+decay:0.6:0.95+decay:learned:2+mean"}, {"carry", "true"}},
      {{"mixer", "concat:3"},
       {"layers", "3"},
       {"residual", "true"},
       {"layer-norm", "true"},
       {"dropout", "0.2"}},
      {{"mixer", "concat:3"}, {"positions", "learned"}, {"carry", "true"}, {"stride", "5"}},
      {{"mixer", "mean"}, {"positions", "sinusoidal"}, {"documents", "line"}},
  };
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    std::string first;
    for (const int threads : {1, 2, 4}) {
      TrainRequest request =
          small_request(folder, "m" + std::to_string(kind) + std::to_string(threads), kinds[kind]);
      request.threads = threads;
      QuietRun()(request);
      const std::string parts = identical_parts(request.out);
      if (threads == 1) first = parts;
      EXPECT_EQ(parts == first, true) << "kind " << kind << ", threads " << threads;
    }
  }
}

// Without clipping the rows of an untied table are moved while they are summed; a limit that no
// norm reaches sums them first.
TEST(Train, RowsMovedWhileTheyAreSummedEndAsBySummingFirst) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  for (const char* updates : {"dense", "lazy"}) {
    std::vector<std::string> weights;
    for (const char* clip : {"0", "1e9"}) {
      const TrainRequest request =
          small_request(folder, std::string(updates) + clip,
                        {{"mixer", "concat:4"}, {"row-updates", updates}, {"clip", clip}});
      QuietRun()(request);
      weights.push_back(testing::file_bytes(request.out + "/model.safetensors"));
    }
    EXPECT_EQ(weights[0] == weights[1], true) << updates;
  }
}

TEST(Train, LongerRunByResumeStaysAtTheFinalRate) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  TrainRequest request = small_request(folder, "m", {{"schedule", "cosine"}, {"lr", "0.01"}});
  QuietRun()(request);
  request.resume = true;
  request.given = {{"steps", "50"}};
  QuietRun run;
  EXPECT_EQ(run(request).steps, 50);
  EXPECT_NEAR(run.progress.back().learning_rate, 0.001, 1e-12);
}

TEST(Train, AResumeStretchesTheScheduleWhereAskedAndElseSaysThatItEnds) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  TrainRequest request = small_request(folder, "m", {{"schedule", "one-cycle"}, {"lr", "0.01"}});
  QuietRun()(request);
  request.resume = true;
  request.given = {{"steps", "50"}};
  QuietRun ended;
  ended(request);
  EXPECT_NE(ended.all_notices().find("the one-cycle schedule ends at step 40"), std::string::npos)
      << ended.all_notices();
  EXPECT_LT(ended.progress.back().learning_rate, 1e-6);
  request.given = {{"steps", "60"}, {"schedule-steps", "120"}};
  QuietRun stretched;
  stretched(request);
  EXPECT_GT(stretched.progress.back().learning_rate, 1e-3);
  EXPECT_EQ(store::open_model(request.out).settings["train"]["schedule-steps"], 120);
}

TEST(Train, AResumeSaysWhyThereIsNothingToDo) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  const auto said = [](TrainRequest request) {
    request.resume = true;
    request.given.clear();
    QuietRun run;
    run(request);
    return run.all_notices();
  };
  TrainRequest request = small_request(folder, "m", {});
  QuietRun()(request);
  EXPECT_NE(said(request).find("complete at step 40"), std::string::npos) << said(request);
  request = small_request(folder, "p", {{"patience", "1"}, {"eval-every", "1"}, {"lr", "0.5"}});
  EXPECT_LT(QuietRun()(request).steps, 40);
  EXPECT_NE(said(request).find("--patience 1 stopped this run"), std::string::npos)
      << said(request);
  request.resume = true;
  request.given = {{"patience", "0"}};
  EXPECT_NE(error_of(request).find("give 1 or more"), std::string::npos) << error_of(request);
}

TEST(Train, TheHeldOutFileIsNotLearned) {
  const TempFolder folder;
  fs::create_directory(folder.path("texts"));
  folder.write("texts/train.txt", small_text(60));
  folder.write("texts/valid.txt", small_text(20));
  TrainRequest request = small_request(folder, "m", {{"validation", "none"}});
  request.corpus = {folder.path("texts")};
  request.given.emplace_back("validation-file", folder.path("texts/valid.txt"));
  QuietRun run;
  run(request);
  EXPECT_NE(run.all_notices().find("valid.txt of the training text"), std::string::npos)
      << run.all_notices();
  request.resume = true;
  request.given = {{"steps", "45"}};
  EXPECT_EQ(QuietRun()(request).steps, 45) << "the same text as before";
  request.resume = false;
  request.corpus = {folder.path("texts/valid.txt")};
  request.out = folder.path("n");
  request.given = {{"preset", "plain"}, {"validation-file", folder.path("texts/valid.txt")}};
  EXPECT_NE(error_of(request).find("all the text there is"), std::string::npos)
      << error_of(request);
}

TEST(Train, SaysThatAMixerLooksBackFurtherThanAPiece) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  const auto said = [&](const Given& given) {
    QuietRun run;
    TrainRequest request = small_request(folder, "m", given);
    request.force = true;
    run(request);
    return run.all_notices().find("looks back 15 tokens, but a piece has 8") != std::string::npos;
  };
  EXPECT_TRUE(said({{"mixer", "concat:16"}}));
  EXPECT_FALSE(said({{"mixer", "concat:16"}, {"carry", "true"}}));
  EXPECT_FALSE(said({{"mixer", "concat:8"}}));
}

TEST(Train, ResumeRefusesAnotherSettingAndAnotherText) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  TrainRequest request = small_request(folder, "m", {});
  QuietRun()(request);
  request.resume = true;
  request.given = {{"dim", "16"}};
  EXPECT_NE(error_of(request).find("--dim is 8"), std::string::npos) << error_of(request);
  request.given = {{"steps", "60"}};
  folder.write("text.txt", small_text(60) + "another end.");
  EXPECT_NE(error_of(request).find("not the one"), std::string::npos) << error_of(request);
}

TEST(Train, LedgerCountsWhatWasRead) {
  const TempFolder folder;
  folder.write("text.txt", small_text(40));
  QuietRun()(small_request(folder, "m", {{"validation", "none"}, {"epochs", "2"}, {"steps", "0"}}));
  const store::ModelFolder model = store::open_model(folder.path("m"));
  // Each pass reads every token but the last as an input.
  const std::string text = small_text(40);
  for (Id id = 0; id < model.config.vocab_size; ++id) {
    const std::string token = model.tokenizer->token_bytes(id);
    const auto count = std::count(text.begin(), text.end() - 1, token[0]);
    EXPECT_EQ(model.ledger.occurrences[static_cast<std::size_t>(id)], 2 * count) << token;
  }
}

TEST(Train, LazyUpdatesLeaveAbsentRowsAndThePadRowAlone) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  for (const char* optimizer : {"adamw", "sgd", "adagrad", "adagrad-row"}) {
    const std::string out = std::string("m-") + optimizer;
    QuietRun()(small_request(folder, out,
                             {{"pad", "true"}, {"optimizer", optimizer}, {"weight-decay", "0.1"}}));
    const store::ModelFolder model = store::open_model(folder.path(out));
    ASSERT_GE(model.config.pad_id, 0);
    for (const float value : model.parameters.token_embedding()[model.config.pad_id]) {
      EXPECT_EQ(value, 0.0F) << optimizer;
    }
  }
}

// PAD-1, PAD-3: with keep the row stays what it was drawn as, bit for bit.
TEST(Train, APadRowThatIsKeptStaysAsItWasDrawn) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  for (const char* tied : {"false", "true"}) {
    for (const char* optimizer : {"adamw", "sgd", "adagrad", "adagrad-row"}) {
      std::vector<std::vector<float>> rows;
      for (const char* steps : {"1", "25"}) {
        const std::string out = std::string("m-") + tied + optimizer + steps;
        QuietRun()(small_request(folder, out,
                                 {{"pad", "true"},
                                  {"pad-row", "keep"},
                                  {"tied", tied},
                                  {"optimizer", optimizer},
                                  {"weight-decay", "0.1"},
                                  {"steps", steps}}));
        const store::ModelFolder model = store::open_model(folder.path(out));
        const auto row = model.parameters.token_embedding()[model.config.pad_id];
        rows.emplace_back(row.begin(), row.end());
      }
      EXPECT_NE(rows[0][0], 0.0F);
      EXPECT_EQ(rows[0], rows[1]) << optimizer;
    }
  }
}

TEST(Train, PatienceKeepsTheBestWeights) {
  const TempFolder folder;
  folder.write("text.txt", small_text(12));
  QuietRun run;
  const TrainResult result = run(small_request(folder, "m",
                                               {{"mixer", "concat:6"},
                                                {"hidden", "64"},
                                                {"lr", "0.03"},
                                                {"steps", "2000"},
                                                {"patience", "3"},
                                                {"validation", "0.3"}}));
  EXPECT_LT(result.steps, 2000);
  double best = 1e9;
  for (const Progress& progress : run.progress) {
    if (progress.validation_loss) best = std::min(best, *progress.validation_loss);
  }
  EXPECT_EQ(*result.validation_loss, best);
}

TEST(Train, APlateauHalvesTheRateAlsoAcrossAResume) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  const Given kind = {{"schedule", "plateau"}, {"plateau", "1"},   {"eval-every", "2"},
                      {"lr", "0.3"},           {"log-every", "1"}, {"warmup", "3"}};
  QuietRun run;
  run(small_request(folder, "whole", kind));
  const auto halvings = [](const QuietRun& of) {
    return std::count_if(of.notices.begin(), of.notices.end(), [](const std::string& notice) {
      return notice.find("the learning rate is halved") != std::string::npos;
    });
  };
  EXPECT_GT(halvings(run), 1);
  // The last held-out loss may have halved it for a step that was not made.
  const double rate = run.progress.back().learning_rate;
  const int made = static_cast<int>(halvings(run));
  EXPECT_TRUE(rate == std::ldexp(0.3, -made) || rate == std::ldexp(0.3, 1 - made)) << rate;
  for (const std::int64_t stop : {10, 21}) {
    TrainRequest request = small_request(folder, "stopped" + std::to_string(stop), kind);
    QuietRun first;
    first.stop_at_step = stop;
    first(request);
    request.resume = true;
    request.given.clear();
    QuietRun()(request);
    EXPECT_EQ(identical_parts(request.out) == identical_parts(folder.path("whole")), true) << stop;
  }
}

TEST(Train, ADivergingRateStopsInOrder) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  TrainRequest request =
      small_request(folder, "m", {{"lr", "1e6"}, {"optimizer", "sgd"}, {"save-every", "1"}});
  const std::string text = error_of(request);
  EXPECT_NE(text.find("training stopped at step"), std::string::npos) << text;
  EXPECT_NE(text.find("Learning rate 1e+06"), std::string::npos) << text;
  EXPECT_NE(text.find("text.txt:"), std::string::npos) << text;
  EXPECT_NE(text.find("--lr"), std::string::npos) << text;
}

TEST(Train, WeightsThatTheLastStepRuinedAreNotSavedAsFinished) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  for (const char* validation : {"none", "0.1"}) {
    const std::string text = error_of(small_request(
        folder, std::string("m") + validation,
        {{"lr", "1e38"}, {"optimizer", "sgd"}, {"steps", "1"}, {"validation", validation}}));
    EXPECT_NE(text.find("training stopped at step 1"), std::string::npos) << text;
  }
}

TEST(Train, AResumeWithNothingLeftChangesNothing) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  TrainRequest request = small_request(folder, "m", {{"steps", "41"}});
  QuietRun()(request);
  const std::string before = identical_parts(request.out);
  request.resume = true;
  request.given.clear();
  EXPECT_EQ(QuietRun()(request).steps, 41);
  EXPECT_EQ(identical_parts(request.out) == before, true);
  request.given = {{"preset", "word"}};
  EXPECT_NE(error_of(request).find("--preset is plain"), std::string::npos) << error_of(request);
}

TEST(Train, BitsPerByteDividesByTheBytesThatArePredicted) {
  const TempFolder folder;
  const std::string text = small_text(40);
  folder.write("text.txt", text);
  const auto lines = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
  const auto all = static_cast<double>(text.size());
  base::ThreadPool pool(1);
  const std::vector<std::pair<Given, double>> cases = {
      {{}, all - 1},
      {{{"bos", "true"}}, all},
      {{{"documents", "line"}}, all - 2 * lines},
      {{{"documents", "line"}, {"eos", "true"}}, all - lines},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    TrainRequest request = small_request(folder, "m" + std::to_string(i), cases[i].first);
    QuietRun()(request);
    const EvalReport report =
        evaluate_file(pool, store::open_model(request.out), folder.path("text.txt"));
    const double bytes = report.loss * static_cast<double>(report.tokens) / std::log(2.0) /
                         report.bits_per_byte.value();
    EXPECT_NEAR(bytes, cases[i].second, 1e-6 * all) << i;
  }
}

// Held-out windows go on from each other as if the text were read token by token.
TEST(Train, HeldOutLossesCarryRunningAverages) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  folder.write("other.txt", small_text(25));
  const std::vector<std::pair<const char*, const char*>> kinds = {
      {"mean", "none"},
      {"mean", "learned"},
      {"none+decay:0.7:0.99+decay:learned:2+concat:3", "none"},
      {"none+decay:0.7:0.99+decay:learned:2+concat:3", "sinusoidal"}};
  for (const auto& [mixer, positions] : kinds) {
    for (const char* documents : {"stream", "line"}) {
      const std::string name = std::string(mixer) + positions + documents;
      QuietRun()(small_request(folder, name,
                               {{"mixer", mixer},
                                {"positions", positions},
                                {"carry", "true"},
                                {"documents", documents}}));
      base::ThreadPool pool(1);
      const store::ModelFolder model = store::open_model(folder.path(name));
      const EvalReport report = evaluate_file(pool, model, folder.path("other.txt"));
      // The same with windows that hold a whole document each.
      store::ModelFolder whole = store::open_model(folder.path(name));
      whole.settings["train"]["context"] = 2000;
      const EvalReport expected = evaluate_file(pool, whole, folder.path("other.txt"));
      EXPECT_EQ(report.tokens, expected.tokens);
      EXPECT_NEAR(report.loss, expected.loss, 1e-6) << name;
      whole.settings["train"]["context"] = 8;
      whole.settings["train"]["carry"] = false;
      const EvalReport restarted = evaluate_file(pool, whole, folder.path("other.txt"));
      EXPECT_GT(std::abs(restarted.loss - expected.loss), 1e-4) << name;
    }
  }
}

// Positions begin anew where pieces do, in training as in all that reads the model.
TEST(Train, PositionsAreThoseOfThePiecesThatTheTextAllows) {
  const TempFolder folder;
  folder.write("text.txt", small_text(1));
  for (const char* positions : {"learned", "sinusoidal"}) {
    TrainRequest request =
        small_request(folder, positions, {{"positions", positions}, {"validation", "none"}});
    request.given.erase(request.given.begin() + 2);  // the context is the preset's
    QuietRun()(request);
    const store::ModelFolder model = store::open_model(request.out);
    const auto length = static_cast<std::int64_t>(small_text(1).size()) - 1;
    EXPECT_LT(length, 64);
    EXPECT_EQ(model.config.max_positions, length);
    EXPECT_EQ(stored_settings(model).context, length);
    EXPECT_EQ(model.parameters.position_rows().extent(0), length);
    base::ThreadPool pool(1);
    EXPECT_LT(evaluate_file(pool, model, folder.path("text.txt")).loss, 3);
  }
}

TEST(Train, SaysWhatIsWrongWithTheText) {
  const TempFolder folder;
  folder.write("text.txt", "eighteen letters..");
  EXPECT_NE(error_of(small_request(folder, "a", {{"context", "513"}, {"validation", "none"}}))
                .find("largest usable context is 17"),
            std::string::npos)
      << error_of(small_request(folder, "a", {{"context", "513"}, {"validation", "none"}}));
  folder.write("text.txt", "");
  EXPECT_NE(error_of(small_request(folder, "b", {})), "no error");
  TrainRequest missing = small_request(folder, "c", {});
  missing.corpus = {folder.path("no such.txt")};
  EXPECT_NE(error_of(missing).find("no such.txt"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path("c"))) << "a failed start leaves no folder behind";
}

TEST(Train, MinutesBecomeSteps) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  QuietRun run;
  const TrainResult result = run(small_request(folder, "m", {{"minutes", "0.05"}, {"steps", "0"}}));
  EXPECT_GT(result.steps, 10);
  EXPECT_LT(result.seconds, 6);
  EXPECT_NE(run.all_notices().find("ms a step"), std::string::npos);
}

}  // namespace
}  // namespace lexirow::train
