#include "kernels/layer_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/padded.h"

namespace lexirow::kernels {
namespace {

std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

/// Calls body(length, seed, where) over instruction sets and lengths, 0 left out.
void sweep(const std::function<void(std::int64_t, std::uint32_t, const std::string&)>& body) {
  on_every_target([&](const std::string& target) {
    for (std::int64_t size : lengths()) {
      if (size == 0) continue;
      body(size, static_cast<std::uint32_t>(size), target + " length " + std::to_string(size));
    }
  });
}

TEST(LayerOps, ReluAndItsGradientAreExact) {
  sweep([](std::int64_t size, std::uint32_t seed, const std::string& where) {
    std::vector<float> x = test_values(seed, size, 1);
    x[0] = 0;
    if (size > 2) x[1] = kNan;
    const std::vector<float> d = test_values(seed + 1, size, 1);
    Padded out(x, 3);
    Padded d_x(d, 1);
    relu<float>(size, out.data(), out.data());
    relu_gradient<float>(size, x.data(), d_x.data(), d_x.data());
    std::vector<double> wide = widened(x);
    std::vector<double> wide_d = widened(d);
    relu_gradient<double>(size, wide.data(), wide_d.data(), wide_d.data());
    relu<double>(size, wide.data(), wide.data());
    for (std::int64_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (std::isnan(x[at])) {
        EXPECT_TRUE(std::isnan(out[i]) && std::isnan(wide[at])) << where;
      } else {
        EXPECT_EQ(out[i], std::max(x[at], 0.0F)) << where;
        EXPECT_EQ(wide[at], static_cast<double>(out[i])) << where;
      }
      EXPECT_EQ(d_x[i], x[at] > 0 ? d[at] : 0.0F) << where;
      EXPECT_EQ(wide_d[at], static_cast<double>(d_x[i])) << where;
    }
    EXPECT_TRUE(out.padding_untouched() && d_x.padding_untouched()) << where;
  });
}

TEST(LayerOps, LayerNormInFloatIsThatInDouble) {
  sweep([](std::int64_t width, std::uint32_t seed, const std::string& where) {
    constexpr std::int64_t kRows = 2;
    std::vector<float> x = test_values(seed, kRows * width, 1);
    for (float& value : x) value += 3;  // a mean that a sum of squares alone would cancel against
    const std::vector<float> weight = test_values(seed + 1, width, 1);
    const std::vector<float> bias = test_values(seed + 2, width, 1);
    const std::vector<float> d_y = test_values(seed + 3, kRows * width, 1);
    Padded in(x, 1);
    Padded y(kRows * width, 2);
    Padded d_x(test_values(seed + 4, kRows * width, 1), 3);
    Padded d_weight(std::vector<float>(static_cast<std::size_t>(width), 0.5F), 1);
    Padded d_bias(std::vector<float>(static_cast<std::size_t>(width), 0.5F), 0);
    float mean[kRows];
    float inverse[kRows];
    layer_norm<float>(kRows, width, in.data(), weight.data(), bias.data(), y.data(), mean, inverse);
    layer_norm_gradient<float>(kRows, width, in.data(), weight.data(), mean, inverse, d_y.data(),
                               d_x.data(), d_weight.data(), d_bias.data());
    const std::vector<double> wide = widened(x);
    const std::vector<double> wide_weight = widened(weight);
    std::vector<double> wide_y(x.size());
    std::vector<double> wide_d_x = widened(test_values(seed + 4, kRows * width, 1));
    std::vector<double> wide_d_weight(static_cast<std::size_t>(width), 0.5);
    std::vector<double> wide_d_bias = wide_d_weight;
    double wide_mean[kRows];
    double wide_inverse[kRows];
    layer_norm<double>(kRows, width, wide.data(), wide_weight.data(), widened(bias).data(),
                       wide_y.data(), wide_mean, wide_inverse);
    layer_norm_gradient<double>(kRows, width, wide.data(), wide_weight.data(), wide_mean,
                                wide_inverse, widened(d_y).data(), wide_d_x.data(),
                                wide_d_weight.data(), wide_d_bias.data());
    // Rounding of the mean weighs as much as the deviation is small: few values may lie close.
    const double limit = 2e-6 * std::max(1.0, std::max(wide_inverse[0], wide_inverse[1]));
    for (std::int64_t i = 0; i < kRows * width; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_NEAR(static_cast<double>(y[i]), wide_y[at], 4 * limit) << where;
      EXPECT_NEAR(static_cast<double>(d_x[i]), wide_d_x[at], 40 * limit * limit / 2e-6) << where;
    }
    for (std::int64_t i = 0; i < width; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_NEAR(static_cast<double>(d_weight[i]), wide_d_weight[at], 8 * limit) << where;
      EXPECT_NEAR(static_cast<double>(d_bias[i]), wide_d_bias[at], 1e-6) << where;
    }
    EXPECT_TRUE(y.padding_untouched() && d_x.padding_untouched() && d_weight.padding_untouched() &&
                d_bias.padding_untouched())
        << where;
  });
}

TEST(LayerOps, LayerNormGivesEveryRowMeanZeroAndVarianceOne) {
  const std::vector<double> x = testing::normal_values(3, 5 * 200);
  const std::vector<double> weight(200, 1.0);
  const std::vector<double> bias(200, 0.0);
  std::vector<double> y(x.size());
  std::vector<double> mean(5), inverse(5);
  layer_norm<double>(5, 200, x.data(), weight.data(), bias.data(), y.data(), mean.data(),
                     inverse.data());
  for (std::size_t row = 0; row < 5; ++row) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < 200; ++i) {
      sum += y[row * 200 + i];
      squares += y[row * 200 + i] * y[row * 200 + i];
    }
    EXPECT_NEAR(sum / 200, 0, 1e-14);
    // eps is in the variance: v / (v + eps).
    const double variance = 1 / (inverse[row] * inverse[row]) - kLayerNormEps;
    EXPECT_NEAR(squares / 200, variance / (variance + kLayerNormEps), 1e-12);
  }
}

