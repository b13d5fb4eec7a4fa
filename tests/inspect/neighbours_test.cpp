#include "inspect/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/expect_error.h"

namespace lexirow::inspect {
namespace {

using lexirow::testing::expect_error;

base::View1<const float> view(const std::vector<float>& values) {
  return {values.data(), {static_cast<std::int64_t>(values.size())}};
}
base::View1<const double> view(const std::vector<double>& values) {
  return {values.data(), {static_cast<std::int64_t>(values.size())}};
}

template <typename T>
class SimilarityTest : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SimilarityTest, Scalars);

// figures.md, scores and similarity
TYPED_TEST(SimilarityTest, GivesTheKnownFigures) {
  using Vector = std::vector<TypeParam>;
  const Similarity same = similarity(view(Vector{1, 0}), view(Vector{2, 0}));
  EXPECT_EQ(same.dot, 2);
  EXPECT_EQ(same.norm_a, 1);
  EXPECT_EQ(same.norm_b, 2);
  EXPECT_EQ(same.cosine.value(), 1);
  EXPECT_EQ(same.euclidean, 1);
  EXPECT_EQ(similarity(view(Vector{1, 0}), view(Vector{-3, 0})).cosine.value(), -1);
  EXPECT_EQ(similarity(view(Vector{1, 0}), view(Vector{0, 5})).cosine.value(), 0);
}

TYPED_TEST(SimilarityTest, AnyTwoOneHotVectorsAreEquallyUnlike) {
  constexpr std::size_t kVocab = 24;
  for (std::size_t i = 0; i < kVocab; ++i) {
    for (std::size_t j = 0; j < kVocab; ++j) {
      std::vector<TypeParam> a(kVocab);
      std::vector<TypeParam> b(kVocab);
      a[i] = b[j] = 1;
      const Similarity pair = similarity(view(a), view(b));
      EXPECT_EQ(pair.cosine.value(), i == j ? 1 : 0);
      EXPECT_EQ(pair.euclidean, i == j ? 0 : std::sqrt(2.0));
    }
  }
}

// NN-3
TYPED_TEST(SimilarityTest, AZeroVectorHasNoDirection) {
  using Vector = std::vector<TypeParam>;
  const Similarity first = similarity(view(Vector{0, 0}), view(Vector{3, 4}));
  EXPECT_FALSE(first.cosine.has_value());
  EXPECT_EQ(first.reason, "no direction: the first vector is zero");
  EXPECT_EQ(first.dot, 0);
  EXPECT_EQ(first.euclidean, 5);
  EXPECT_EQ(similarity(view(Vector{3, 4}), view(Vector{0, 0})).reason,
            "no direction: the second vector is zero");
  EXPECT_EQ(similarity(view(Vector{0}), view(Vector{0})).reason,
            "no direction: both vectors are zero");
}

// NN-5
TYPED_TEST(SimilarityTest, EqualVectorsHaveCosineOne) {
  base::NumpyStream stream(3);
  for (int size = 1; size < 60; ++size) {
    std::vector<TypeParam> zero_one(static_cast<std::size_t>(size));
    std::vector<TypeParam> normal(zero_one.size());
    for (TypeParam& value : zero_one) value = stream.uniform() < 0.5 ? 0 : 1;
    for (TypeParam& value : normal) value = static_cast<TypeParam>(stream.normal());
    zero_one[0] = 1;
    EXPECT_EQ(similarity(view(zero_one), view(zero_one)).cosine.value(), 1) << size;
    EXPECT_EQ(similarity(view(normal), view(normal)).cosine.value(), 1) << size;
    std::vector<TypeParam> other = normal;
    for (TypeParam& value : other) value *= static_cast<TypeParam>(1.1);
    EXPECT_LE(similarity(view(normal), view(other)).cosine.value(), 1) << size;
  }
}

TYPED_TEST(SimilarityTest, TellsOfNonFiniteValues) {
  using Vector = std::vector<TypeParam>;
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  const Similarity result = similarity(view(Vector{nan, 1}), view(Vector{3, 4}));
  EXPECT_FALSE(result.cosine.has_value());
  EXPECT_EQ(result.reason, "not finite: the first vector holds an infinity or a NaN");
  EXPECT_EQ(result.norm_b, 5);
  EXPECT_EQ(similarity(view(Vector{3, 4}), view(Vector{infinity, 1})).reason,
            "not finite: the second vector holds an infinity or a NaN");
}

TYPED_TEST(SimilarityTest, ValuesOfAnySizeKeepTheirDirection) {
  using Vector = std::vector<TypeParam>;
  const TypeParam huge = std::numeric_limits<TypeParam>::max();
  const TypeParam tiny = std::numeric_limits<TypeParam>::denorm_min();
  EXPECT_EQ(similarity(view(Vector{huge, huge}), view(Vector{huge, huge})).cosine.value(), 1);
  EXPECT_EQ(similarity(view(Vector{tiny, 0}), view(Vector{huge, 0})).cosine.value(), 1);
  EXPECT_EQ(similarity(view(Vector{tiny, tiny}), view(Vector{-tiny, -tiny})).cosine.value(), -1);
}

TEST(Similarity, RefusesDifferentLengths) {
  expect_error(ErrorKind::shape, {"2 and 3"}, [] {
    similarity(view(std::vector<float>{1, 2}), view(std::vector<float>{1, 2, 3}));
  });
}

std::vector<float> normal_table(std::int64_t size) {
  std::vector<float> table(static_cast<std::size_t>(size));
  base::TorchStream(7).fill_normal({table.data(), {size}});
  return table;
}

TEST(NearestRows, EqualsSortingEveryCosine) {
  base::ThreadPool pool(3);
  constexpr std::int64_t kRows = 1000;
  constexpr std::int64_t kDim = 13;
  const std::vector<float> values = normal_table(kRows * kDim);
  const base::View2<const float> table(values.data(), {kRows, kDim});
  const Neighbours found = nearest_rows(pool, table, table[17], 25, {17});
  std::vector<Neighbour> all;
  for (std::int64_t i = 0; i < kRows; ++i) {
    if (i == 17) continue;
    const Similarity pair = similarity(table[17], table[i]);
    all.push_back({static_cast<Id>(i), pair.cosine.value(), pair.euclidean});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Neighbour& a, const Neighbour& b) { return a.cosine > b.cosine; });
  ASSERT_EQ(found.nearest.size(), 25U);
  for (std::size_t i = 0; i < found.nearest.size(); ++i) {
    EXPECT_EQ(found.nearest[i].id, all[i].id) << i;
    // The listed cosine is that of the two vectors, bit for bit.
    EXPECT_EQ(found.nearest[i].cosine, all[i].cosine) << i;
    EXPECT_EQ(found.nearest[i].distance, all[i].distance) << i;
  }
  EXPECT_EQ(found.zero_rows, 0);
  EXPECT_EQ(found.non_finite_rows, 0);
}

