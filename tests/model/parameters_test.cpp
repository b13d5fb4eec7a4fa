#include "model/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "lexirow/error.h"
#include "model/config.h"

namespace lexirow::model {
namespace {

ModelConfig config_of(std::int64_t vocab_size, std::int64_t dim, const std::string& mixer,
                      std::int64_t hidden) {
  ModelConfig config;
  config.vocab_size = vocab_size;
  config.dim = dim;
  config.mixer = context::parse_mixer(mixer);
  config.hidden = hidden;
  return config;
}

template <typename T>
std::vector<std::string> names_of(const Parameters<T>& parameters) {
  std::vector<std::string> names;
  for (const auto& tensor : parameters.tensors()) names.push_back(tensor.name);
  return names;
}

/// What torch.manual_seed(seed) and the plain PyTorch module give: a few values and the sum.
struct TorchTensor {
  std::string name;
  float first, second, last;
  double sum;
};

void expect_torch(const Parameters<float>& parameters, const std::vector<TorchTensor>& expected) {
  const auto tensors = parameters.tensors();
  ASSERT_EQ(tensors.size(), expected.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TorchTensor& torch = expected[i];
    const base::View1<const float> values = tensors[i].values;
    EXPECT_EQ(tensors[i].name, torch.name);
    // Normal values agree to 1e-6 only: PyTorch's vector code rounds differently.
    const float limit = torch.name == "token_embedding.weight" ? 1e-6F : 0.0F;
    EXPECT_NEAR(values[0], torch.first, limit) << torch.name;
    EXPECT_NEAR(values[1], torch.second, limit) << torch.name;
    EXPECT_NEAR(values[values.size() - 1], torch.last, limit) << torch.name;
    EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), torch.sum,
                limit == 0.0F ? 5e-9 : 1e-5)
        << torch.name;
  }
}

TEST(Initialize, DrawsAModelWithMlpAsTorch) {
  const ModelConfig config = config_of(11, 6, "concat:3", 10);
  Parameters<float> parameters(config);
  initialize(config, 123, Init::torch, parameters);
  expect_torch(
      parameters,
      {{"token_embedding.weight", 0x1.597792p-2F, -0x1.6c1676p-3F, -0x1.a77f0cp-5F, -4.82634186},
       {"mixer.0.weight", 0x1.7ba578p-5F, -0x1.6da16p-6F, 0x1.1d4fe4p-7F, 0.569188127},
       {"mixer.0.bias", -0x1.01203p-3F, 0x1.cedefep-3F, 0x1.f27676p-4F, 0.59574222},
       {"mixer.2.weight", 0x1.9676aap-4F, -0x1.4f9f84p-4F, -0x1.5ddf9ap-3F, -0.264333095},
       {"mixer.2.bias", -0x1.114f3p-3F, 0x1.08227p-2F, -0x1.8342cap-3F, -0.2936276},
       {"lm_head.weight", 0x1.80e306p-2F, 0x1.3728ccp-3F, 0x1.3dbe72p-2F, 2.35185971},
       {"lm_head.bias", -0x1.8ef932p-3F, 0x1.b23332p-6F, -0x1.1e579p-2F, 1.00988483}});
}

TEST(Initialize, DrawsATinyPaddedModelAsTorch) {
  // 15 values: the embedding takes PyTorch's other way of drawing normal values.
  ModelConfig config = config_of(5, 3, "mean", 4);
  config.pad_id = 2;
  Parameters<float> parameters(config);
  initialize(config, 5, Init::automatic, parameters);
  const std::vector<TorchTensor> expected = {
      {"token_embedding.weight", -0x1.f276a8p-2F, -0x1.35281ap-1F, 0x1.5e896cp-1F, 0.238859773},
      {"mixer.0.weight", -0x1.0d7decp-1F, -0x1.b674fap-7F, 0x1.131d5ap-2F, 0.290225807},
      {"mixer.0.bias", 0x1.c0d3ecp-2F, 0x1.da12bep-2F, 0x1.cefaa6p-4F, 1.4976364},
      {"mixer.2.weight", 0x1.6cecp-2F, -0x1.01c18p-3F, 0x1.e48498p-2F, 0.916475773},
      {"mixer.2.bias", -0x1.1c2e5cp-2F, -0x1.2400b4p-2F, -0x1.11fb68p-3F, -0.69645983},
      {"lm_head.weight", -0x1.7e2adp-3F, -0x1.920ff8p-2F, 0x1.12c0c4p-1F, 2.67335942},
      {"lm_head.bias", -0x1.aa07aap-3F, -0x1.2d097p-5F, -0x1.1f8c6p-4F, -0.554878723}};
  expect_torch(parameters, expected);
  for (float value : parameters.token_embedding()[2]) EXPECT_EQ(value, 0.0F);

  // Without padding and without a bias the same draws come out, the row and all.
  config.pad_id = kNoId;
  config.bias = false;
  initialize(config, 5, Init::torch, parameters);
  std::vector<TorchTensor> plain(expected.begin(), expected.end() - 1);
  plain.front().sum = -1.294186;
  expect_torch(parameters, plain);
}

