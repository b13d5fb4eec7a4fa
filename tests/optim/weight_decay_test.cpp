#include <gtest/gtest.h>

#include <algorithm>

#include "optim/optimizer.h"
#include "optim/subject.h"

namespace lexirow::optim {
namespace {

using testing::all_configs;
using testing::describe;
using testing::Subject;

TEST(WeightDecay, LeavesVectorsAloneWhereItIsAskedTo) {
  using T = float;
  base::ThreadPool pool(2);
  for (OptimizerConfig config : all_configs(RowUpdates::dense)) {
    if (config.weight_decay == 0) continue;
    const auto end_of = [&](bool decay_vectors, double decay) {
      Subject<T> subject(20, 6);
      config.decay_vectors = decay_vectors;
      config.weight_decay = decay;
      Slots<T> slots = subject.untied();
      slots.dense[1].is_vector = true;
      Optimizer<T> optimizer(config, slots);
      for (int step = 1; step <= 3; ++step) {
        subject.draw_gradients(static_cast<std::uint64_t>(step), {2, static_cast<Id>(5 + step)});
        optimizer.step(pool, slots, 0.02, T(1));
      }
      return subject;
    };
    const auto equal = [](const base::Array<T>& a, const base::Array<T>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    const Subject<T> all = end_of(true, 0.1);
    const Subject<T> matrices = end_of(false, 0.1);
    const Subject<T> none = end_of(true, 0);
    EXPECT_TRUE(equal(matrices.bias, none.bias)) << describe(config);
    EXPECT_FALSE(equal(matrices.bias, all.bias)) << describe(config);
    EXPECT_TRUE(equal(matrices.weight, all.weight)) << describe(config);
    EXPECT_TRUE(equal(matrices.table, all.table)) << describe(config);
  }
}

}  // namespace
}  // namespace lexirow::optim
