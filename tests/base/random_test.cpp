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
  EXPECT_NEAR(sum, 2713.22, 0.02);
  EXPECT_NEAR(squares, 12872010.9, 0.5);
  EXPECT_NEAR(table[0], 0.3374, 5.1e-5);
  EXPECT_NEAR(table[3], -0.5880, 5.1e-5);
  EXPECT_NEAR(table[kRows * kDim - 1], 0.3006, 5.1e-5);
  EXPECT_NEAR(table[kRows * kDim - 4], -2.0264, 5.1e-5);
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