TEST(Initialize, DrawsThePlainHeadAsTorch) {
  const ModelConfig config = config_of(3, 4, "none", 0);
  Parameters<float> parameters(config);
  initialize(config, 7, Init::torch, parameters);
  expect_torch(
      parameters,
      {{"token_embedding.weight", -0x1.2ca2e8p-3F, 0x1.92811cp-1F, 0x1.0ffd1ap-3F, 1.05100621},
       {"lm_head.weight", 0x1.56ebp-6F, 0x1.7dep-4F, 0x1.d63cep-2F, 1.92764884},
       {"lm_head.bias", -0x1.c7b68p-4F, -0x1.1d3d24p-2F, -0x1.01a258p-3F, -0.515609503}});
}

TEST(Initialize, ScalesARowThatReachesTheHeadWithoutMlp) {
  for (const std::string mixer : {"none", "window:2"}) {
    const ModelConfig config = config_of(7, 4, mixer, 0);
    Parameters<float> drawn(config);
    Parameters<float> scaled(config);
    initialize(config, 9, Init::torch, drawn);
    initialize(config, 9, Init::automatic, scaled);
    for (std::int64_t i = 0; i < 7 * 4; ++i) {
      EXPECT_EQ(scaled.token_embedding().data()[i], drawn.token_embedding().data()[i] * 0.5F);
    }
    EXPECT_TRUE(std::ranges::equal(scaled.head_weight(), drawn.head_weight()));
  }
}

// torch.nn.Embedding(5, 6) behind all other modules: what they draw is the same without it.
TEST(Initialize, DrawsLearnedPositionsLast) {
  ModelConfig config = config_of(11, 6, "concat:3", 10);
  for (const bool tied : {false, true}) {
    config.tied = tied;
    for (const Init init : {Init::torch, Init::automatic}) {
      config.positions = rows::Positions::none;
      config.max_positions = 0;
      Parameters<float> plain;
      initialize(config, 123, init, plain);
      EXPECT_FALSE(plain.position_rows().present());
      for (rows::Positions positions : {rows::Positions::sinusoidal, rows::Positions::learned}) {
        config.positions = positions;
        config.max_positions = 5;
        Parameters<float> placed;
        initialize(config, 123, init, placed);
        const auto tensors = placed.tensors();
        const auto expected = plain.tensors();
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_EQ(tensors[i].name, expected[i].name);
          EXPECT_TRUE(std::ranges::equal(tensors[i].values, expected[i].values));
        }
        EXPECT_EQ(placed.position_embedding().present(), positions == rows::Positions::learned);
        if (positions == rows::Positions::sinusoidal) {
          EXPECT_EQ(tensors.size(), expected.size());
          EXPECT_EQ(placed.position_rows()[0][1], 1.0F);
          continue;
        }
        ASSERT_EQ(tensors.size(), expected.size() + 1);
        EXPECT_EQ(tensors.back().name, "position_embedding.weight");
        EXPECT_EQ(tensors.back().shape, (std::vector<std::int64_t>{5, 6}));
        double square = 0;
        for (float value : tensors.back().values) square += double{value} * value;
        const double deviation = init == Init::automatic ? 0.02 : 1;
        EXPECT_NEAR(std::sqrt(square / 30) / deviation, 1, 0.35);
        EXPECT_EQ(placed.count(), plain.count() + 30);
      }
    }
  }
}

