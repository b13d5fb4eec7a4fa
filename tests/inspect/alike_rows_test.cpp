#include "inspect/alike_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "inspect/row_makers.h"

namespace lexirow::inspect {
namespace {

using Group = std::vector<std::int64_t>;

TEST(AlikeRows, FindsEveryPairAmongManyRowsWhateverTheirScale) {
  constexpr std::int64_t kRows = 3000;
  constexpr std::int64_t kWide = 48;
  std::vector<float> values = normal_rows(kRows, kWide, 11);
  base::NumpyStream stream(12);
  // Rows that lean one way, of lengths over six orders of magnitude.
  for (std::int64_t id = 0; id < kRows; ++id) {
    const auto scale = static_cast<float>(std::pow(10.0, 6 * stream.uniform() - 3));
    for (std::int64_t j = 0; j < kWide; ++j) {
      row(values, id, kWide)[j] = scale * (0.2F * row(values, id, kWide)[j] + 1);
    }
  }
  std::vector<Group> expected;
  for (std::int64_t id = 0; id < 400; id += 2) {
    const double length = std::sqrt(std::inner_product(
        row(values, id, kWide), row(values, id + 1, kWide), row(values, id, kWide), 0.0));
    // Right below the limit, in one coordinate.
    std::copy_n(row(values, id, kWide), kWide, row(values, id + 1000, kWide));
    row(values, id + 1000, kWide)[id % kWide] += static_cast<float>(0.98 * kNearlySame * length);
    expected.push_back({id, id + 1000});
  }
  for (std::int64_t id = 401; id < 800; id += 2) {
    std::copy_n(row(values, id, kWide), kWide, row(values, id + 1000, kWide));
    const double length = std::sqrt(std::inner_product(
        row(values, id, kWide), row(values, id + 1, kWide), row(values, id, kWide), 0.0));
    row(values, id + 1000, kWide)[id % kWide] += static_cast<float>(1.05 * kNearlySame * length);
  }
  const auto table = files::rows_of_view({values.data(), {kRows, kWide}});
  base::ThreadPool pool(2);
  const AlikeRows alike = alike_rows(pool, *table, measure_rows(pool, *table));
  EXPECT_EQ(alike.nearly, expected);
  EXPECT_TRUE(alike.equal.empty());
  EXPECT_TRUE(alike.complete);
}

TEST(AlikeRows, OfACrowdAreNoCopies) {
  // A table that was hardly trained: all rows point one way, and differ by about a thousandth.
  constexpr std::int64_t kRows = 400;
  std::vector<float> values = normal_rows(kRows, kRowDim, 13, 7e-4);
  for (float& value : values) value += 1;
  // A copy lies apart from all others.
  for (std::int64_t j = 0; j < kRowDim; ++j) row(values, 7)[j] += j % 2 == 0 ? 0.5F : -0.5F;
  std::copy_n(row(values, 7), kRowDim, row(values, 9));
  row(values, 9)[3] += 1e-3F;
  const auto table = files::rows_of_view({values.data(), {kRows, kRowDim}});
  base::ThreadPool pool(2);
  const AlikeRows alike = alike_rows(pool, *table, measure_rows(pool, *table));
  EXPECT_EQ(alike.nearly, (std::vector<Group>{{7, 9}}));
  EXPECT_GT(alike.crowded.size(), 300U);
  EXPECT_TRUE(alike.complete);
}

TEST(AlikeRows, AreFewOrManyInLinearTime) {
  // All rows the same but a few: no pair is looked at twice.
  constexpr std::int64_t kRows = 60000;
  std::vector<float> values(std::size_t(kRows * kRowDim), 0.5F);
  row(values, 100)[0] = 2;
  const auto table = files::rows_of_view({values.data(), {kRows, kRowDim}});
  base::ThreadPool pool(2);
  const AlikeRows alike = alike_rows(pool, *table, measure_rows(pool, *table));
  ASSERT_EQ(alike.equal.size(), 1U);
  EXPECT_EQ(alike.equal[0].size(), std::size_t(kRows - 1));
  EXPECT_TRUE(alike.nearly.empty());
}

}  // namespace
}  // namespace lexirow::inspect
