#include "train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "store/model_folder.h"
#include "text/token_stream.h"
#include "train/derive.h"
#include "train/settings.h"

namespace lexirow::train {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

/// Notes what is read and what is announced.
class NotingStream final : public text::TokenStream {
 public:
  explicit NotingStream(std::int64_t size) : size_(size) { boundaries_.push_back(size); }
  std::int64_t size() const override { return size_; }
  void read(std::int64_t begin, std::span<Id> out) const override {
    std::iota(out.begin(), out.end(), static_cast<Id>(begin));
    for (Id& id : out) id %= 7;
    reads.emplace_back(begin, static_cast<std::int64_t>(out.size()));
  }
  void prefetch(std::int64_t begin, std::int64_t count) const override {
    announced.emplace_back(begin, count);
  }

  mutable std::vector<Range> reads, announced;

 private:
  std::int64_t size_;
};

TEST(Trainer, AnnouncesTheNextBatchBeforeItReadsIt) {
  Settings settings;
  settings.dim = 4;
  settings.context = 5;
  settings.batch = 3;
  store::ModelFolder folder;
  folder.config.vocab_size = 7;
  folder.config.dim = 4;
  folder.parameters = model::Parameters<float>(folder.config);
  const NotingStream stream(52);
  const text::WindowPlan plan(stream, 0, 52, {5, 5, 2});  // 11 windows: batches of 3, 3, 3, 2
  base::ThreadPool pool(1);
  Trainer trainer(pool, settings, folder, stream, plan);
  trainer.draw();
  for (int epoch = 0; epoch < 2; ++epoch) {
    stream.announced.clear();
    for (int batch = 0; batch < 4; ++batch) {
      const std::vector<Range> expected = std::exchange(stream.announced, {});
      stream.reads.clear();
      trainer.step();
      // The first batch of an epoch is not announced.
      EXPECT_EQ(expected, batch == 0 ? std::vector<Range>() : stream.reads)
          << epoch << " " << batch;
    }
    EXPECT_TRUE(stream.announced.empty());
  }
}

TEST(Trainer, StartsTheBiasesOfASampledLossAtTheSharesOfTheTokens) {
  Settings settings;
  settings.dim = 4;
  settings.loss = "sampled:2";
  store::ModelFolder folder;
  folder.config.vocab_size = 7;
  folder.config.dim = 4;
  const text::MemoryTokenStream stream({1, 1, 1, 2, 2, 3, 5, 1}, {0, 8});
  const text::WindowPlan plan(stream, 0, 7, {5, 5, 0});  // the last token is held out
  base::ThreadPool pool(1);
  const auto drawn_bias = [&](const char* init) {
    settings.init = init;
    folder.parameters = model::Parameters<float>(folder.config);
    Trainer trainer(pool, settings, folder, stream, plan);
    trainer.draw();
    const auto bias = folder.parameters.head_bias();
    return std::vector<float>(bias.begin(), bias.end());
  };
  const std::vector<float> bias = drawn_bias("auto");
  for (const auto& [id, count] : {std::pair(0, 1.0), {1, 3.0}, {2, 2.0}, {3, 1.0}, {4, 1.0}}) {
    EXPECT_NEAR(bias[static_cast<std::size_t>(id)], std::log(count / 7), 1e-6) << id;
  }
  EXPECT_NE(drawn_bias("torch"), bias);
  settings.loss = "full";
  EXPECT_EQ(drawn_bias("auto"), drawn_bias("torch"));
}

}  // namespace
}  // namespace lexirow::train