TEST(NearestRows, TiesGoByIdAndRowsWithoutDirectionAreCounted) {
  base::ThreadPool pool(1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1, 1, 0, 0, 1, 0, nan, 1, 2, 2, infinity, 0, 0, -0.0F, 3, 0};
  const base::View2<const float> table(values.data(), {8, 2});
  const Neighbours found = nearest_rows(pool, table, view(std::vector<float>{5, 0}), 100, {});
  std::vector<Id> ids;
  for (const Neighbour& neighbour : found.nearest) ids.push_back(neighbour.id);
  EXPECT_EQ(ids, (std::vector<Id>{2, 7, 0, 4}));
  EXPECT_EQ(found.nearest[0].cosine, 1);
  EXPECT_EQ(found.nearest[0].distance, 4);
  EXPECT_EQ(found.zero_rows, 2);
  EXPECT_EQ(found.non_finite_rows, 2);
  EXPECT_EQ(nearest_rows(pool, table, view(std::vector<float>{5, 0}), 1, {2, -1, 99}).nearest[0].id,
            7);
}

// Every metric against sorting all rows by figures in double: rows of any size, some that float32
// cannot square, and groups so close that only double tells them apart.
TEST(NearestRows, AreExactForEveryMetricAndSize) {
  base::ThreadPool pool(2);
  constexpr std::int64_t kRows = 600;
  constexpr std::int64_t kDim = 19;
  std::vector<float> values = normal_table(kRows * kDim);
  for (std::int64_t i = 0; i < kRows; ++i) {
    const float factor = i % 50 == 0 ? 1e-30F : i % 50 == 1 ? 1e25F : i % 7 == 0 ? 1e-3F : 1;
    for (std::int64_t j = 0; j < kDim; ++j) {
      float& value = values[static_cast<std::size_t>(i * kDim + j)];
      if (i % 3 == 2) value = values[static_cast<std::size_t>(5 * kDim + j)] + value * 1e-6F;
      value *= factor;
    }
  }
  const base::View2<const float> table(values.data(), {kRows, kDim});
  files::StoredArray stored;
  stored.data = values.data();
  stored.rows = kRows;
  stored.dim = kDim;
  for (const Metric metric : {Metric::cosine, Metric::dot, Metric::euclidean}) {
    const auto score = [&](const Neighbour& one) {
      return metric == Metric::cosine ? one.cosine
             : metric == Metric::dot  ? one.dot
                                      : -one.distance;
    };
    for (const Id id : {Id{5}, Id{8}, Id{50}, Id{51}, Id{300}}) {
      std::vector<Neighbour> all;
      for (std::int64_t i = 0; i < kRows; ++i) {
        const Similarity pair = similarity(table[id], table[i]);
        if (i != id) {
          all.push_back({static_cast<Id>(i), pair.cosine.value(), pair.euclidean, pair.dot});
        }
      }
      std::stable_sort(all.begin(), all.end(),
                       [&](const Neighbour& a, const Neighbour& b) { return score(a) > score(b); });
      const Neighbours found = nearest_rows(pool, table, table[id], 40, {id}, metric);
      ASSERT_EQ(found.nearest.size(), 40U);
      for (std::size_t i = 0; i < 40; ++i) {
        EXPECT_EQ(found.nearest[i].id, all[i].id) << id << ' ' << i;
        EXPECT_EQ(score(found.nearest[i]), score(all[i])) << id << ' ' << i;
      }
    }
  }
  // The same from rows that are converted a block at a time, for any number of threads.
  base::ThreadPool other(5);
  const auto converted = files::chosen_rows(files::rows_of_stored(stored, nullptr), [] {
    std::vector<std::int64_t> ids(kRows);
    for (std::int64_t i = 0; i < kRows; ++i) ids[static_cast<std::size_t>(i)] = i;
    return ids;
  }());
  ASSERT_FALSE(converted->in_place().present());
  const Neighbours one = nearest_rows(pool, table, table[8], 30, {8});
  const Neighbours two = nearest_rows(other, *converted, table[8], 30, {8});
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(one.nearest[i].id, two.nearest[i].id);
}

