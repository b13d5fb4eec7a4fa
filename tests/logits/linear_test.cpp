#include "logits/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "logits/linear_tiles.h"
#include "support/gradient_check.h"

namespace lexirow::logits {
namespace {

using base::View1;
using base::View2;
using testing::normal_values;

struct LinearSizes {
  std::int64_t n;
  std::int64_t inputs;
  std::int64_t outputs;
};

/// Seeded values of one linear layer and its gradients.
template <Real T>
struct Layer {
  explicit Layer(const LinearSizes& size, std::uint32_t seed = 1)
      : n(size.n),
        inputs(size.inputs),
        outputs(size.outputs),
        x(values(seed, n * inputs)),
        weight(values(seed + 1, outputs * inputs)),
        bias(values(seed + 2, outputs)),
        d_out(values(seed + 3, n * outputs)),
        out(static_cast<std::size_t>(n * outputs), std::numeric_limits<T>::quiet_NaN()),
        d_x(x.size()),
        d_weight(weight.size()),
        d_bias(bias.size()) {}

  static std::vector<T> values(std::uint32_t seed, std::int64_t size) {
    const std::vector<double> wide = normal_values(seed, size);
    return std::vector<T>(wide.begin(), wide.end());
  }
  View2<T> view(std::vector<T>& of, std::int64_t rows) {
    return {of.data(), {rows, static_cast<std::int64_t>(of.size()) / rows}};
  }
  void forward(base::ThreadPool& pool, bool with_bias = true) {
    linear_forward<T>(pool, view(x, n), view(weight, outputs),
                      with_bias ? View1<const T>(bias.data(), {outputs}) : View1<const T>(),
                      view(out, n));
  }
  void backward(base::ThreadPool& pool) {
    linear_backward<T>(pool, view(x, n), view(weight, outputs), view(d_out, n), view(d_x, n),
                       view(d_weight, outputs), View1<T>(d_bias.data(), {outputs}));
  }
  double loss(base::ThreadPool& pool) {
    forward(pool);
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      sum += static_cast<double>(out[i]) * static_cast<double>(d_out[i]);
    }
    return sum;
  }

