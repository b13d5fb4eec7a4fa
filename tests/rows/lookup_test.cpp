#include "rows/lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "support/gradient_check.h"

namespace lexirow::rows {
namespace {

using base::View1;
using base::View2;
using testing::normal_values;
using Mask = std::vector<std::uint8_t>;

template <typename T>
View1<T> view(std::vector<T>& values) {
  return {values.data(), {static_cast<std::int64_t>(values.size())}};
}

template <typename T>
View1<const T> view(const std::vector<T>& values) {
  return {values.data(), {static_cast<std::int64_t>(values.size())}};
}

template <typename T>
View2<T> view(std::vector<T>& values, std::int64_t dim) {
  return {values.data(), {static_cast<std::int64_t>(values.size()) / dim, dim}};
}

template <typename T>
View2<const T> view(const std::vector<T>& values, std::int64_t dim) {
  return {values.data(), {static_cast<std::int64_t>(values.size()) / dim, dim}};
}

template <typename T>
std::vector<T> look_up(const std::vector<T>& table, std::int64_t dim, const std::vector<Id>& ids,
                       int threads = 1) {
  base::ThreadPool pool(threads);
  std::vector<T> out(ids.size() * static_cast<std::size_t>(dim),
                     std::numeric_limits<T>::quiet_NaN());
  lookup_forward<T>(pool, view(table, dim), view(ids), view(out, dim));
  return out;
}

ScatterPlan plan_of(const std::vector<Id>& ids, std::int64_t vocab_size, const Mask& mask = {},
                    Id pad_id = kNoId) {
  ScatterPlan plan;
  make_scatter_plan(view(ids), view(mask), vocab_size, pad_id, plan);
  return plan;
}

template <typename T>
TouchedRows<T> scatter(const ScatterPlan& plan, const std::vector<T>& d_out, std::int64_t dim,
                       int threads = 1) {
  base::ThreadPool pool(threads);
  TouchedRows<T> rows;
  lookup_backward<T>(pool, plan, view(d_out, dim), rows);
  return rows;
}

template <typename T>
std::vector<T> scatter_dense(const ScatterPlan& plan, const std::vector<T>& d_out, std::int64_t dim,
                             std::int64_t vocab_size, int threads = 1) {
  base::ThreadPool pool(threads);
  std::vector<T> d_table(static_cast<std::size_t>(vocab_size * dim));
  lookup_backward_dense<T>(pool, plan, view(d_out, dim), view(d_table, dim));
  return d_table;
}

template <typename T>
std::vector<T> densify(const TouchedRows<T>& rows, std::int64_t vocab_size) {
  std::vector<T> table(static_cast<std::size_t>(vocab_size * rows.dim));
  for (std::int64_t u = 0; u < rows.count(); ++u) {
    std::copy_n(rows.row(u), rows.dim,
                table.data() + rows.ids[static_cast<std::size_t>(u)] * rows.dim);
  }
  return table;
}

/// The definition, written out: positions in order in pieces of 256, pieces joined in order.
template <typename T>
std::vector<T> scatter_by_definition(const std::vector<Id>& ids, const Mask& mask, Id pad_id,
                                     const std::vector<T>& d_out, std::int64_t dim,
                                     std::int64_t vocab_size) {
  std::map<Id, std::vector<std::int64_t>> positions;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == pad_id || (!mask.empty() && mask[i] == 0)) continue;
    positions[ids[i]].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<T> d_table(static_cast<std::size_t>(vocab_size * dim));
  for (const auto& [id, places] : positions) {
    for (std::int64_t c = 0; c < dim; ++c) {
      T& total = d_table[static_cast<std::size_t>(id * dim + c)];
      for (std::size_t first = 0; first < places.size(); first += 256) {
        T piece = 0;
        for (std::size_t k = first; k < std::min(first + 256, places.size()); ++k) {
          piece += d_out[static_cast<std::size_t>(places[k] * dim + c)];
        }
        total += piece;
      }
    }
  }
  return d_table;
}

/// Ids as a text has them: a few very frequent, many rare.
std::vector<Id> skewed_ids(std::uint64_t seed, std::int64_t count, std::int64_t vocab_size) {
  base::SplitMix random(seed);
  std::vector<Id> ids(static_cast<std::size_t>(count));
  for (Id& id : ids) {
    const double u = random.uniform();
    id = static_cast<Id>(static_cast<double>(vocab_size) * u * u * u * u);
  }
  return ids;
}

Mask holes(std::uint64_t seed, std::size_t count) {
  base::SplitMix random(seed);
  Mask mask(count);
  for (std::uint8_t& visible : mask) visible = random.uniform() < 0.7 ? 1 : 0;
  return mask;
}

template <typename T>
std::vector<T> values_of(std::uint32_t seed, std::int64_t size) {
  const std::vector<double> values = normal_values(seed, size);
  return {values.begin(), values.end()};
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST(LookupForward, PicksTheRowsOfASmallTorchTable) {
  std::vector<float> table(18);
  base::TorchStream(123).fill_normal(view(table));
  const std::vector<float> row3 = look_up<float>(table, 3, {3});
  EXPECT_NEAR(row3[0], -0.4015, 5.1e-5);
  EXPECT_NEAR(row3[1], 0.9666, 5.1e-5);
  EXPECT_NEAR(row3[2], -1.1481, 5.1e-5);
  const std::vector<float> rows = look_up<float>(table, 3, {2, 3, 5, 1});
  ASSERT_EQ(rows.size(), 12U);
  const std::vector<double> expected = {1.2753,  -0.2010, -0.1606, -0.4015, 0.9666, -1.1481,
                                        -2.8400, -0.7849, -1.4096, 0.9178,  1.5810, 1.3010};
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], expected[i], 5.1e-5) << i;
}