TEST(NearestRows, SeesARowAddedAfterAQuery) {  // NN-1
  base::ThreadPool pool(1);
  std::vector<float> values = {1, 0, 0, 1, 1, 1};
  const std::vector<float> query = {1, 0.1F};
  EXPECT_EQ(nearest_rows(pool, {values.data(), {3, 2}}, view(query), 1, {}).nearest[0].id, 0);
  values.insert(values.end(), {10, 1});
  EXPECT_EQ(nearest_rows(pool, {values.data(), {4, 2}}, view(query), 1, {}).nearest[0].id, 3);
}

TEST(NearestRows, RefusesAQueryWithoutDirection) {
  base::ThreadPool pool(1);
  const std::vector<float> values = {1, 0, 0, 1};
  const base::View2<const float> table(values.data(), {2, 2});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_error(ErrorKind::numeric, {"no direction", "zero"}, [&] {
    nearest_rows(pool, table, view(std::vector<float>{0, 0}), 1, {});
  });
  expect_error(ErrorKind::numeric, {"no direction", "NaN"}, [&] {
    nearest_rows(pool, table, view(std::vector<float>{nan, 0}), 1, {});
  });
  expect_error(ErrorKind::shape, {"3 numbers", "rows have 2"}, [&] {
    nearest_rows(pool, table, view(std::vector<float>{1, 0, 0}), 1, {});
  });
  expect_error(ErrorKind::argument, {"k is 0"}, [&] {
    nearest_rows(pool, table, view(std::vector<float>{1, 0}), 0, {});
  });
}

TEST(NearestRows, OfALargeTableEveryRowIsFoundByItself) {
  base::ThreadPool pool(2);
  constexpr std::int64_t kRows = 50000;
  constexpr std::int64_t kDim = 16;
  const std::vector<float> values = normal_table(kRows * kDim);
  const base::View2<const float> table(values.data(), {kRows, kDim});
  for (Id id : {0, 123, 31415, 49999}) {
    EXPECT_EQ(nearest_rows(pool, table, table[id], 10, {}).nearest[0].id, id);
  }
}

// king - man + woman by hand: each vector of length 1 first.
TEST(SignedSum, AddsDirections) {
  const std::vector<float> sum = signed_sum({{{3, 4}, 1}, {{0, 2}, -1}});
  EXPECT_FLOAT_EQ(sum[0], 0.6F);
  EXPECT_FLOAT_EQ(sum[1], 0.8F - 1);
  expect_error(ErrorKind::numeric, {"no direction"}, [] { signed_sum({{{0, 0}, 1}}); });
  expect_error(ErrorKind::shape, {"1 and 2"}, [] { signed_sum({{{1}, 1}, {{1, 2}, 1}}); });
}

// NN-6: the mean is taken first, then its direction; a listed score is the cosine of the vectors.
TEST(MeanRow, IsAveragedBeforeItsDirectionIsTaken) {
  base::ThreadPool pool(1);
  const std::vector<float> values = {10, 0, 0, 1, 1, 1};
  const base::View2<const float> table(values.data(), {3, 2});
  const std::vector<float> mean = mean_row(table, std::vector<Id>{0, 1});
  EXPECT_EQ(mean, (std::vector<float>{5, 0.5F}));
  const Neighbours found = nearest_rows(pool, table, view(mean), 1, {0, 1});
  EXPECT_EQ(found.nearest[0].cosine, similarity(view(mean), table[2]).cosine.value());
}

TEST(MeanRow, AveragesRows) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 9};
  const base::View2<const float> table(values.data(), {3, 2});
  EXPECT_EQ(mean_row(table, std::vector<Id>{0, 2, 2, 0}), (std::vector<float>{3, 5.5F}));
  EXPECT_EQ(mean_row(table, std::vector<Id>{1}), (std::vector<float>{3, 4}));  // POOL-4
  EXPECT_EQ(mean_row(table, {}), (std::vector<float>{0, 0}));
  expect_error(ErrorKind::index, {"position 1", "id 3", "3 rows"}, [&] {
    mean_row(table, std::vector<Id>{0, 3});
  });
}

}  // namespace
}  // namespace lexirow::inspect
