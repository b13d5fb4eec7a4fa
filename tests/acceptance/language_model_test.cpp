// The eight things a causal language model on learned rows has to show, on real training runs.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/thread_pool.h"
#include "context/mixer.h"
#include "model/network.h"
#include "store/model_folder.h"
#include "support/temp_folder.h"
#include "text/corpus.h"
#include "text/windows.h"
#include "train/evaluate.h"
#include "train/train.h"
#include "train/trainer.h"

namespace lexirow {
namespace {

using testing::TempFolder;

const std::string kLanternBay = std::string(LEXIROW_SHARED_DIR) + "/cases/lantern-bay.txt";
const std::string kOwnText = std::string(LEXIROW_SOURCE_DIR) + "/data/harbour.txt";

train::TrainResult train_quietly(const std::vector<std::string>& corpus, const std::string& out,
                                 train::Given given) {
  train::TrainRequest request;
  request.corpus = corpus;
  request.out = out;
  request.threads = 2;
  request.given = {{"preset", "plain"}};
  request.given.insert(request.given.end(), given.begin(), given.end());
  train::TrainEvents events;
  events.notice = [](const std::string&) {};
  return train::train(request, events, false);
}

// A model and one batch of its text: 3 windows of 8.
struct Example {
  store::ModelFolder folder;
  text::Batch batch;
  base::ThreadPool pool{2};
  model::Workspace<float> workspace;

  Example(const TempFolder& temp, const std::string& mixer, bool tied) {
    train::Given given = {
        {"steps", "1"}, {"dim", "8"}, {"context", "8"}, {"mixer", mixer}, {"allow-leak", "true"}};
    if (tied) given.emplace_back("tied", "true");
    train_quietly({kOwnText}, temp.path(mixer + (tied ? "-tied" : "")), given);
    folder = store::open_model(temp.path(mixer + (tied ? "-tied" : "")));
    const text::MemoryTokenStream stream(
        folder.tokenizer->encode("the boats come home when the lamp is lit"), {0, 40});
    const text::WindowPlan plan(stream, 0, stream.size(), {8, 8, 0});
    const std::vector<std::int64_t> indices = {0, 1, 2};
    text::fill_batch(stream, plan, indices, batch);
  }