TEST(LookupForward, GivesEqualIdsEqualRows) {
  const std::vector<double> table = normal_values(1, 100 * 16);
  const std::vector<double> rows = look_up<double>(table, 16, {4, 12, 4});
  ASSERT_EQ(rows.size(), 3U * 16);
  EXPECT_TRUE(std::equal(rows.begin(), rows.begin() + 16, rows.begin() + 32));
  EXPECT_FALSE(std::equal(rows.begin(), rows.begin() + 16, rows.begin() + 16));
}

TEST(LookupForward, OfALargeTableHasTheShapeOfItsIds) {
  constexpr std::int64_t kRows = 50257;
  constexpr std::int64_t kWidth = 256;
  std::vector<float> table(kRows * kWidth);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 8388593);
  std::vector<Id> ids(8 * 4);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Id>(i * 1621 % kRows);
  ids.back() = kRows - 1;
  base::Array<float> out;
  out.resize(8 * 4 * kWidth);
  base::ThreadPool pool(2);
  lookup_forward<float>(pool, view(table, kWidth), view(ids), out.view(8 * 4, kWidth));
  const base::View3<float> rows = out.view(8, 4, kWidth);
  for (std::int64_t b = 0; b < 8; ++b) {
    for (std::int64_t t = 0; t < 4; ++t) {
      const Id id = ids[static_cast<std::size_t>(b * 4 + t)];
      ASSERT_TRUE(std::equal(rows[b][t].begin(), rows[b][t].end(), table.data() + id * kWidth));
    }
  }
}

TEST(LookupForward, EqualsTheOneHotProductExactly) {
  const std::vector<double> table = normal_values(2, 24 * 8);
  const std::vector<Id> ids = {0, 23, 7, 7, 11};
  const std::vector<double> rows = look_up<double>(table, 8, ids);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t c = 0; c < 8; ++c) {
      double product = 0;
      for (std::size_t v = 0; v < 24; ++v) {
        product += (v == static_cast<std::size_t>(ids[i]) ? 1.0 : 0.0) * table[v * 8 + c];
      }
      EXPECT_EQ(rows[i * 8 + c], product);
    }
  }
}

