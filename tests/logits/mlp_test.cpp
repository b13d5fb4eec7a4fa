#include "logits/mlp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "support/gradient_check.h"

namespace lexirow::logits {
namespace {

using base::View1;
using base::View2;

struct MlpSizes {
  std::int64_t n;
  std::int64_t features;
  std::int64_t hidden;
  std::int64_t width;
};

/// Seeded values of one MLP, its outputs (NaN at first) and its gradients (zero at first).
template <Real T>
struct Mlp {
  explicit Mlp(const MlpSizes& at) : size(at) {
    std::uint32_t seed = 1;
    const auto fill = [&](std::vector<T>& values, std::int64_t count, double scale) {
      for (double v : testing::normal_values(seed++, count)) {
        // Rounded to float, so that both types start from the same numbers.
        values.push_back(static_cast<T>(static_cast<float>(v * scale)));
      }
    };
    fill(x, at.n * at.features, 1);
    fill(d_out, at.n * at.width, 1);
    fill(weight0, at.hidden * at.features, 1 / std::sqrt(static_cast<double>(at.features)));
    fill(bias0, at.hidden, 1);
    fill(weight2, at.width * at.hidden, 1 / std::sqrt(static_cast<double>(at.hidden)));
    fill(bias2, at.width, 1);
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    before.assign(static_cast<std::size_t>(at.n * at.hidden), kNan);
    activated = before;
    d_before = before;
    out.assign(d_out.size(), kNan);
    d_x.resize(x.size());
    d_weight0.resize(weight0.size());
    d_bias0.resize(bias0.size());
    d_weight2.resize(weight2.size());
    d_bias2.resize(bias2.size());
  }

  View2<T> view(std::vector<T>& of, std::int64_t rows) {
    return {of.data(), {rows, static_cast<std::int64_t>(of.size()) / rows}};
  }
  MlpViews<const T> parameters() {
    return {view(weight0, size.hidden), View1<T>(bias0.data(), {size.hidden}),
            view(weight2, size.width), View1<T>(bias2.data(), {size.width})};
  }
  void forward(base::ThreadPool& pool) {
    mlp_forward<T>(pool, view(x, size.n), parameters(), view(before, size.n),
                   view(activated, size.n), view(out, size.n));
  }
  void backward(base::ThreadPool& pool) {
    mlp_backward<T>(pool, view(x, size.n), parameters(), view(before, size.n),
                    view(activated, size.n), view(d_out, size.n), view(d_before, size.n),
                    view(d_x, size.n),
                    {view(d_weight0, size.hidden), View1<T>(d_bias0.data(), {size.hidden}),
                     view(d_weight2, size.width), View1<T>(d_bias2.data(), {size.width})});
  }
  std::vector<std::vector<T>*> gradients() {
    return {&d_x, &d_weight0, &d_bias0, &d_weight2, &d_bias2};
  }
  std::vector<std::vector<T>*> values() { return {&x, &weight0, &bias0, &weight2, &bias2}; }

