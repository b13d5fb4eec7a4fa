#include <gtest/gtest.h>

#include "lexirow/error.h"
#include "optim/optimizer.h"
#include "optim/subject.h"
#include "rows/lookup.h"

namespace lexirow::optim {
namespace {

using testing::all_configs;
using testing::describe;
using testing::state_values;
using testing::Subject;

template <typename T>
class RowsLeftUnsummed : public ::testing::Test {};
using BothScalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RowsLeftUnsummed, BothScalars);

/// Ids of a batch: one of them read by more positions than a piece holds, the others now and then.
std::vector<Id> batch_ids(int step, std::int64_t vocab_size) {
  std::vector<Id> ids;
  for (int i = 0; i < 900; ++i) {
    const int id = i % 3 == 0 ? 7 : (i * i + step * 13) % static_cast<int>(vocab_size);
    ids.push_back(static_cast<Id>(id));
  }
  return ids;
}

TYPED_TEST(RowsLeftUnsummed, AreMovedAsBySummingFirst) {
  using T = TypeParam;
  constexpr std::int64_t kRows = 150;
  for (const std::int64_t dim : {1, 6, 131, 300}) {
    for (const RowUpdates updates : {RowUpdates::dense, RowUpdates::lazy}) {
      for (const OptimizerConfig& config : all_configs(updates)) {
        if (!sums_rows(config)) continue;
        base::ThreadPool pool(dim == 6 ? 1 : 3);
        Subject<T> summed(kRows, dim);
        Subject<T> unsummed(kRows, dim);
        Optimizer<T> in_two(config, summed.untied());
        Optimizer<T> at_once(config, unsummed.untied());
        for (int step = 1; step <= 3; ++step) {
          const std::vector<Id> ids = batch_ids(step, kRows);
          const auto count = static_cast<std::int64_t>(ids.size());
          base::Array<T> d_out;
          d_out.resize(count * dim);
          for (std::int64_t i = 0; i < d_out.size(); ++i) {
            d_out[i] = static_cast<T>((i * 7919 + step) % 2003) / 2003 - T(0.5);
          }
          rows::ScatterPlan plan;
          rows::make_scatter_plan({ids.data(), {count}}, {}, kRows, kNoId, plan);
          rows::TouchedRows<T> touched;
          const base::View2<const T> gradient(d_out.data(), {count, dim});
          rows::lookup_backward<T>(pool, plan, gradient, touched);
          Slots<T> slots = summed.untied();
          slots.tables[0].gradient = &touched;
          in_two.step(pool, slots, 0.02, T(1));
          slots = unsummed.untied();
          slots.tables[0].gradient = nullptr;
          slots.tables[0].unsummed = {&plan, gradient};
          at_once.step(pool, slots, 0.02, T(1));
        }
        EXPECT_EQ(summed.parameters(), unsummed.parameters()) << describe(config) << " D " << dim;
        EXPECT_EQ(state_values(in_two), state_values(at_once)) << describe(config) << " D " << dim;
      }
    }
  }
}

TEST(RowsLeftUnsummedErrors, AreRefusedWhereWholeRowsAreNeeded) {
  base::ThreadPool pool(1);
  Subject<float> subject(5, 2);
  OptimizerConfig config;
  config.kind = OptimizerKind::adagrad_row;
  Optimizer<float> optimizer(config, subject.untied());
  const std::vector<Id> ids = {3, 1};
  const std::vector<float> d_out(4, 1.0F);
  rows::ScatterPlan plan;
  rows::make_scatter_plan({ids.data(), {2}}, {}, 5, kNoId, plan);
  Slots<float> slots = subject.untied();
  slots.tables[0].gradient = nullptr;
  slots.tables[0].unsummed = {&plan, {d_out.data(), {2, 2}}};
  EXPECT_THROW(optimizer.step(pool, slots, 0.1, 1.0F), Error);
}

}  // namespace
}  // namespace lexirow::optim
