#include "train/sizes.h"

#include <gtest/gtest.h>

#include "model/network.h"
#include "optim/optimizer.h"
#include "train/derive.h"
#include "train/model_slots.h"

namespace lexirow::train {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// V 4096, D 256, nothing but tables.
model::ModelConfig tables(bool tied) {
  model::ModelConfig config;
  config.vocab_size = 4096;
  config.dim = 256;
  config.mixer = context::parse_mixer("none");
  config.tied = tied;
  config.bias = false;
  return config;
}

// figures.md: 4 MiB a table; trained with AdamW 16 MiB, which are weights, gradient, two moments.
TEST(ModelSizes, OfTablesAreThoseOfTheArithmetic) {
  Settings settings;
  settings.optimizer = "adamw";
  settings.batch = 64;
  settings.context = 64;  // 4096 positions: a batch may read every row
  for (const bool tied : {true, false}) {
    const std::int64_t count = tied ? 1 : 2;
    const Sizes sizes = model_sizes(tables(tied), settings);
    EXPECT_EQ(sizes.parameters, count * 1048576);
    EXPECT_EQ(sizes.weight_bytes, count * 4 * kMiB);
    EXPECT_EQ(sizes.gradient_bytes, count * 4 * kMiB);
    EXPECT_EQ(sizes.moment_bytes, count * 8 * kMiB);
    EXPECT_EQ(sizes.weight_bytes + sizes.gradient_bytes + sizes.moment_bytes, count * 16 * kMiB);
    EXPECT_EQ(sizes.training_bytes - sizes.activation_bytes, count * 16 * kMiB);
  }
  // An untied table's gradient is that of the rows a batch reads.
  settings.batch = 1;
  EXPECT_EQ(model_sizes(tables(false), settings).gradient_bytes, 4 * kMiB + 64 * 256 * 4);
}

TEST(ModelSizes, AreWhatIsReallyHeld) {
  for (const bool tied : {true, false}) {
    for (const char* name : {"adamw", "sgd", "adagrad", "adagrad-row", "adagrad-row sampled"}) {
      Settings settings;
      settings.optimizer = std::string(name).substr(0, std::string(name).find(' '));
      if (std::string(name).ends_with("sampled")) settings.loss = "sampled:9";
      const model::ModelConfig config = tables(tied);
      model::Parameters<float> parameters(config);
      model::Gradients<float> gradients(config, negatives_of(settings) > 0);
      optim::OptimizerConfig optimizer_config;
      optimizer_config.kind = optim::parse_optimizer(settings.optimizer);
      optim::Optimizer<float> optimizer(optimizer_config,
                                        model_slots(config, parameters, gradients));
      std::int64_t state = 0;
      for (const auto& tensor : optimizer.state()) state += tensor.values.size();
      const Sizes sizes = model_sizes(config, settings);
      EXPECT_EQ(sizes.parameters, parameters.count());
      EXPECT_EQ(sizes.moment_bytes, 4 * state) << name << (tied ? " tied" : "");
    }
  }
}

// Of the head under a sampled loss a batch reads the rows of its labels and of its negatives.
TEST(ModelSizes, OfASampledHeadAreThoseOfItsRows) {
  Settings settings;
  settings.batch = 1;
  settings.context = 64;
  const Sizes full = model_sizes(tables(false), settings);
  settings.loss = "sampled:36";
  const Sizes sampled = model_sizes(tables(false), settings);
  EXPECT_EQ(full.gradient_bytes - sampled.gradient_bytes, (4096 - 100) * 256 * 4);
  EXPECT_EQ(sampled.activation_bytes - full.activation_bytes,
            100 * 2 * 256 * 4 + std::int64_t{64} * 36 * 4);
}

TEST(ModelSizes, CountLearnedPositionsAndHoldComputedOnes) {
  Settings settings;
  settings.batch = 4;
  settings.context = 8;
  model::ModelConfig config = tables(true);
  const Sizes plain = model_sizes(config, settings);
  config.max_positions = 8;
  config.positions = rows::Positions::learned;
  const Sizes learned = model_sizes(config, settings);
  EXPECT_EQ(learned.parameters, model::Parameters<float>(config).count());
  EXPECT_EQ(learned.parameters - plain.parameters, 8 * 256);
  EXPECT_EQ(learned.gradient_bytes - plain.gradient_bytes, 8 * 256 * 4);
  EXPECT_EQ(learned.moment_bytes - plain.moment_bytes, 2 * 8 * 256 * 4);
  EXPECT_EQ(learned.activation_bytes, plain.activation_bytes);
  config.positions = rows::Positions::sinusoidal;
  const Sizes computed = model_sizes(config, settings);
  EXPECT_EQ(computed.parameters, plain.parameters);
  EXPECT_EQ(computed.activation_bytes - plain.activation_bytes, 8 * 256 * 4);
}

TEST(ModelSizes, OfHiddenLayersAreWhatIsReallyHeld) {
  Settings settings;
  settings.batch = 4;
  settings.context = 8;
  model::ModelConfig config;
  config.vocab_size = 30;
  config.dim = 6;
  config.mixer = context::parse_mixer("concat:3");
  config.hidden = 16;
  for (const logits::MlpForm& form :
       {logits::MlpForm(), logits::MlpForm{.layers = 2},
        logits::MlpForm{.layers = 3, .residual = true},
        logits::MlpForm{.layers = 4, .residual = true, .layer_norm = true}}) {
    config.mlp = form;
    const model::Parameters<float> parameters(config);
    EXPECT_EQ(model_sizes(config, settings).parameters, parameters.count()) << form.layers;
    base::ThreadPool pool(1);
    model::Workspace<float> workspace;
    model::Gradients<float> gradients(config);
    const std::vector<Id> ids(32, 3);
    model::BatchView batch;
    batch.ids = batch.labels = {ids.data(), {4, 8}};
    model::evaluate_with_gradients<float>(pool, config, parameters, batch, workspace, gradients);
    const logits::MlpWorkspace<float>& mlp = workspace.mlp;
    const std::int64_t values = workspace.hidden.size() + workspace.d_hidden.size() +
                                workspace.context.size() + workspace.d_context.size() +
                                workspace.out.size() + workspace.d_out.size() + mlp.before.size() +
                                mlp.activated.size() + mlp.normed.size() + mlp.d_before.size() +
                                mlp.d_state.size() + mlp.d_normed.size();
    EXPECT_EQ(model_sizes(config, settings).activation_bytes, 4 * values) << form.layers;
  }
}

}  // namespace
}  // namespace lexirow::train
