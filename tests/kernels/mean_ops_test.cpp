#include "kernels/mean_ops.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace lexirow::kernels {
namespace {

/// Values whose products, quotients and sums all have to be rounded.
template <typename T>
std::vector<T> values_of(std::int64_t size, double scale) {
  std::vector<T> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(scale * (static_cast<double>(i * i % 17) - 7.3) / 3);
  }
  return values;
}

template <typename T>
class MeanOps : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MeanOps, Types);

// Equal to the last bit to plain double arithmetic, whole vectors or not, and nothing is written
// behind the last value.
TYPED_TEST(MeanOps, AreThoseOfPlainArithmetic) {
  using T = TypeParam;
  constexpr double kRate = 0.7;
  constexpr double kWeight = 2.9;
  for (std::int64_t size = 0; size <= 19; ++size) {
    const std::vector<T> row = values_of<T>(size, 1e3);
    const std::vector<double> start = values_of<double>(size + 1, 1.1);
    std::vector<double> added = start, decayed = start, shared = start;
    std::vector<T> mean(start.begin(), start.end()), d_row = mean;
    add_row<T>(size, row.data(), added.data());
    decay_and_add<T>(size, kRate, row.data(), decayed.data());
    add_share<T>(size, row.data(), kWeight, shared.data());
    write_mean<T>(size, start.data(), kWeight, mean.data());
    add_sum<T>(size, start.data(), d_row.data());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto value = static_cast<double>(row[i]);
      EXPECT_EQ(added[i], start[i] + value);
      const double product = kRate * start[i];
      EXPECT_EQ(decayed[i], product + value);
      const double share = value / kWeight;
      EXPECT_EQ(shared[i], start[i] + share);
      EXPECT_EQ(mean[i], static_cast<T>(start[i] / kWeight));
      EXPECT_EQ(d_row[i], static_cast<T>(start[i]) + static_cast<T>(start[i]));
    }
    EXPECT_EQ(added.back(), start.back());
    EXPECT_EQ(decayed.back(), start.back());
    EXPECT_EQ(shared.back(), start.back());
    EXPECT_EQ(mean.back(), static_cast<T>(start.back()));
    EXPECT_EQ(d_row.back(), static_cast<T>(start.back()));
  }
}

TYPED_TEST(MeanOps, TheMeanOfNothingIsZero) {
  const std::vector<double> sum = {0, 3};
  std::vector<TypeParam> mean = {7, 7};
  write_mean<TypeParam>(2, sum.data(), 0, mean.data());
  EXPECT_EQ(mean, (std::vector<TypeParam>{0, 0}));
}

}  // namespace
}  // namespace lexirow::kernels
