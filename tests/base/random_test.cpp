#include "base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace lexirow::base {
namespace {

TEST(TorchStream, DrawsTheSmallTableOfSeed123) {
  std::vector<float> table(18);
  TorchStream(123).fill_normal({table.data(), {18}});
  const std::vector<double> expected = {0.3374,  -0.1778, -0.1690, 0.9178,  1.5810,  1.3010,
                                        1.2753,  -0.2010, -0.1606, -0.4015, 0.9666,  -1.1481,
                                        -1.1589, 0.3255,  -0.6315, -2.8400, -0.7849, -1.4096};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(table[i], expected[i], 5.1e-5) << i;
}

TEST(TorchStream, DrawsTheLargeTableOfSeed123) {
  constexpr std::int64_t kRows = 50257;
  constexpr std::int64_t kDim = 256;
  std::vector<float> table(kRows * kDim);
  TorchStream(123).fill_normal({table.data(), {kRows * kDim}});
  double sum = 0;
  double squares = 0;
  for (float value : table) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum, 2713.22, 0.005);
  EXPECT_NEAR(squares, 12872010.9, 0.05);
  const double first[] = {0.3374, -0.1778, -0.3035, -0.5880};
  const double last[] = {-2.0264, -0.2134, 0.2144, 0.3006};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(table[i], first[i], 5.1e-5) << i;
    EXPECT_NEAR(table[kRows * kDim - 4 + i], last[i], 5.1e-5) << i;
  }
}

// torch.manual_seed(5), then torch.rand(20) and torch.rand(3): uniform values are exact.
TEST(TorchStream, DrawsUniformValuesExactly) {
  TorchStream stream(5);
  std::vector<float> values(20);
  stream.fill_uniform({values.data(), {20}}, 0, 1);
  const float first[] = {0x1.a916c6p-1F, 0x1.02467p-3F,  0x1.d09fdep-1F,
                         0x1.a3cd7ap-1F, 0x1.d717ccp-1F, 0x1.ddc76p-4F};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(values[i], first[i]) << i;
  stream.fill_uniform({values.data(), {3}}, 0, 1);
  const float next[] = {0x1.56eb6ap-1F, 0x1.0bbf9cp-2F, 0x1.4d8ap-5F};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(values[i], next[i]) << i;
}

TEST(NumpyStream, DrawsTheTableOfSeed42) {
  NumpyStream stream(42);
  for (double expected : {0.49671415, -0.1382643, 0.64768854, 1.52302986, -0.23415337, -0.23413696,
                          1.57921282, 0.76743473}) {
    EXPECT_NEAR(stream.normal(), expected, 5e-9);
  }
}

TEST(SplitMix, IsReproducible) {
  SplitMix a(7);
  SplitMix b(7);
  for (int i = 0; i < 100; ++i) {
    const double value = a.uniform();
    EXPECT_EQ(value, b.uniform());
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 1);
  }
}

}  // namespace
}  // namespace lexirow::base
