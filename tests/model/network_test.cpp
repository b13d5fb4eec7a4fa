#include "model/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "model/small_model.h"
#include "support/gradient_check.h"

namespace lexirow::model {
namespace {

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Values of all gradients in declaration order, the table's first.
template <Real T>
std::vector<T> all_gradients(const ModelConfig& config, const Parameters<T>& parameters,
                             const Gradients<T>& gradients) {
  std::vector<T> all;
  for (const auto& tensor : parameters.tensors()) {
    const std::vector<T> part = gradient_of(config, gradients, tensor.name);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void expect_model_gradients(const ModelConfig& config, const OwnedBatch& batch) {
  SCOPED_TRACE(describe(config) + " B " + std::to_string(batch.batch) + " P " +
               std::to_string(batch.earlier) + " T " + std::to_string(batch.steps) +
               (batch.mask.empty() ? "" : " holes"));
  Parameters<double> parameters = make_parameters<double>(config, 3);
  base::ThreadPool pool(1);
  Workspace<double> workspace;
  Gradients<double> gradients(config);
  const loss::LossSum sum =
      evaluate_with_gradients(pool, config, parameters, batch.view(), workspace, gradients);
  const auto mean_loss = [&] {
    return evaluate<double>(pool, config, parameters, batch.view(), workspace, {}).mean();
  };
  EXPECT_NEAR(sum.mean(), mean_loss(), 1e-12);
  for (const NamedTensor<double>& tensor : parameters.tensors()) {
    const std::vector<double> analytic = gradient_of(config, gradients, tensor.name);
    testing::expect_gradient(tensor.name, tensor.values,
                             {analytic.data(), {static_cast<std::int64_t>(analytic.size())}},
                             mean_loss);
  }
}

TEST(Network, HasTheGradientOfCentralDifferencesForEveryModel) {
  for (const ModelConfig& config : every_model(7, 3, 4)) {
    expect_model_gradients(config, make_batch(1, 7, 2, 0, 5, true));
    expect_model_gradients(config, make_batch(2, 7, 2, 2, 3, false));
  }
}

TEST(Network, HasTheGradientOfCentralDifferencesForOddSizes) {
  for (const char* mixer : {"none", "mean", "window:2", "concat:2", "full-mean", "centred"}) {
    expect_model_gradients(make_config(mixer, 2, 1, 1, false, true),
                           make_batch(3, 2, 1, 0, 1, false));
    expect_model_gradients(make_config(mixer, 5, 1, 3, true, false),
                           make_batch(4, 5, 3, 0, 4, true));
    expect_model_gradients(make_config(mixer, 3, 9, 2, true, true),
                           make_batch(5, 3, 1, 3, 1, true));
    expect_model_gradients(make_config(mixer, 3, 9, 2, false, false),
                           make_batch(6, 3, 1, 0, 7, false));
  }
}

TEST(Network, AddsToItsGradients) {
  for (const ModelConfig& config : every_model(7, 3, 4)) {
    SCOPED_TRACE(describe(config));
    const Parameters<double> parameters = make_parameters<double>(config, 4);
    const OwnedBatch batch = make_batch(7, 7, 2, 1, 5, true);
    base::ThreadPool pool(2);
    Workspace<double> workspace;
    Gradients<double> gradients(config);
    evaluate_with_gradients(pool, config, parameters, batch.view(), workspace, gradients);
    const std::vector<double> once = all_gradients(config, parameters, gradients);
    evaluate_with_gradients(pool, config, parameters, batch.view(), workspace, gradients);
    const std::vector<double> twice = all_gradients(config, parameters, gradients);
    for (std::size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(twice[i], 2 * once[i], 1e-12);
  }
}

TEST(Network, GivesTheSameBytesForAnyThreadsAndAUsedWorkspace) {
  base::ThreadPool one(1);
  base::ThreadPool two(2);
  base::ThreadPool four(4);
  for (const ModelConfig& config : every_model(41, 24, 48)) {
    SCOPED_TRACE(describe(config));
    const Parameters<float> parameters = make_parameters<float>(config, 5);
    const OwnedBatch batch = make_batch(8, 41, 5, 2, 33, true);
    const OwnedBatch larger = make_batch(9, 41, 6, 2, 40, false);
    Gradients<float> expected(config);
    Workspace<float> fresh;
    const loss::LossSum sum =
        evaluate_with_gradients(one, config, parameters, batch.view(), fresh, expected);
    for (base::ThreadPool* pool : {&two, &four}) {
      Workspace<float> used;
      Gradients<float> gradients(config);
      evaluate_with_gradients(*pool, config, parameters, larger.view(), used, gradients);
      gradients.clear();
      const loss::LossSum other =
          evaluate_with_gradients(*pool, config, parameters, batch.view(), used, gradients);
      EXPECT_EQ(sum.sum, other.sum);
      EXPECT_TRUE(same_bits(all_gradients(config, parameters, expected),
                            all_gradients(config, parameters, gradients)));
      EXPECT_TRUE(same_bits(logits_of(config, parameters, batch),
                            logits_of(config, parameters, batch, *pool)));
    }
  }
}

TEST(Network, SeesTheFutureOnlyThroughALeakyMixer) {
  constexpr std::int64_t kSteps = 9;
  for (const ModelConfig& config : every_model(11, 6, 8)) {
    SCOPED_TRACE(describe(config));
    const Parameters<float> parameters = make_parameters<float>(config, 6);
    const OwnedBatch batch = make_batch(10, 11, 2, 0, kSteps, false);
    const std::vector<float> before = logits_of(config, parameters, batch);
    bool future_seen = false;
    for (std::int64_t t = 0; t + 1 < kSteps; ++t) {
      OwnedBatch changed = batch;
      for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t s = t + 1; s < kSteps; ++s) {
          Id& id = changed.ids[static_cast<std::size_t>(b * kSteps + s)];
          id = static_cast<Id>(1 + id % 10);
        }
      }
      const std::vector<float> after = logits_of(config, parameters, changed);
      EXPECT_FALSE(same_bits(before, after));
      for (std::int64_t b = 0; b < 2; ++b) {
        future_seen = future_seen ||
                      std::memcmp(before.data() + b * kSteps * 11, after.data() + b * kSteps * 11,
                                  static_cast<std::size_t>((t + 1) * 11) * sizeof(float)) != 0;
      }
    }
    EXPECT_EQ(future_seen, context::leaks_future(config.mixer));
  }
}

TEST(Network, InFloatIsCloseToDouble) {
  for (const ModelConfig& config : every_model(19, 12, 20)) {
    SCOPED_TRACE(describe(config));
    const Parameters<float> narrow = make_parameters<float>(config, 7);
    const Parameters<double> wide = widen(config, narrow);
    const OwnedBatch batch = make_batch(11, 19, 3, 0, 8, true);
    base::ThreadPool pool(1);
    Workspace<float> narrow_workspace;
    Workspace<double> wide_workspace;
    Gradients<float> narrow_gradients(config);
    Gradients<double> wide_gradients(config);
    const loss::LossSum narrow_sum = evaluate_with_gradients(pool, config, narrow, batch.view(),
                                                             narrow_workspace, narrow_gradients);
    const loss::LossSum wide_sum =
        evaluate_with_gradients(pool, config, wide, batch.view(), wide_workspace, wide_gradients);
    EXPECT_NEAR(narrow_sum.mean(), wide_sum.mean(), 2e-6 * wide_sum.mean());
    const std::vector<float> got = all_gradients(config, narrow, narrow_gradients);
    const std::vector<double> expected = all_gradients(config, wide, wide_gradients);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-6) << i;
  }
}

TEST(Network, HasALossOfItsLogits) {
  for (const ModelConfig& config : every_model(9, 4, 5)) {
    SCOPED_TRACE(describe(config));
    const Parameters<double> parameters = make_parameters<double>(config, 8);
    const OwnedBatch batch = make_batch(12, 9, 2, 1, 6, true);
    const std::vector<double> logits = logits_of(config, parameters, batch);
    ASSERT_EQ(logits.size(), 2U * 6 * 9);
    base::ThreadPool pool(1);
    Workspace<double> workspace;
    std::vector<double> losses(12, std::numeric_limits<double>::quiet_NaN());
    const loss::LossSum sum =
        evaluate<double>(pool, config, parameters, batch.view(), workspace, {losses.data(), {12}});
    const bool pad_takes_part = !(config.tied && config.pad_id == 0);
    double total = 0;
    std::int64_t counted = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      double expected = 0;
      if (batch.labels[i] != kIgnoredLabel) {
        double normaliser = 0;
        for (std::size_t v = pad_takes_part ? 0 : 1; v < 9; ++v) {
          normaliser += std::exp(logits[i * 9 + v]);
        }
        expected = std::log(normaliser) - logits[i * 9 + static_cast<std::size_t>(batch.labels[i])];
        ++counted;
      }
      EXPECT_NEAR(losses[i], expected, 1e-12) << i;
      total += expected;
    }
    EXPECT_EQ(sum.counted, counted);
    EXPECT_EQ(sum.total, 12);
    EXPECT_NEAR(sum.sum, total, 1e-11);
  }
}

TEST(Network, WithoutACountedLabelChangesNothing) {
  for (const ModelConfig& config : every_model(7, 3, 4)) {
    SCOPED_TRACE(describe(config));
    const Parameters<float> parameters = make_parameters<float>(config, 9);
    OwnedBatch batch = make_batch(13, 7, 1, 0, 5, false);
    base::ThreadPool pool(1);
    Workspace<float> workspace;
    Gradients<float> gradients(config);
    evaluate_with_gradients(pool, config, parameters, batch.view(), workspace, gradients);
    const std::vector<float> before = all_gradients(config, parameters, gradients);
    std::fill(batch.labels.begin(), batch.labels.end(), kIgnoredLabel);
    const loss::LossSum sum =
        evaluate_with_gradients(pool, config, parameters, batch.view(), workspace, gradients);
    EXPECT_EQ(sum.counted, 0);
    EXPECT_EQ(sum.total, 5);
    EXPECT_EQ(sum.sum, 0.0);
    EXPECT_TRUE(same_bits(before, all_gradients(config, parameters, gradients)));
    EXPECT_EQ(evaluate<float>(pool, config, parameters, batch.view(), workspace, {}).counted, 0);
  }
}

TEST(Network, GivesUnseenRowsAndThePadRowExactlyNoGradient) {
  for (const ModelConfig& config : every_model(50, 4, 5)) {
    SCOPED_TRACE(describe(config));
    if (config.pad_id == kNoId) continue;
    const Parameters<float> parameters = make_parameters<float>(config, 10);
    // Without a mask too: the pad id itself is what gets no gradient.
    for (bool with_mask : {true, false}) {
      OwnedBatch batch = make_batch(14, 50, 2, 0, 6, true);
      if (!with_mask) batch.mask.clear();
      ASSERT_TRUE(std::count(batch.ids.begin(), batch.ids.end(), 0) > 0);
      base::ThreadPool pool(2);
      Workspace<float> workspace;
      Gradients<float> gradients(config);
      evaluate_with_gradients(pool, config, parameters, batch.view(), workspace, gradients);
      const std::vector<float> d_table = gradient_of(config, gradients, "token_embedding.weight");
      for (std::int64_t id = 0; id < 50; ++id) {
        const bool seen = std::count(batch.ids.begin(), batch.ids.end(), id) > 0;
        if (id != 0 && (seen || config.tied)) continue;
        for (std::int64_t c = 0; c < 4; ++c) {
          EXPECT_EQ(d_table[static_cast<std::size_t>(id * 4 + c)], 0.0F) << id;
        }
      }
      if (config.tied) continue;
      for (Id id : gradients.rows.ids) {
        EXPECT_GT(std::count(batch.ids.begin(), batch.ids.end(), id), 0);
      }
    }
  }
}

TEST(Network, ReadsEarlierRowsAsContext) {
  // The last outputs of a batch with earlier rows are those of the whole text.
  for (const char* mixer : {"none", "mean", "window:4", "concat:4", "centred"}) {
    const ModelConfig config = make_config(mixer, 9, 4, 6, false, true);
    const Parameters<double> parameters = make_parameters<double>(config, 11);
    OwnedBatch whole = make_batch(15, 9, 1, 0, 8, true);
    OwnedBatch part = whole;
    part.earlier = 5;
    part.steps = 3;
    const std::vector<double> all = logits_of(config, parameters, whole);
    const std::vector<double> last = logits_of(config, parameters, part);
    ASSERT_EQ(last.size(), 3U * 9);
    for (std::size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(last[i], all[5 * 9 + i], 1e-13);
  }
}

TEST(HiddenStates, AreWhatTheHeadReadsAndZeroOnRequest) {
  for (const ModelConfig& config : every_model(9, 4, 5)) {
    SCOPED_TRACE(describe(config));
    const Parameters<double> parameters = make_parameters<double>(config, 12);
    const OwnedBatch batch = make_batch(16, 9, 2, 2, 4, true);
    const std::vector<double> logits = logits_of(config, parameters, batch);
    base::ThreadPool pool(1);
    Workspace<double> workspace;
    base::Array<double> states;
    states.resize(8 * 4);
    states.fill(std::numeric_limits<double>::quiet_NaN());
    hidden_states<double>(pool, config, parameters, batch.view(), false, workspace,
                          states.view(8, 4));
    const base::View2<const double> head = parameters.head_weight();
    for (std::int64_t i = 0; i < 8; ++i) {
      for (std::int64_t v = 0; v < 9; ++v) {
        double score = config.bias ? parameters.head_bias()[v] : 0.0;
        for (std::int64_t c = 0; c < 4; ++c) score += states[i * 4 + c] * head[v][c];
        EXPECT_NEAR(logits[static_cast<std::size_t>(i * 9 + v)], score, 1e-12);
      }
    }
    base::Array<double> shown;
    shown.resize(8 * 4);
    hidden_states<double>(pool, config, parameters, batch.view(), true, workspace,
                          shown.view(8, 4));
    for (std::int64_t i = 0; i < 8; ++i) {
      const bool visible = batch.mask[static_cast<std::size_t>(i / 4 * 6 + 2 + i % 4)] != 0;
      for (std::int64_t c = 0; c < 4; ++c) {
        EXPECT_EQ(shown[i * 4 + c], visible ? states[i * 4 + c] : 0.0);
      }
    }
  }
}

TEST(HiddenStates, WithSkipHaveTheCurrentRowOnTop) {
  const ModelConfig plain = make_config("mean", 9, 4, 5, false, false);
  ModelConfig skipping = plain;
  skipping.skip = true;
  const Parameters<double> parameters = make_parameters<double>(plain, 14);
  const OwnedBatch batch = make_batch(18, 9, 2, 2, 4, true);
  base::ThreadPool pool(1);
  Workspace<double> workspace;
  base::Array<double> without(8 * 4);
  base::Array<double> with(8 * 4);
  hidden_states<double>(pool, plain, parameters, batch.view(), false, workspace,
                        without.view(8, 4));
  hidden_states<double>(pool, skipping, parameters, batch.view(), false, workspace,
                        with.view(8, 4));
  for (std::int64_t i = 0; i < 8; ++i) {
    const auto place = static_cast<std::size_t>(i / 4 * 6 + 2 + i % 4);
    for (std::int64_t c = 0; c < 4; ++c) {
      const double row =
          batch.mask[place] != 0 ? parameters.token_embedding()[batch.ids[place]][c] : 0.0;
      EXPECT_EQ(with[i * 4 + c], without[i * 4 + c] + row);
    }
  }
}

// A row and its position are one row of a table that has a row for each pair of them.
TEST(Network, PositionsEqualATableWithARowForEachTokenAndPosition) {
  constexpr std::int64_t kCount = 4;
  for (rows::Positions positions : {rows::Positions::learned, rows::Positions::sinusoidal}) {
    for (const char* mixer : {"none", "mean", "concat:3"}) {
      ModelConfig config = make_config(mixer, 9, 4, 5, false, true);
      config.positions = positions;
      config.max_positions = kCount;
      const Parameters<double> parameters = make_parameters<double>(config, 15);
      ModelConfig whole = make_config(mixer, 9 * kCount, 4, 5, false, true);
      Parameters<double> pairs(whole);
      for (const auto& target : pairs.tensors()) {
        for (const auto& source : parameters.tensors()) {
          if (source.name != target.name || !target.name.starts_with("mixer")) continue;
          std::copy(source.values.begin(), source.values.end(), target.values.begin());
        }
      }
      for (std::int64_t row = 0; row < 9 * kCount; ++row) {
        for (std::int64_t c = 0; c < 4; ++c) {
          pairs.token_embedding()[row][c] = parameters.token_embedding()[row / kCount][c] +
                                            parameters.position_rows()[row % kCount][c];
        }
      }
      const OwnedBatch batch = make_batch(19, 9, 2, 2, 7, true);
      OwnedBatch paired = batch;
      for (std::size_t i = 0; i < paired.ids.size(); ++i) {
        const auto position = static_cast<Id>((i % 9 + kCount - 2) % kCount);  // 0 at column P = 2
        paired.ids[i] = static_cast<Id>(paired.ids[i] * kCount + position);
      }
      base::ThreadPool pool(2);
      Workspace<double> workspace;
      std::vector<double> got(14 * 4);
      std::vector<double> expected(14 * 4);
      hidden_states<double>(pool, config, parameters, batch.view(), false, workspace,
                            {got.data(), {14, 4}});
      hidden_states<double>(pool, whole, pairs, paired.view(), false, workspace,
                            {expected.data(), {14, 4}});
      EXPECT_TRUE(same_bits(got, expected)) << describe(config);
    }
  }
}

TEST(Network, APositionWhereOnlyPaddingStandsLearnsNothing) {
  ModelConfig config = make_config("mean", 9, 4, 5, false, false);
  config.positions = rows::Positions::learned;
  config.max_positions = 6;
  const Parameters<float> parameters = make_parameters<float>(config, 16);
  OwnedBatch batch = make_batch(20, 9, 2, 0, 6, false);
  batch.mask.assign(12, 1);
  batch.mask[4] = batch.mask[5] = batch.mask[10] = batch.mask[11] = 0;
  base::ThreadPool pool(1);
  Workspace<float> workspace;
  Gradients<float> gradients(config);
  evaluate_with_gradients(pool, config, parameters, batch.view(), workspace, gradients);
  const base::View2<float> d_positions = gradients.dense.position_embedding();
  for (std::int64_t t = 0; t < 6; ++t) {
    for (float value : d_positions[t]) EXPECT_EQ(value != 0, t < 4) << t;
  }
}

TEST(Network, DoesNotReadWhatAMaskedPositionHolds) {
  for (const ModelConfig& config : every_model(9, 4, 5)) {
    SCOPED_TRACE(describe(config));
    const Parameters<float> parameters = make_parameters<float>(config, 13);
    OwnedBatch batch = make_batch(17, 9, 2, 1, 6, true);
    const std::vector<float> before = logits_of(config, parameters, batch);
    for (std::size_t i = 0; i < batch.ids.size(); ++i) {
      if (batch.mask[i] == 0) batch.ids[i] = static_cast<Id>(1 + i % 8);
    }
    EXPECT_TRUE(same_bits(before, logits_of(config, parameters, batch)));
  }
}

}  // namespace
}  // namespace lexirow::model