  std::vector<float> logits() {
    const std::int64_t n = batch.rows * batch.length;
    std::vector<float> out(static_cast<std::size_t>(n * folder.config.vocab_size));
    const model::BatchView view{batch.ids_view(), batch.mask_view(), batch.labels_view()};
    model::all_logits<float>(pool, folder.config, folder.parameters, view, workspace,
                             {out.data(), {n, folder.config.vocab_size}});
    return out;
  }
};

TEST(LanguageModel, RowsContextAndLogitsHaveTheirShapes) {
  const TempFolder temp;
  Example example(temp, "mean", false);
  const std::vector<float> logits = example.logits();
  const std::int64_t n = 3 * 8;
  EXPECT_EQ(example.workspace.hidden.size(), n * 8);   // rows [B, T, D]
  EXPECT_EQ(example.workspace.context.size(), n * 8);  // context [B, T, D]
  EXPECT_EQ(logits.size(), static_cast<std::size_t>(n * example.folder.config.vocab_size));
}

TEST(LanguageModel, AFutureIdNeverReachesPastLogits) {
  const TempFolder temp;
  for (const char* mixer : {"none", "mean", "window:3", "concat:4", "full-mean", "centred"}) {
    Example example(temp, mixer, false);
    const bool leaks = context::leaks_future(context::parse_mixer(mixer));
    const std::vector<float> before = example.logits();
    const std::int64_t v = example.folder.config.vocab_size;
    bool past_changed = false;
    for (std::int64_t t = 0; t + 1 < 8; ++t) {
      const std::vector<Id> saved = example.batch.ids;
      for (std::int64_t later = t + 1; later < 8; ++later) {
        Id& id = example.batch.ids[static_cast<std::size_t>(later)];
        id = (id + 5) % static_cast<Id>(v);
      }
      const std::vector<float> after = example.logits();
      for (std::int64_t i = 0; i < (t + 1) * v; ++i) {
        past_changed |= before[static_cast<std::size_t>(i)] != after[static_cast<std::size_t>(i)];
      }
      example.batch.ids = saved;
    }
    EXPECT_EQ(past_changed, leaks) << mixer;
  }
}

TEST(LanguageModel, OneLazyStepMovesExactlyTheRowsThatAppeared) {
  const TempFolder temp;
  const train::Given given = {
      {"context", "16"}, {"batch", "2"}, {"row-updates", "lazy"}, {"mixer", "concat:4"}};
  train::Given more = given;
  more.emplace_back("steps", "1");
  train_quietly({kOwnText}, temp.path("one"), more);
  const store::ModelFolder one = store::open_model(temp.path("one"));
  model::Parameters<float> fresh(one.config);
  model::initialize<float>(one.config, 1, model::Init::torch, fresh);
  std::int64_t moved = 0;
  for (Id id = 0; id < one.config.vocab_size; ++id) {
    bool same = true;
    for (std::int64_t d = 0; d < one.config.dim; ++d) {
      same &= one.parameters.token_embedding()[id][d] == fresh.token_embedding()[id][d];
    }
    const bool appeared = one.ledger.occurrences[static_cast<std::size_t>(id)] > 0;
    EXPECT_EQ(!same, appeared) << id;
    moved += same ? 0 : 1;
  }
  EXPECT_GT(moved, 3);
  EXPECT_LT(moved, one.config.vocab_size);
}

TEST(LanguageModel, ThePadRowNeverMoves) {
  const TempFolder temp;
  const std::vector<train::Given> kinds = {
      {{"optimizer", "adamw"}, {"weight-decay", "0.1"}},
      {{"optimizer", "adamw"}, {"weight-decay", "0.1"}, {"tied", "true"}},
      {{"optimizer", "adamw"}, {"row-updates", "lazy"}},
      {{"optimizer", "sgd"}, {"momentum", "0.9"}, {"weight-decay", "0.1"}},
      {{"optimizer", "sgd"}, {"momentum", "0.9"}, {"tied", "true"}},
      {{"optimizer", "adagrad"}, {"tied", "true"}},
      {{"optimizer", "adagrad-row"}},
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    train::Given given = {{"pad", "true"}, {"documents", "line"}, {"steps", "20"}, {"dim", "8"}};
    given.insert(given.end(), kinds[i].begin(), kinds[i].end());
    const std::string out = temp.path("m" + std::to_string(i));
    train_quietly({kOwnText}, out, given);
    const store::ModelFolder model = store::open_model(out);
    ASSERT_NE(model.config.pad_id, kNoId);
    for (const float value : model.parameters.token_embedding()[model.config.pad_id]) {
      EXPECT_EQ(value, 0.0F) << "kind " << i;
    }
    EXPECT_EQ(model.ledger.updates[static_cast<std::size_t>(model.config.pad_id)], 0);
  }
}

TEST(LanguageModel, TheLabelIsTheNextToken) {
  // On a cyclic text a correct shift reaches almost no loss; a double shift would predict itself.
  const TempFolder temp;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "abc";
  const std::string path = temp.write("cycle.txt", text);
  train_quietly({path}, temp.path("m"), {{"mixer", "none"}, {"steps", "300"}, {"lr", "0.05"}});
  const store::ModelFolder model = store::open_model(temp.path("m"));
  base::ThreadPool pool(1);
  EXPECT_LT(train::evaluate_file(pool, model, path).loss, 0.01);
}

// Entropy of the next token given this one, in nats, over the pairs that training sees.
double bigram_entropy(const std::vector<Id>& ids) {
  std::map<std::pair<Id, Id>, double> pairs;
  std::map<Id, double> firsts;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    ++pairs[{ids[i], ids[i + 1]}];
    ++firsts[ids[i]];
  }
  double nats = 0;
  for (const auto& [pair, count] : pairs) nats -= count * std::log(count / firsts[pair.first]);
  return nats / static_cast<double>(ids.size() - 1);
}

struct Outcome {
  double loss;
  double entropy;
};

Outcome learn_lantern_bay(const TempFolder& temp, const std::string& tokenizer,
                          const std::string& mixer) {
  const std::string out = temp.path(tokenizer + "-" + mixer);
  train_quietly({kLanternBay}, out,
                {{"tokenizer", tokenizer},
                 {"mixer", mixer},
                 {"context", "8"},
                 {"batch", "64"},
                 {"steps", "1500"},
                 {"seed", "1"}});
  const store::ModelFolder model = store::open_model(out);
  base::ThreadPool pool(2);
  text::CorpusCounts counts;
  const std::string text = text::read_whole_file(kLanternBay, {}, counts);
  return {train::evaluate_file(pool, model, kLanternBay).loss,
          bigram_entropy(model.tokenizer->encode(text))};
}

TEST(LanguageModel, MeanBeatsTheBigramFloorWhichNoneCannotPass) {
  if (!std::filesystem::exists(kLanternBay)) GTEST_SKIP() << "needs " << kLanternBay;
  const TempFolder temp;
  const Outcome mean = learn_lantern_bay(temp, "char", "mean");
  EXPECT_NEAR(mean.entropy, 1.642, 0.001);
  EXPECT_LT(mean.loss, 0.9 * mean.entropy);
  const Outcome none = learn_lantern_bay(temp, "char", "none");
  EXPECT_GE(none.loss, none.entropy - 1e-6);
  EXPECT_LT(none.loss, none.entropy + 0.05);
  const Outcome words = learn_lantern_bay(temp, "word", "mean");
  EXPECT_LT(words.loss, 0.7 * words.entropy);
  const Outcome none_words = learn_lantern_bay(temp, "word", "none");
  EXPECT_GE(none_words.loss, none_words.entropy - 1e-6);
}

// Held-out losses of the same models trained in PyTorch on the same text (several seeds of
// PyTorch's stay within 0.02 of each).
TEST(LanguageModel, PlainModelsReachPyTorchsLosses) {
  const std::string text = std::string(LEXIROW_SHARED_DIR) + "/corpora/tinyshakespeare.txt";
  if (!std::filesystem::exists(text)) GTEST_SKIP() << "needs " << text;
  const TempFolder temp;
  struct Case {
    const char* mixer;
    const char* context;
    const char* batch;
    double loss;
  };
  for (const Case& each : {Case{"none", "64", "32", 2.488}, Case{"mean", "64", "32", 3.061},
                           Case{"mean", "8", "256", 2.633}}) {
    const train::TrainResult result =
        train_quietly({text}, temp.path(std::string(each.mixer) + each.context),
                      {{"mixer", each.mixer},
                       {"context", each.context},
                       {"batch", each.batch},
                       {"validation", "0.1"},
                       {"eval-every", "0"}});
    ASSERT_TRUE(result.validation_loss.has_value());
    EXPECT_NEAR(*result.validation_loss, each.loss, 0.03) << each.mixer << " T " << each.context;
  }
}

}  // namespace
}  // namespace lexirow