// figures.md: a table of three rows; and why the equality is for finite tables.
TEST(LookupForward, OfThreeRowsEqualsTheOneHotProductUnlessOneIsInfinite) {
  std::vector<double> table = {0.1, 0.2, 0.4, 0.6, -0.3, 0.5};
  const auto one_hot_product = [&](std::size_t id, std::size_t c) {
    double sum = 0;
    for (std::size_t v = 0; v < 3; ++v) sum += (v == id ? 1.0 : 0.0) * table[v * 2 + c];
    return sum;
  };
  const std::vector<double> row = look_up<double>(table, 2, {1});
  EXPECT_EQ(row, (std::vector<double>{0.4, 0.6}));
  for (std::size_t c = 0; c < 2; ++c) EXPECT_EQ(one_hot_product(1, c), row[c]);
  table[4] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(look_up<double>(table, 2, {1}), row);
  EXPECT_TRUE(std::isnan(one_hot_product(1, 0)));
}

TEST(LookupForward, OverwritesEverythingForAnyThreads) {
  for (std::int64_t dim : {1, 3, 64}) {
    const std::vector<float> table = values_of<float>(3, 50 * dim);
    const std::vector<Id> ids = skewed_ids(4, 999, 50);
    const std::vector<float> one = look_up(table, dim, ids, 1);
    for (float value : one) ASSERT_FALSE(std::isnan(value));
    EXPECT_TRUE(same_bits(one, look_up(table, dim, ids, 2)));
    EXPECT_TRUE(same_bits(one, look_up(table, dim, ids, 4)));
  }
}

TEST(ScatterPlan, GroupsPositionsStably) {
  const ScatterPlan plan = plan_of({2, 5, 2, 2, 8}, 9);
  EXPECT_EQ(plan.ids, (std::vector<Id>{2, 5, 8}));
  EXPECT_EQ(plan.begin, (std::vector<std::int64_t>{0, 3, 4, 5}));
  EXPECT_EQ(plan.positions, (std::vector<std::int32_t>{0, 2, 3, 1, 4}));
}

TEST(ScatterPlan, LeavesOutMaskedAndPadPositions) {
  const ScatterPlan plan = plan_of({2, 0, 2, 3, 0, 2}, 4, {1, 1, 0, 1, 0, 1}, 0);
  EXPECT_EQ(plan.ids, (std::vector<Id>{2, 3}));
  EXPECT_EQ(plan.begin, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(plan.positions, (std::vector<std::int32_t>{0, 5, 3}));
  const ScatterPlan nothing = plan_of({0, 0}, 1, {}, 0);
  EXPECT_TRUE(nothing.ids.empty());
  EXPECT_EQ(nothing.begin, (std::vector<std::int64_t>{0}));
}

TEST(ScatterPlan, IsTheSameForEveryVocabularySize) {
  // One to three passes of the sort; the largest would not fit in memory were it counted by row.
  for (std::int64_t vocab_size : {2000LL, 2048LL, 2049LL, 70000LL, 5000000LL, 2147483647LL}) {
    std::vector<Id> ids = skewed_ids(5, 3000, vocab_size);
    ids.front() = static_cast<Id>(vocab_size - 1);
    const ScatterPlan plan = plan_of(ids, vocab_size);
    std::vector<std::int32_t> expected(ids.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t a, std::int32_t b) {
      return ids[static_cast<std::size_t>(a)] < ids[static_cast<std::size_t>(b)];
    });
    EXPECT_EQ(plan.positions, expected) << vocab_size;
    for (std::size_t u = 0; u < plan.ids.size(); ++u) {
      for (std::int64_t k = plan.begin[u]; k < plan.begin[u + 1]; ++k) {
        const auto position = static_cast<std::size_t>(plan.positions[static_cast<std::size_t>(k)]);
        ASSERT_EQ(ids[position], plan.ids[u]);
      }
    }
  }
}

