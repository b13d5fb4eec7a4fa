#include "kernels/row_scores_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace lexirow::kernels {
namespace {

// Against sums in double, within the bound that the header states.
TEST(DotsAndSquares, AreThoseOfEveryRow) {
  for (const std::int64_t dim : {0, 1, 3, 7, 8, 31, 32, 33, 100, 257, 2048}) {
    constexpr std::int64_t kRows = 5;
    std::vector<float> table(static_cast<std::size_t>(kRows * dim));
    std::vector<float> query(static_cast<std::size_t>(dim));
    base::NumpyStream stream(4);
    for (float& value : table) value = static_cast<float>(stream.normal());
    for (float& value : query) value = static_cast<float>(stream.normal());
    std::vector<float> dots(kRows, std::numeric_limits<float>::quiet_NaN());
    std::vector<float> squares = dots;
    dots_and_squares(kRows, dim, query.data(), table.data(), dots.data(), squares.data());
    for (std::size_t i = 0; i < kRows; ++i) {
      double dot = 0;
      double square = 0;
      double query_square = 0;
      for (std::size_t j = 0; j < query.size(); ++j) {
        const double value = table[i * query.size() + j];
        dot += value * query[j];
        square += value * value;
        query_square += static_cast<double>(query[j]) * query[j];
      }
      const double error = static_cast<double>(dim / 4 + 32) * 0x1.0p-24;
      EXPECT_NEAR(dots[i], dot, error * std::sqrt(square * query_square)) << dim;
      EXPECT_NEAR(squares[i], square, error * square) << dim;
    }
  }
}

TEST(DotsAndSquares, ANanOrInfinityShows) {
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (std::size_t place = 0; place < 37; ++place) {
      std::vector<float> row(37, 1.0F);
      const std::vector<float> query(37, 1.0F);
      row[place] = odd;
      float dot = 0;
      float square = 0;
      dots_and_squares(1, 37, query.data(), row.data(), &dot, &square);
      EXPECT_FALSE(std::isfinite(square)) << place;
      EXPECT_FALSE(std::isfinite(dot)) << place;
    }
  }
}

}  // namespace
}  // namespace lexirow::kernels