// torch.manual_seed(123); Embedding(11, 6); Sequential(Linear(18, 10), GELU(), Linear(10, 10),
// GELU(), Linear(10, 6)); Linear(6, 11): a layer more shifts the draws of what stands behind it.
TEST(Initialize, DrawsDeeperLayersInTheirOrder) {
  ModelConfig config = config_of(11, 6, "concat:3", 10);
  Parameters<float> shallow(config);
  initialize(config, 123, Init::torch, shallow);
  config.mlp = {.layers = 2, .residual = true, .layer_norm = true};
  Parameters<float> deep(config);
  initialize(config, 123, Init::torch, deep);
  EXPECT_TRUE(std::ranges::equal(deep.mlp().linears[0].weight, shallow.mlp().linears[0].weight));
  base::TorchStream stream(123);
  base::Array<float> drawn(11 * 6);
  stream.fill_normal(drawn.view());
  const auto expect_uniform = [&](base::View1<float> got, double bound) {
    drawn.resize(got.size());
    stream.fill_uniform(drawn.view(), -static_cast<float>(bound), static_cast<float>(bound));
    for (std::int64_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], drawn[i], 1e-7);
  };
  const std::vector<double> fan_in = {18, 10, 10};
  const logits::MlpViews<float> mlp = deep.mlp();
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const auto& linear = mlp.linears[layer];
    const double bound = 1 / std::sqrt(fan_in[layer]);
    expect_uniform({linear.weight.data(), {linear.weight.size()}}, bound);
    expect_uniform(linear.bias, bound);
  }
  for (const auto& norm : mlp.norms) {
    for (float value : norm.weight) EXPECT_EQ(value, 1.0F);
    for (float value : norm.bias) EXPECT_EQ(value, 0.0F);
  }
  expect_uniform({deep.head_weight().data(), {deep.head_weight().size()}}, 1 / std::sqrt(6.0));
}

TEST(Initialize, ATiedHeadConsumesItsDrawAndIsTheTable) {
  ModelConfig untied = config_of(7, 4, "mean", 4);
  ModelConfig tied = untied;
  tied.tied = true;
  Parameters<float> separate(untied);
  Parameters<float> shared(tied);
  initialize(untied, 9, Init::torch, separate);
  initialize(tied, 9, Init::torch, shared);
  EXPECT_EQ(shared.head_weight().data(), shared.token_embedding().data());
  EXPECT_TRUE(std::ranges::equal(shared.token_embedding(), separate.token_embedding()));
  EXPECT_TRUE(std::ranges::equal(shared.head_bias(), separate.head_bias()));

  Parameters<float> scaled(tied);
  initialize(tied, 9, Init::automatic, scaled);
  for (std::int64_t i = 0; i < 7 * 4; ++i) {
    EXPECT_EQ(scaled.token_embedding().data()[i], shared.token_embedding().data()[i] * 0.5F);
  }
  EXPECT_TRUE(std::ranges::equal(scaled.mlp().linears[0].weight, shared.mlp().linears[0].weight));
}

TEST(Initialize, WidensTheFloatDraw) {
  const ModelConfig config = config_of(7, 4, "window:3", 5);
  Parameters<float> narrow(config);
  Parameters<double> wide(config);
  initialize(config, 11, Init::torch, narrow);
  initialize(config, 11, Init::torch, wide);
  const auto expected = narrow.tensors();
  const auto got = wide.tensors();
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(got[i].values, expected[i].values)) << got[i].name;
  }
}

TEST(Parameters, AreNamedAndShapedAsThePlainTorchModule) {
  ModelConfig config = config_of(24, 8, "concat:4", 16);
  const Parameters<float> full(config);
  EXPECT_EQ(names_of(full),
            (std::vector<std::string>{"token_embedding.weight", "mixer.0.weight", "mixer.0.bias",
                                      "mixer.2.weight", "mixer.2.bias", "lm_head.weight",
                                      "lm_head.bias"}));
  const std::vector<std::vector<std::int64_t>> shapes = {{24, 8}, {16, 32}, {16}, {8, 16},
                                                         {8},     {24, 8},  {24}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(full.tensors()[i].shape, shapes[i]);
    const base::View1<const float> values = full.tensors()[i].values;
    for (float value : values) EXPECT_EQ(value, 0.0F);
  }
  config.mlp = {.layers = 2, .residual = true, .layer_norm = true};
  const Parameters<float> deep(config);
  EXPECT_EQ(names_of(deep),
            (std::vector<std::string>{
                "token_embedding.weight", "mixer.0.weight", "mixer.0.bias", "mixer.2.weight",
                "mixer.2.bias", "mixer.4.weight", "mixer.4.bias", "norm.1.weight", "norm.1.bias",
                "norm.2.weight", "norm.2.bias", "lm_head.weight", "lm_head.bias"}));
  EXPECT_EQ(deep.tensors()[3].shape, (std::vector<std::int64_t>{16, 16}));
  EXPECT_EQ(deep.tensors()[5].shape, (std::vector<std::int64_t>{8, 16}));
  EXPECT_EQ(deep.tensors()[9].shape, (std::vector<std::int64_t>{16}));
  config.mlp = {};
  config.tied = true;
  config.bias = false;
  const Parameters<float> tied(config);
  EXPECT_EQ(names_of(tied),
            (std::vector<std::string>{"token_embedding.weight", "mixer.0.weight", "mixer.0.bias",
                                      "mixer.2.weight", "mixer.2.bias"}));
  EXPECT_FALSE(tied.head_bias().present());
  config.hidden = 0;
  config.mixer = context::parse_mixer("none");
  config.bias = true;
  EXPECT_EQ(names_of(Parameters<float>(config)),
            (std::vector<std::string>{"token_embedding.weight", "lm_head.bias"}));
}