TEST(ScatterPlan, IsMadeAnewInTheSameMemory) {
  ScatterPlan plan = plan_of(skewed_ids(6, 5000, 300), 300);
  const std::vector<Id> ids = {1, 0, 1};
  make_scatter_plan(view(ids), {}, 2, kNoId, plan);
  EXPECT_EQ(plan.ids, (std::vector<Id>{0, 1}));
  EXPECT_EQ(plan.positions, (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_TRUE(plan.long_rows.empty());
}

TEST(LookupBackward, IsCompleteWhenAnIdRepeatsManyThousandTimes) {
  std::vector<Id> ids;
  for (int i = 0; i < 20000; ++i) ids.insert(ids.end(), {2, 5, 2, 2, 8});
  const std::vector<float> ones(ids.size() * 3, 1.0F);
  const ScatterPlan plan = plan_of(ids, 10);
  const TouchedRows<float> one = scatter(plan, ones, 3, 1);
  EXPECT_EQ(one.ids, (std::vector<Id>{2, 5, 8}));
  for (std::int64_t c = 0; c < 3; ++c) {
    EXPECT_EQ(one.row(0)[c], 60000.0F);
    EXPECT_EQ(one.row(1)[c], 20000.0F);
    EXPECT_EQ(one.row(2)[c], 20000.0F);
  }
  const std::vector<float> values = values_of<float>(7, static_cast<std::int64_t>(ids.size()) * 3);
  const std::vector<float> expected = densify(scatter(plan, values, 3, 1), 10);
  for (int threads : {2, 3, 4}) {
    EXPECT_TRUE(same_bits(densify(scatter(plan, values, 3, threads), 10), expected)) << threads;
  }
}

template <typename T>
void expect_definition(std::int64_t count, std::int64_t dim, std::int64_t vocab_size, Id pad_id) {
  const std::vector<Id> ids = skewed_ids(8, count, vocab_size);
  const Mask mask = holes(9, ids.size());
  const std::vector<T> d_out = values_of<T>(10, count * dim);
  const ScatterPlan plan = plan_of(ids, vocab_size, mask, pad_id);
  const std::vector<T> expected = scatter_by_definition(ids, mask, pad_id, d_out, dim, vocab_size);
  for (int threads : {1, 2, 4}) {
    EXPECT_TRUE(same_bits(densify(scatter(plan, d_out, dim, threads), vocab_size), expected));
    EXPECT_TRUE(same_bits(scatter_dense(plan, d_out, dim, vocab_size, threads), expected));
  }
}

TEST(LookupBackward, AddsByItsDefinitionForAnyThreads) {
  expect_definition<float>(4096, 64, 65, kNoId);
  expect_definition<float>(3001, 37, 500, 0);
  expect_definition<float>(2048, 1, 3, kNoId);
  expect_definition<double>(1500, 13, 7, 2);
  expect_definition<double>(1, 1, 1, kNoId);
}

TEST(LookupBackward, DoublesWhenRunTwice) {
  const std::vector<Id> ids = skewed_ids(11, 700, 20);
  const std::vector<double> d_out = normal_values(12, 700 * 5);
  const ScatterPlan plan = plan_of(ids, 20);
  base::ThreadPool pool(2);
  TouchedRows<double> rows;
  lookup_backward<double>(pool, plan, view(d_out, 5), rows);
  const std::vector<double> once = densify(rows, 20);
  lookup_backward<double>(pool, plan, view(d_out, 5), rows);
  const std::vector<double> twice = densify(rows, 20);
  std::vector<double> dense(20 * 5);
  lookup_backward_dense<double>(pool, plan, view(d_out, 5), view(dense, 5));
  lookup_backward_dense<double>(pool, plan, view(d_out, 5), view(dense, 5));
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_NEAR(twice[i], 2 * once[i], 1e-12);
    EXPECT_NEAR(dense[i], 2 * once[i], 1e-12);
  }
  // Another batch replaces the rows.
  lookup_backward<double>(pool, plan_of({3}, 20), view(d_out, 5), rows);
  EXPECT_EQ(rows.ids, (std::vector<Id>{3}));
  EXPECT_TRUE(std::equal(rows.row(0), rows.row(0) + 5, d_out.begin()));
}

void expect_gradient_of(const std::vector<Id>& ids, const Mask& mask, Id pad_id,
                        std::int64_t vocab_size, std::int64_t dim) {
  std::vector<double> table = normal_values(13, vocab_size * dim);
  const std::vector<double> g = normal_values(14, static_cast<std::int64_t>(ids.size()) * dim);
  const auto loss = [&] {
    const std::vector<double> out = look_up(table, dim, ids);
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t position = i / static_cast<std::size_t>(dim);
      if (ids[position] == pad_id || (!mask.empty() && mask[position] == 0)) continue;
      sum += out[i] * g[i];
    }
    return sum;
  };
  const ScatterPlan plan = plan_of(ids, vocab_size, mask, pad_id);
  const std::vector<double> sparse = densify(scatter(plan, g, dim), vocab_size);
  testing::expect_gradient("touched rows", view(table), view(sparse), loss);
  const std::vector<double> dense = scatter_dense(plan, g, dim, vocab_size);
  testing::expect_gradient("dense table", view(table), view(dense), loss);
}

