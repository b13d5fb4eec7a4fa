#include "kernels/vector_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "kernels/padded.h"

namespace lexirow::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The float code against plain double arithmetic with std:: functions on the same inputs:
/// |error| <= ulp * ulp(expected) + relative * (sum of the terms' sizes, or |x|) + absolute.
/// Where it is zero, a column takes no part; a row of zeros is equality after one rounding.
struct Limit {
  const char* operation;
  double ulp;
  double relative;
  double absolute;
};
constexpr Limit kLimits[] = {
    {"gelu", 6, 1e-8, 0},           // the left tail: exp(-x^2/2) rounds x^2 first
    {"gelu_gradient", 6, 0, 1e-7},  // it crosses zero at x = -0.75
    {"add", 0.5, 0, 0},
    {"add_scaled", 0.5, 6e-8, 0},  // a fused multiply-add on some CPUs, two roundings on others
    {"scale", 0.5, 0, 0},
    {"max_value", 0, 0, 0},
    {"exp_shifted", 2, 0, 7.9e-31},  // 2^-100, below which exp is zero
    {"exp_sum", 2, 1e-6, 0},
    {"dot", 1, 1e-6, 0},
    {"sum_of_squares", 0, 1e-14, 0},
};

const Limit& limit_of(const std::string& operation) {
  return *std::find_if(std::begin(kLimits), std::end(kLimits),
                       [&](const Limit& limit) { return operation == limit.operation; });
}

double ulp_of(double expected) {
  const auto value = static_cast<float>(std::abs(expected));
  return static_cast<double>(std::nextafter(value, std::numeric_limits<float>::infinity())) -
         static_cast<double>(value);
}

void expect_close(const std::string& operation, double got, double expected, double size,
                  const std::string& where) {
  const Limit& limit = limit_of(operation);
  const double allowed = limit.ulp * ulp_of(expected) + limit.relative * size + limit.absolute;
  EXPECT_LE(std::abs(got - expected), allowed)
      << operation << " " << where << ": got " << got << ", expected " << expected;
}