TEST(Parameters, HoldLearnedRatesBehindTheTable) {
  const ModelConfig config = config_of(24, 8, "none+decay:learned:2", 16);
  Parameters<float> parameters(config);
  EXPECT_EQ(parameters.tensors()[1].name, "decay.rate");
  EXPECT_EQ(parameters.tensors()[1].shape, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(parameters.tensors()[2].shape, (std::vector<std::int64_t>{16, 24}));
  initialize(config, 1, Init::torch, parameters);
  EXPECT_EQ(parameters.decay_rate()[0], 0.0F);  // sigmoid(0) is 1/2
  EXPECT_FLOAT_EQ(parameters.decay_rate()[1], std::log(3.0F));
  EXPECT_FALSE(Parameters<float>(config_of(24, 8, "decay:0.5", 16)).decay_rate().present());
}

TEST(Parameters, CountATiedTableOnce) {
  ModelConfig config = config_of(4096, 256, "none", 0);
  config.bias = false;
  EXPECT_EQ(Parameters<float>(config).count(), 2 * 1048576);
  config.tied = true;
  EXPECT_EQ(Parameters<float>(config).count(), 1048576);
}

TEST(Parameters, RefuseSizesThatNoMemoryHolds) {
  const ModelConfig config = config_of(2000000000, std::int64_t{1} << 40, "none", 0);
  try {
    const Parameters<float> parameters(config);
    ADD_FAILURE() << "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::shape);
    EXPECT_NE(std::string(error.what()).find("token_embedding.weight"), std::string::npos);
  }
}

TEST(Gradients, HoldTheTableDenselyOnlyWhenTied) {
  ModelConfig config = config_of(6, 3, "mean", 3);
  Gradients<double> untied(config);
  EXPECT_FALSE(untied.dense.token_embedding().present());
  EXPECT_TRUE(untied.dense.head_weight().present());
  EXPECT_EQ(names_of(untied.dense).front(), "mixer.0.weight");
  config.tied = true;
  Gradients<double> tied(config);
  EXPECT_EQ(tied.dense.head_weight().data(), tied.dense.token_embedding().data());
  EXPECT_TRUE(tied.dense.token_embedding().present());

  tied.dense.token_embedding().data()[4] = 3;
  tied.rows.ids = {1};
  tied.clear();
  EXPECT_EQ(tied.dense.token_embedding().data()[4], 0.0);
  EXPECT_EQ(tied.rows.count(), 0);
}

TEST(PadPolicy, ZeroesThePadRowAfterTheTableWasRefilled) {
  ModelConfig config = config_of(5, 4, "none", 0);
  config.pad_id = 0;
  Parameters<float> parameters(config);
  base::TorchStream stream(3);
  const base::View2<float> table = parameters.token_embedding();
  const auto refill = [&] { stream.fill_normal({table.data(), {table.size()}}); };
  refill();
  EXPECT_TRUE(apply_pad_policy(config, parameters));
  for (float value : table[0]) EXPECT_EQ(value, 0.0F);
  for (float value : table[1]) EXPECT_NE(value, 0.0F);
  EXPECT_FALSE(apply_pad_policy(config, parameters));
}

TEST(PadPolicy, KeepsAnImportedPadRowWhenAskedTo) {
  ModelConfig config = config_of(5, 4, "none", 0);
  config.pad_id = 0;
  config.pad_policy = PadPolicy::keep;
  Parameters<double> parameters(config);
  const base::View2<double> table = parameters.token_embedding();
  std::fill(table.begin(), table.end(), 0.5);
  EXPECT_FALSE(apply_pad_policy(config, parameters));
  EXPECT_EQ(table[0][3], 0.5);
  config.pad_policy = PadPolicy::zero;
  EXPECT_TRUE(apply_pad_policy(config, parameters));
  EXPECT_EQ(table[0][3], 0.0);
  config.pad_id = kNoId;
  EXPECT_FALSE(apply_pad_policy(config, parameters));
}

}  // namespace
}  // namespace lexirow::model