TEST(LookupBackward, AgreesWithCentralDifferences) {
  expect_gradient_of({2, 5, 2, 2, 8, 0, 5}, {}, kNoId, 9, 7);
  expect_gradient_of({2, 5, 2, 2, 8, 0, 5}, {1, 0, 1, 0, 1, 1, 1}, 0, 9, 5);
  expect_gradient_of({1}, {}, kNoId, 3, 1);
  expect_gradient_of({1, 1, 1}, {}, kNoId, 2, 17);
  expect_gradient_of({0, 0}, {0, 0}, kNoId, 1, 3);
}

TEST(LookupBackward, GivesThePadRowAndMaskedPositionsNothing) {
  const std::vector<Id> ids = {0, 3, 1, 0, 2, 3};
  const std::vector<float> ones(ids.size() * 4, 1.0F);
  const TouchedRows<float> rows = scatter(plan_of(ids, 5, {1, 1, 1, 1, 0, 1}, 0), ones, 4);
  EXPECT_EQ(rows.ids, (std::vector<Id>{1, 3}));
  const std::vector<float> dense =
      scatter_dense(plan_of(ids, 5, {1, 1, 1, 1, 0, 1}, 0), ones, 4, 5);
  EXPECT_EQ(dense[0], 0.0F);
  EXPECT_EQ(dense[1 * 4], 1.0F);
  EXPECT_EQ(dense[2 * 4], 0.0F);
  EXPECT_EQ(dense[3 * 4], 2.0F);
  EXPECT_EQ(dense[4 * 4], 0.0F);
}

TEST(LookupBackward, OfNothingIsEmpty) {
  const TouchedRows<float> rows = scatter(plan_of({0, 0}, 1, {0, 0}), std::vector<float>(6), 3);
  EXPECT_EQ(rows.count(), 0);
  EXPECT_EQ(rows.dim, 3);
}

TEST(LookupBackward, InFloatIsCloseToDouble) {
  const std::vector<Id> ids = skewed_ids(15, 5000, 40);
  const std::vector<double> wide = normal_values(16, 5000 * 8);
  const std::vector<float> narrow(wide.begin(), wide.end());
  const ScatterPlan plan = plan_of(ids, 40);
  const std::vector<double> expected = scatter_dense(plan, wide, 8, 40);
  const std::vector<float> got = scatter_dense(plan, narrow, 8, 40);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-4) << i;
}

}  // namespace
}  // namespace lexirow::rows
