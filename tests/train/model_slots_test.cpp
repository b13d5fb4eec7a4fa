#include "train/model_slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/network.h"
#include "optim/optimizer.h"

namespace lexirow::train {
namespace {

model::ModelConfig small_config(bool tied) {
  model::ModelConfig config;
  config.vocab_size = 10;
  config.dim = 4;
  config.hidden = 3;
  config.tied = tied;
  config.bias = !tied;
  config.pad_id = 7;
  return config;
}

std::vector<std::string> dense_names(const optim::Slots<float>& slots) {
  std::vector<std::string> names;
  for (const auto& slot : slots.dense) {
    names.push_back(slot.name);
    EXPECT_EQ(slot.value.size(), slot.gradient.size()) << slot.name;
    EXPECT_NE(slot.value.data(), slot.gradient.data()) << slot.name;
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(ModelSlots, AnUntiedTableStepsByTouchedRows) {
  const model::ModelConfig config = small_config(false);
  model::Parameters<float> parameters(config);
  model::Gradients<float> gradients(config);
  const optim::Slots<float> slots = model_slots(config, parameters, gradients);
  ASSERT_EQ(slots.tables.size(), 1U);
  EXPECT_EQ(slots.tables[0].name, "token_embedding.weight");
  EXPECT_EQ(slots.tables[0].value.data(), parameters.token_embedding().data());
  EXPECT_EQ(slots.tables[0].gradient, &gradients.rows);
  EXPECT_EQ(dense_names(slots), (Names{"mixer.0.weight", "mixer.0.bias", "mixer.2.weight",
                                       "mixer.2.bias", "lm_head.weight", "lm_head.bias"}));
  EXPECT_EQ(slots.pad_id, 7);
  EXPECT_EQ(slots.pad_slot, "token_embedding.weight");
}

TEST(ModelSlots, TheHeadOfASampledLossStepsByTouchedRowsToo) {
  const model::ModelConfig config = small_config(false);
  model::Parameters<float> parameters(config);
  model::Gradients<float> gradients(config, true);
  const optim::Slots<float> slots = model_slots(config, parameters, gradients);
  ASSERT_EQ(slots.tables.size(), 2U);
  EXPECT_EQ(slots.tables[1].name, "lm_head.weight");
  EXPECT_EQ(slots.tables[1].value.data(), parameters.head_weight().data());
  EXPECT_EQ(slots.tables[1].gradient, &gradients.head_rows);
  EXPECT_EQ(dense_names(slots), (Names{"mixer.0.weight", "mixer.0.bias", "mixer.2.weight",
                                       "mixer.2.bias", "lm_head.bias"}));
}

TEST(ModelSlots, ATiedTableIsADenseSlotWithRows) {
  model::ModelConfig config = small_config(true);
  model::Parameters<float> parameters(config);
  model::Gradients<float> gradients(config);
  optim::Slots<float> slots = model_slots(config, parameters, gradients);
  EXPECT_TRUE(slots.tables.empty());
  EXPECT_EQ(dense_names(slots), (Names{"token_embedding.weight", "mixer.0.weight", "mixer.0.bias",
                                       "mixer.2.weight", "mixer.2.bias"}));
  EXPECT_EQ(slots.dense[0].gradient.data(), gradients.dense.token_embedding().data());
  EXPECT_EQ(slots.dense[0].row_width, 4);
  EXPECT_EQ(slots.dense[1].row_width, 0);
  EXPECT_EQ(slots.pad_slot, "token_embedding.weight");
  EXPECT_EQ(slots.dim, 4);
  config.pad_policy = model::PadPolicy::keep;
  slots = model_slots(config, parameters, gradients);
  EXPECT_EQ(slots.pad_id, 7) << "what is kept does not move either";
}

/// Two sequences of four with two positions of padding, which carry id 0; there is no pad id.
struct PaddedBatch {
  explicit PaddedBatch(bool left) {
    if (!left) return;
    for (std::vector<Id>* rows : {&ids, &labels}) {
      std::reverse(rows->begin(), rows->begin() + 4);
      std::reverse(rows->begin() + 4, rows->end());
    }
    std::reverse(mask.begin(), mask.begin() + 4);
    std::reverse(mask.begin() + 4, mask.end());
  }
  model::BatchView view(bool masked, bool labels_masked) const {
    model::BatchView batch{{ids.data(), {2, 4}}, {}, {labels.data(), {2, 4}}};
    if (masked) batch.mask = {mask.data(), {2, 4}};
    if (!labels_masked) batch.labels = {every_label.data(), {2, 4}};
    return batch;
  }
  std::vector<Id> ids = {3, 4, 0, 0, 5, 3, 0, 0};
  std::vector<std::uint8_t> mask = {1, 1, 0, 0, 1, 1, 0, 0};
  std::vector<Id> labels = {4, 5, kIgnoredLabel, kIgnoredLabel, 3, 4, kIgnoredLabel, kIgnoredLabel};
  std::vector<Id> every_label = {4, 5, 1, 2, 3, 4, 2, 1};
};

struct Moved {
  double gradient = 0;  ///< largest value of the pad row's gradient
  double first = 0;     ///< its first value after one step, over that before
};

Moved step_pad_row(const char* mixer, const model::BatchView& batch,
                   const optim::OptimizerConfig& optimizer_config) {
  model::ModelConfig config = small_config(false);
  config.pad_id = kNoId;
  config.mixer = context::parse_mixer(mixer);
  model::Parameters<double> parameters(config);
  model::initialize(config, 3, model::Init::torch, parameters);
  model::Gradients<double> gradients(config);
  model::Workspace<double> workspace;
  base::ThreadPool pool(1);
  model::evaluate_with_gradients(pool, config, parameters, batch, workspace, gradients);
  Moved moved;
  if (!gradients.rows.ids.empty() && gradients.rows.ids[0] == 0) {
    for (std::int64_t c = 0; c < 4; ++c) {
      moved.gradient = std::max(moved.gradient, std::abs(gradients.rows.row(0)[c]));
    }
  }
  const double before = parameters.token_embedding()[0][0];
  const optim::Slots<double> slots = model_slots(config, parameters, gradients);
  optim::Optimizer<double> optimizer(optimizer_config, slots);
  optimizer.step(pool, slots, 0.1, 1.0);
  moved.first = parameters.token_embedding()[0][0] / before;
  return moved;
}

// figures.md: a pad row without a pad id gets zero gradient where both masks are on; decay alone
// still moves it.
TEST(ModelSlots, BothMasksHideAMissingPadIdButNotFromDecay) {
  optim::OptimizerConfig dense;  // AdamW, decay 0.01
  optim::OptimizerConfig lazy;
  lazy.row_updates = optim::RowUpdates::lazy;
  optim::OptimizerConfig without_decay;
  without_decay.weight_decay = 0;
  for (const char* mixer : {"none", "mean"}) {
    for (const bool left : {false, true}) {
      const PaddedBatch batch(left);
      const Moved hidden = step_pad_row(mixer, batch.view(true, true), dense);
      EXPECT_EQ(hidden.gradient, 0) << mixer;
      EXPECT_DOUBLE_EQ(hidden.first, 1 - 0.1 * 0.01) << mixer;
      EXPECT_EQ(step_pad_row(mixer, batch.view(true, true), lazy).first, 1);
      EXPECT_EQ(step_pad_row(mixer, batch.view(true, true), without_decay).first, 1);
      EXPECT_GT(step_pad_row(mixer, batch.view(false, false), dense).gradient, 1e-4) << mixer;
    }
  }
}

}  // namespace
}  // namespace lexirow::train