TEST(LayerOps, LayerNormGradientIsThatOfCentralDifferences) {
  for (std::int64_t width : {2, 3, 17}) {
    std::vector<double> x = testing::normal_values(5, 3 * width);
    std::vector<double> weight = testing::normal_values(6, width);
    std::vector<double> bias = testing::normal_values(7, width);
    const std::vector<double> g = testing::normal_values(8, 3 * width);
    std::vector<double> y(x.size()), mean(3), inverse(3), d_x(x.size()), d_weight(weight.size()),
        d_bias(bias.size());
    const auto loss = [&] {
      layer_norm<double>(3, width, x.data(), weight.data(), bias.data(), y.data(), mean.data(),
                         inverse.data());
      double sum = 0;
      for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * g[i];
      return sum;
    };
    loss();
    layer_norm_gradient<double>(3, width, x.data(), weight.data(), mean.data(), inverse.data(),
                                g.data(), d_x.data(), d_weight.data(), d_bias.data());
    const auto view = [](std::vector<double>& values) {
      return base::View1<double>(values.data(), {static_cast<std::int64_t>(values.size())});
    };
    testing::expect_gradient("x", view(x), view(d_x), loss);
    testing::expect_gradient("weight", view(weight), view(d_weight), loss);
    testing::expect_gradient("bias", view(bias), view(d_bias), loss);
  }
}

TEST(LayerOps, DropoutLeavesOutTheSameValuesOnEveryInstructionSet) {
  constexpr std::uint32_t kThird = (1U << 24) / 3;
  sweep([](std::int64_t size, std::uint32_t seed, const std::string& where) {
    const std::vector<float> x = test_values(seed, size, 1);
    Padded narrow(x, 2);
    std::vector<double> wide = widened(x);
    const std::uint64_t key = base::mix_bits(seed);
    dropout<float>(size, key, kThird, 1.5F, narrow.data());
    dropout<double>(size, key, kThird, 1.5, wide.data());
    for (std::int64_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(narrow[i], static_cast<float>(wide[at])) << where << " value " << i;
      EXPECT_TRUE(wide[at] == 0 || wide[at] == 1.5 * static_cast<double>(x[at])) << where;
    }
    EXPECT_TRUE(narrow.padding_untouched()) << where;
  });
}

TEST(LayerOps, DropoutLeavesOutTheShareItIsAskedTo) {
  constexpr std::int64_t kSize = 1 << 16;
  for (double share : {0.0, 0.1, 0.5, 0.9}) {
    std::vector<double> x(kSize, 1.0);
    dropout<double>(kSize, 12345, static_cast<std::uint32_t>(share * 0x1p24), 1.0, x.data());
    double left_out = 0;
    for (double value : x) left_out += value == 0;
    // Four deviations of a binomial share.
    EXPECT_NEAR(left_out / kSize, share, 4 * std::sqrt(share * (1 - share) / kSize)) << share;
  }
}

}  // namespace
}  // namespace lexirow::kernels
