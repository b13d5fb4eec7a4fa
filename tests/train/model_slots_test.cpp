#include "train/model_slots.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
  EXPECT_EQ(slots.table.name, "token_embedding.weight");
  EXPECT_EQ(slots.table.value.data(), parameters.token_embedding().data());
  EXPECT_EQ(slots.table.gradient, &gradients.rows);
  EXPECT_EQ(dense_names(slots), (Names{"mixer.0.weight", "mixer.0.bias", "mixer.2.weight",
                                       "mixer.2.bias", "lm_head.weight", "lm_head.bias"}));
  EXPECT_EQ(slots.pad_id, 7);
  EXPECT_EQ(slots.pad_slot, "");
}

TEST(ModelSlots, ATiedTableIsADenseSlotWithRows) {
  model::ModelConfig config = small_config(true);
  model::Parameters<float> parameters(config);
  model::Gradients<float> gradients(config);
  optim::Slots<float> slots = model_slots(config, parameters, gradients);
  EXPECT_EQ(slots.table.name, "");
  EXPECT_EQ(dense_names(slots), (Names{"token_embedding.weight", "mixer.0.weight", "mixer.0.bias",
                                       "mixer.2.weight", "mixer.2.bias"}));
  EXPECT_EQ(slots.dense[0].gradient.data(), gradients.dense.token_embedding().data());
  EXPECT_EQ(slots.dense[0].row_width, 4);
  EXPECT_EQ(slots.dense[1].row_width, 0);
  EXPECT_EQ(slots.pad_slot, "token_embedding.weight");
  EXPECT_EQ(slots.dim, 4);
  config.pad_policy = model::PadPolicy::keep;
  slots = model_slots(config, parameters, gradients);
  EXPECT_EQ(slots.pad_id, kNoId);
}

}  // namespace
}  // namespace lexirow::train