  std::int64_t n, inputs, outputs;
  std::vector<T> x, weight, bias, d_out, out, d_x, d_weight, d_bias;
};

View1<double> all(std::vector<double>& values) {
  return {values.data(), {static_cast<std::int64_t>(values.size())}};
}

constexpr LinearSizes kSmall[] = {{1, 1, 1}, {1, 5, 3}, {7, 1, 5}, {5, 3, 1}, {9, 7, 33}};

TEST(Linear, GradientsAreThoseOfCentralDifferences) {
  base::ThreadPool pool(2);
  for (const LinearSizes& size : kSmall) {
    Layer<double> layer(size);
    layer.backward(pool);
    const auto loss = [&] { return layer.loss(pool); };
    testing::expect_gradient("x", all(layer.x), all(layer.d_x), loss);
    testing::expect_gradient("weight", all(layer.weight), all(layer.d_weight), loss);
    testing::expect_gradient("bias", all(layer.bias), all(layer.d_bias), loss);
  }
}

TEST(Linear, BackwardAddsToWhatIsThere) {
  base::ThreadPool pool(2);
  for (const LinearSizes& size : {LinearSizes{9, 7, 33}, LinearSizes{1100, 5, 130}}) {
    Layer<double> once(size);
    Layer<double> twice(size);
    once.backward(pool);
    twice.backward(pool);
    twice.backward(pool);
    const std::vector<double>* pairs[][2] = {
        {&once.d_x, &twice.d_x}, {&once.d_weight, &twice.d_weight}, {&once.d_bias, &twice.d_bias}};
    for (const auto& pair : pairs) {
      for (std::size_t i = 0; i < pair[0]->size(); ++i) {
        EXPECT_NEAR((*pair[1])[i], 2 * (*pair[0])[i], 1e-12 * (1 + std::abs((*pair[0])[i])));
      }
    }
  }
}

template <Real T>
void expect_overwritten() {
  base::ThreadPool pool(2);
  for (const LinearSizes& size : kSmall) {
    for (bool with_bias : {false, true}) {
      Layer<T> layer(size);
      layer.forward(pool, with_bias);
      for (std::int64_t row = 0; row < size.n; ++row) {
        for (std::int64_t o = 0; o < size.outputs; ++o) {
          double expected =
              with_bias ? static_cast<double>(layer.bias[static_cast<std::size_t>(o)]) : 0;
          for (std::int64_t i = 0; i < size.inputs; ++i) {
            expected +=
                static_cast<double>(layer.x[static_cast<std::size_t>(row * size.inputs + i)]) *
                static_cast<double>(layer.weight[static_cast<std::size_t>(o * size.inputs + i)]);
          }
          const auto got =
              static_cast<double>(layer.out[static_cast<std::size_t>(row * size.outputs + o)]);
          EXPECT_NEAR(got, expected, sizeof(T) == 4 ? 2e-6 : 1e-14);
        }
      }
    }
  }
}

TEST(Linear, ForwardOverwritesNan) {
  expect_overwritten<float>();
  expect_overwritten<double>();
}

TEST(Linear, GradientsMayBeLeftOut) {
  base::ThreadPool pool(2);
  Layer<double> layer({9, 7, 33});
  linear_backward<double>(pool, layer.view(layer.x, 9), layer.view(layer.weight, 33),
                          layer.view(layer.d_out, 9), {}, layer.view(layer.d_weight, 33), {});
  Layer<double> full({9, 7, 33});
  full.backward(pool);
  EXPECT_EQ(layer.d_weight, full.d_weight);
  EXPECT_EQ(layer.d_x, std::vector<double>(layer.x.size()));
  EXPECT_EQ(layer.d_bias, std::vector<double>(layer.bias.size()));
}

TEST(Linear, NoRowsGiveNothing) {
  base::ThreadPool pool(2);
  Layer<float> layer({3, 4, 5});
  const View2<float> none(layer.x.data(), {0, 4});
  const View2<float> no_out(layer.out.data(), {0, 5});
  linear_forward<float>(pool, none, layer.view(layer.weight, 5), {}, no_out);
  linear_backward<float>(pool, none, layer.view(layer.weight, 5), no_out, none,
                         layer.view(layer.d_weight, 5), {});
  EXPECT_EQ(layer.d_weight, std::vector<float>(20));
}

/// Over more than one piece of rows, tile of rows and tile of columns.
constexpr LinearSizes kLarge[] = {{1300, 40, 70}, {600, 33, 130}, {1, 600, 1000}, {3, 512, 700}};

TEST(Linear, FloatAgreesWithDouble) {
  base::ThreadPool pool(2);
  for (const LinearSizes& size : kLarge) {
    Layer<float> narrow(size);
    Layer<double> wide(size);
    wide.x.assign(narrow.x.begin(), narrow.x.end());
    wide.weight.assign(narrow.weight.begin(), narrow.weight.end());
    wide.bias.assign(narrow.bias.begin(), narrow.bias.end());
    wide.d_out.assign(narrow.d_out.begin(), narrow.d_out.end());
    narrow.forward(pool);
    wide.forward(pool);
    narrow.backward(pool);
    wide.backward(pool);
    // Relative to the length of a sum of that many terms of unit size.
    const auto expect_near = [](const std::vector<float>& got, const std::vector<double>& expected,
                                std::int64_t terms) {
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(got[i]), expected[i],
                    3e-6 * std::sqrt(static_cast<double>(terms)));
      }
    };
    expect_near(narrow.out, wide.out, size.inputs + 1);
    expect_near(narrow.d_x, wide.d_x, size.outputs);
    expect_near(narrow.d_weight, wide.d_weight, size.n);
    expect_near(narrow.d_bias, wide.d_bias, size.n);
  }
}

TEST(Linear, SameBytesForAnyThreads) {
  for (const LinearSizes& size : kLarge) {
    base::ThreadPool alone(1);
    Layer<float> reference(size);
    reference.forward(alone);
    reference.backward(alone);
    for (int threads : {2, 4}) {
      base::ThreadPool pool(threads);
      Layer<float> layer(size);
      layer.forward(pool);
      layer.backward(pool);
      EXPECT_EQ(layer.out, reference.out) << threads;
      EXPECT_EQ(layer.d_x, reference.d_x) << threads;
      EXPECT_EQ(layer.d_weight, reference.d_weight) << threads;
      EXPECT_EQ(layer.d_bias, reference.d_bias) << threads;
    }
  }
}

TEST(Linear, WeightTilesCoverEveryRowOnce) {
  for (std::int64_t outputs : {0, 1, 15, 16, 31, 32, 65, 128, 511, 512, 513, 50257}) {
    const std::int64_t rows = weight_rows_per_tile(outputs);
    const std::int64_t tiles = weight_tiles(outputs);
    EXPECT_GE(tiles * rows, outputs);
    EXPECT_LE((tiles - 1) * rows, std::max<std::int64_t>(0, outputs - 1));
    EXPECT_LE(rows, 64);
  }
}

TEST(Linear, ScoresOfAHeadWithoutBias) {
  base::ThreadPool pool(1);
  std::vector<double> hidden = {1, 2};
  std::vector<double> head = {1, 0, 0, 1, 1, 1};
  std::vector<double> scores(3);
  linear_forward<double>(pool, View2<const double>(hidden.data(), {1, 2}),
                         View2<const double>(head.data(), {3, 2}), {},
                         View2<double>(scores.data(), {1, 3}));
  EXPECT_EQ(scores, (std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace lexirow::logits