  MlpSizes size;
  std::vector<T> x, weight0, bias0, weight2, bias2, d_out;
  std::vector<T> before, activated, out, d_before;
  std::vector<T> d_x, d_weight0, d_bias0, d_weight2, d_bias2;
};

constexpr MlpSizes kSmallMlps[] = {{1, 1, 1, 1}, {1, 3, 5, 2}, {6, 1, 7, 1}, {5, 7, 3, 9}};

TEST(Mlp, GradientsAreThoseOfCentralDifferences) {
  base::ThreadPool pool(2);
  for (const MlpSizes& size : kSmallMlps) {
    Mlp<double> mlp(size);
    mlp.forward(pool);
    mlp.backward(pool);
    const auto loss = [&] {
      mlp.forward(pool);
      double sum = 0;
      for (std::size_t i = 0; i < mlp.out.size(); ++i) sum += mlp.out[i] * mlp.d_out[i];
      return sum;
    };
    const char* names[] = {"x", "weight0", "bias0", "weight2", "bias2"};
    for (std::size_t i = 0; i < 5; ++i) {
      std::vector<double>& value = *mlp.values()[i];
      const std::vector<double> gradient = *mlp.gradients()[i];
      const auto count = static_cast<std::int64_t>(value.size());
      testing::expect_gradient(names[i], View1<double>(value.data(), {count}),
                               View1<const double>(gradient.data(), {count}), loss);
    }
  }
}

TEST(Mlp, ForwardOverwritesNanWithTheDefinition) {
  base::ThreadPool pool(2);
  Mlp<double> mlp({5, 7, 3, 9});
  mlp.forward(pool);
  for (std::int64_t n = 0; n < 5; ++n) {
    std::vector<double> activated(3);
    for (std::int64_t h = 0; h < 3; ++h) {
      double sum = mlp.bias0[static_cast<std::size_t>(h)];
      for (std::int64_t f = 0; f < 7; ++f) {
        sum += mlp.view(mlp.weight0, 3)[h][f] * mlp.view(mlp.x, 5)[n][f];
      }
      EXPECT_NEAR(mlp.view(mlp.before, 5)[n][h], sum, 1e-14);
      activated[static_cast<std::size_t>(h)] = sum / 2 * (1 + std::erf(sum / std::numbers::sqrt2));
      EXPECT_NEAR(mlp.view(mlp.activated, 5)[n][h], activated[static_cast<std::size_t>(h)], 1e-14);
    }
    for (std::int64_t d = 0; d < 9; ++d) {
      double sum = mlp.bias2[static_cast<std::size_t>(d)];
      for (std::int64_t h = 0; h < 3; ++h) {
        sum += mlp.view(mlp.weight2, 9)[d][h] * activated[static_cast<std::size_t>(h)];
      }
      EXPECT_NEAR(mlp.view(mlp.out, 5)[n][d], sum, 1e-14);
    }
  }
}

TEST(Mlp, BackwardAddsToWhatIsThere) {
  base::ThreadPool pool(2);
  Mlp<double> once({40, 7, 33, 9});
  Mlp<double> twice({40, 7, 33, 9});
  once.forward(pool);
  twice.forward(pool);
  once.backward(pool);
  twice.backward(pool);
  twice.backward(pool);
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t i = 0; i < once.gradients()[t]->size(); ++i) {
      const double expected = 2 * (*once.gradients()[t])[i];
      EXPECT_NEAR((*twice.gradients()[t])[i], expected, 1e-12 * (1 + std::abs(expected)));
    }
  }
}

TEST(Mlp, FloatAgreesWithDouble) {
  base::ThreadPool pool(2);
  for (const MlpSizes& size : {MlpSizes{1100, 48, 70, 33}, MlpSizes{37, 512, 512, 16}}) {
    Mlp<float> narrow(size);
    Mlp<double> wide(size);
    narrow.forward(pool);
    narrow.backward(pool);
    wide.forward(pool);
    wide.backward(pool);
    for (std::size_t i = 0; i < wide.out.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(narrow.out[i]), wide.out[i], 5e-6);
    }
    // 2e-6 of the tensor's largest entry.
    for (std::size_t t = 0; t < 5; ++t) {
      double largest = 0;
      for (double v : *wide.gradients()[t]) largest = std::max(largest, std::abs(v));
      for (std::size_t i = 0; i < wide.gradients()[t]->size(); ++i) {
        EXPECT_NEAR(static_cast<double>((*narrow.gradients()[t])[i]), (*wide.gradients()[t])[i],
                    2e-6 * largest);
      }
    }
  }
}

TEST(Mlp, SameBytesForAnyThreads) {
  for (const MlpSizes& size : {MlpSizes{1100, 48, 70, 33}, MlpSizes{300, 64, 512, 64}}) {
    base::ThreadPool alone(1);
    Mlp<float> reference(size);
    reference.forward(alone);
    reference.backward(alone);
    for (int threads : {2, 4}) {
      base::ThreadPool pool(threads);
      Mlp<float> mlp(size);
      mlp.forward(pool);
      mlp.backward(pool);
      EXPECT_EQ(mlp.out, reference.out) << threads;
      for (std::size_t t = 0; t < 5; ++t) {
        EXPECT_EQ(*mlp.gradients()[t], *reference.gradients()[t]) << threads << " tensor " << t;
      }
    }
  }
}

}  // namespace
}  // namespace lexirow::logits