double phi(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double gelu_reference(double x) {
  return x * phi(x);
}
double gelu_gradient_reference(double x) {
  return phi(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

/// Calls body(values, other values, offset, where) over targets, lengths and misalignments.
void sweep(double scale,
           const std::function<void(const std::vector<float>&, const std::vector<float>&, int,
                                    const std::string&)>& body) {
  on_every_target([&](const std::string& target) {
    for (std::int64_t size : lengths()) {
      const auto seed = static_cast<std::uint32_t>(size);
      const int offset = static_cast<int>(size % 5);
      body(test_values(seed, size, scale), test_values(seed + 7919, size, 1), offset,
           target + " length " + std::to_string(size));
    }
  });
}

TEST(VectorOps, GeluAgreesWithItsDefinition) {
  for (double scale : {0.01, 1.0, 5.0}) {
    sweep(scale, [](const std::vector<float>& x, const std::vector<float>&, int offset,
                    const std::string& where) {
      Padded in(x, offset);
      Padded out(static_cast<std::int64_t>(x.size()), 3);
      gelu<float>(static_cast<std::int64_t>(x.size()), in.data(), out.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = static_cast<double>(x[i]);
        expect_close("gelu", static_cast<double>(out[static_cast<std::int64_t>(i)]),
                     gelu_reference(v), std::abs(v), where);
      }
      EXPECT_TRUE(out.padding_untouched()) << where;
    });
  }
}

TEST(VectorOps, GeluGradientAgreesWithItsDefinition) {
  for (double scale : {0.01, 1.0, 5.0}) {
    sweep(scale, [](const std::vector<float>& x, const std::vector<float>&, int offset,
                    const std::string& where) {
      const auto size = static_cast<std::int64_t>(x.size());
      Padded in(x, offset);
      Padded d(std::vector<float>(x.size(), 1.0F), 3);
      gelu_gradient<float>(size, in.data(), d.data(), d.data());
      for (std::int64_t i = 0; i < size; ++i) {
        expect_close("gelu_gradient", static_cast<double>(d[i]),
                     gelu_gradient_reference(static_cast<double>(in[i])), 0, where);
      }
      EXPECT_TRUE(d.padding_untouched()) << where;
    });
  }
}

TEST(VectorOps, GeluGradientMultipliesTheUpstreamGradient) {
  const std::vector<float> x = {-1.5F, 0.25F, 2.0F};
  std::vector<float> d_out = {2.0F, -3.0F, 0.0F};
  std::vector<float> d_x(3, kNan);
  gelu_gradient<float>(3, x.data(), d_out.data(), d_x.data());
  std::vector<double> wide_x(x.begin(), x.end());
  std::vector<double> wide_d(d_out.begin(), d_out.end());
  gelu_gradient<double>(3, wide_x.data(), wide_d.data(), wide_d.data());
  for (std::size_t i = 0; i < 3; ++i) {
    const double expected = static_cast<double>(d_out[i]) * gelu_gradient_reference(wide_x[i]);
    EXPECT_NEAR(static_cast<double>(d_x[i]), expected, 1e-6);
    EXPECT_NEAR(wide_d[i], expected, 1e-15);
  }
}

TEST(VectorOps, GeluKeepsNanAndItsLimits) {
  on_every_target([](const std::string& target) {
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> x = {kNan, -infinity, infinity, -0.0F, -1e30F, 1e30F};
    std::vector<float> out(x.size());
    gelu<float>(6, x.data(), out.data());
    EXPECT_TRUE(std::isnan(out[0])) << target;
    EXPECT_EQ(out[1], 0.0F) << target;
    EXPECT_EQ(out[2], infinity) << target;
    EXPECT_EQ(out[3], 0.0F) << target;
    EXPECT_EQ(out[4], 0.0F) << target;
    EXPECT_EQ(out[5], 1e30F) << target;
    std::vector<float> d(x.size(), 1.0F);
    gelu_gradient<float>(6, x.data(), d.data(), d.data());
    EXPECT_TRUE(std::isnan(d[0])) << target;
    EXPECT_EQ(d[1], 0.0F) << target;
    EXPECT_EQ(d[2], 1.0F) << target;
    EXPECT_EQ(d[3], 0.5F) << target;
    EXPECT_EQ(d[4], 0.0F) << target;
    EXPECT_EQ(d[5], 1.0F) << target;
  });
  std::vector<double> wide = {-kInfinity, kInfinity, std::nan("")};
  std::vector<double> d(3, 1.0);
  gelu_gradient<double>(3, wide.data(), d.data(), d.data());
  EXPECT_EQ(d[0], 0);
  EXPECT_EQ(d[1], 1);
  EXPECT_TRUE(std::isnan(d[2]));
  gelu<double>(3, wide.data(), wide.data());
  EXPECT_EQ(wide[0], 0);
  EXPECT_EQ(wide[1], kInfinity);
  EXPECT_TRUE(std::isnan(wide[2]));
}

TEST(VectorOps, ElementwiseOperationsAgree) {
  sweep(3.0, [](const std::vector<float>& x, const std::vector<float>& y, int offset,
                const std::string& where) {
    const auto size = static_cast<std::int64_t>(x.size());
    const float factor = 0.3F;
    Padded in(x, offset);
    Padded sum(y, 1);
    Padded scaled_sum(y, 2);
    Padded product(y, 3);
    add<float>(size, in.data(), sum.data());
    add_scaled<float>(size, factor, in.data(), scaled_sum.data());
    scale<float>(size, factor, product.data());
    for (std::int64_t i = 0; i < size; ++i) {
      const auto a = static_cast<double>(x[static_cast<std::size_t>(i)]);
      const auto b = static_cast<double>(y[static_cast<std::size_t>(i)]);
      const auto f = static_cast<double>(factor);
      expect_close("add", static_cast<double>(sum[i]), a + b, 0, where);
      expect_close("add_scaled", static_cast<double>(scaled_sum[i]), b + f * a, std::abs(f * a),
                   where);
      expect_close("scale", static_cast<double>(product[i]), f * b, 0, where);
    }
    EXPECT_TRUE(sum.padding_untouched() && scaled_sum.padding_untouched() &&
                product.padding_untouched())
        << where;
  });
}

TEST(VectorOps, ReductionsAgree) {
  sweep(2.0, [](const std::vector<float>& x, const std::vector<float>& y, int offset,
                const std::string& where) {
    const auto size = static_cast<std::int64_t>(x.size());
    double largest = -kInfinity;
    double products = 0;
    double product_sizes = 0;
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto a = static_cast<double>(x[i]);
      const auto b = static_cast<double>(y[i]);
      largest = std::max(largest, a);
      products += a * b;
      product_sizes += std::abs(a * b);
      squares += a * a;
    }
    Padded in(x, offset);
    Padded other(y, 2);
    EXPECT_EQ(static_cast<double>(max_value<float>(size, in.data())), largest) << where;
    expect_close("dot", static_cast<double>(dot<float>(size, in.data(), other.data())), products,
                 product_sizes, where);
    expect_close("sum_of_squares", sum_of_squares<float>(size, in.data()), squares, squares, where);
    EXPECT_TRUE(all_finite<float>(size, in.data())) << where;
  });
}

TEST(VectorOps, ExpAgrees) {
  for (double scale : {0.1, 3.0, 30.0}) {
    sweep(scale, [](const std::vector<float>& x, const std::vector<float>&, int offset,
                    const std::string& where) {
      const auto size = static_cast<std::int64_t>(x.size());
      const float shift = 0.75F;
      Padded in(x, offset);
      Padded out(size, 1);
      const float sum = exp_shifted<float>(size, shift, in.data(), out.data());
      double expected_sum = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        const double expected = std::exp(static_cast<double>(in[i] - shift));
        expected_sum += expected;
        if (expected > static_cast<double>(std::numeric_limits<float>::max())) {
          EXPECT_EQ(out[i], std::numeric_limits<float>::infinity()) << where;
        } else {
          expect_close("exp_shifted", static_cast<double>(out[i]), expected, 0, where);
        }
      }
      if (expected_sum < 3e38) {
        expect_close("exp_sum", static_cast<double>(sum), expected_sum, expected_sum, where);
        EXPECT_EQ(sum, sum_exp_shifted<float>(size, shift, in.data())) << where;
      }
      EXPECT_TRUE(out.padding_untouched()) << where;
    });
  }
}

TEST(VectorOps, ExpKeepsNanAndItsLimits) {
  on_every_target([](const std::string& target) {
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> x = {-infinity, kNan, infinity, -1000.0F, 88.7F, 0.0F, 89.5F};
    std::vector<float> out(x.size());
    EXPECT_TRUE(std::isnan(exp_shifted<float>(7, 0.0F, x.data(), out.data()))) << target;
    EXPECT_EQ(out[0], 0.0F) << target;
    EXPECT_TRUE(std::isnan(out[1])) << target;
    EXPECT_EQ(out[2], infinity) << target;
    EXPECT_EQ(out[3], 0.0F) << target;
    const double near_overflow = std::exp(static_cast<double>(x[4]));
    expect_close("exp_shifted", static_cast<double>(out[4]), near_overflow, 0, target);
    EXPECT_EQ(out[5], 1.0F) << target;
    EXPECT_EQ(out[6], infinity) << target;
    EXPECT_TRUE(std::isnan(sum_exp_shifted<float>(7, 0.0F, x.data()))) << target;
  });
}

TEST(VectorOps, NanAndInfinityAreFoundAtEveryPosition) {
  on_every_target([](const std::string& target) {
    for (std::int64_t size : {1, 5, 8, 16, 37, 64}) {
      for (std::int64_t at = 0; at < size; ++at) {
        std::vector<float> x(static_cast<std::size_t>(size), 1.0F);
        x[static_cast<std::size_t>(at)] = kNan;
        EXPECT_TRUE(std::isnan(max_value<float>(size, x.data()))) << target << " " << at;
        EXPECT_FALSE(all_finite<float>(size, x.data())) << target << " " << at;
        x[static_cast<std::size_t>(at)] = -std::numeric_limits<float>::infinity();
        EXPECT_FALSE(all_finite<float>(size, x.data())) << target << " " << at;
        EXPECT_EQ(max_value<float>(size, x.data()), size == 1 ? x[0] : 1.0F) << target << " " << at;
      }
    }
  });
  const std::vector<double> wide = {1, std::nan(""), 2};
  EXPECT_TRUE(std::isnan(max_value<double>(3, wide.data())));
  EXPECT_FALSE(all_finite<double>(3, wide.data()));
  EXPECT_TRUE(all_finite<double>(1, wide.data()));
}

TEST(VectorOps, NothingGivesTheEmptyResults) {
  EXPECT_EQ(max_value<float>(0, nullptr), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(max_value<double>(0, nullptr), -kInfinity);
  EXPECT_EQ(exp_shifted<float>(0, 1.0F, nullptr, nullptr), 0.0F);
  EXPECT_EQ(sum_of_squares<float>(0, nullptr), 0.0);
}

TEST(VectorOps, SquaresOfLargeFloatsDoNotOverflow) {
  const std::vector<float> x(5, 1e30F);
  const auto value = static_cast<double>(x[0]);
  EXPECT_NEAR(sum_of_squares<float>(5, x.data()) / (5 * value * value), 1.0, 1e-14);
}

TEST(VectorOps, DoubleIsThePlainLoop) {
  std::vector<double> x = testing::normal_values(3, 11);
  const std::vector<double> y = testing::normal_values(4, 11);
  std::vector<double> acc = y;
  add<double>(11, x.data(), acc.data());
  add_scaled<double>(11, -1.0, y.data(), acc.data());
  scale<double>(11, 2.0, acc.data());
  double products = 0;
  for (std::size_t i = 0; i < 11; ++i) {
    EXPECT_NEAR(acc[i], 2 * x[i], 1e-15);
    products += x[i] * y[i];
  }
  EXPECT_EQ(dot<double>(11, x.data(), y.data()), products);
  EXPECT_EQ(sum_of_squares<double>(11, x.data()), dot<double>(11, x.data(), x.data()));
  std::vector<double> e(11);
  const double sum = exp_shifted<double>(11, 0.5, x.data(), e.data());
  EXPECT_EQ(sum, sum_exp_shifted<double>(11, 0.5, x.data()));
  EXPECT_EQ(e[4], std::exp(x[4] - 0.5));
}

}  // namespace
}  // namespace lexirow::kernels
