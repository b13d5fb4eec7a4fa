#include "measure/zipf.h"
#include "rows/lookup.h"
#include "support.h"

namespace lexirow::bench {
namespace {

constexpr std::int64_t kPositions = 16384;

base::View1<const Id> view(const std::vector<Id>& ids) {
  return {ids.data(), {static_cast<std::int64_t>(ids.size())}};
}

void lookup(benchmark::State& state) {
  const std::int64_t vocabulary = state.range(0);
  const std::int64_t dim = state.range(1);
  const base::Array<float> table = some_values<float>(vocabulary * dim);
  const std::vector<Id> ids = measure::zipf_ids(vocabulary, kPositions, 1);
  base::Array<float> out(kPositions * dim);
  for (auto _ : state) {
    rows::lookup_forward<float>(pool(), table.view(vocabulary, dim), view(ids),
                                out.view(kPositions, dim));
  }
  moves_bytes(state, 2 * kPositions * dim * std::int64_t{sizeof(float)});
}
BENCHMARK(lookup)->Args({1000, 64})->Args({50257, 256})->Args({500000, 256})->UseRealTime();

void scatter_plan(benchmark::State& state) {
  const std::int64_t vocabulary = state.range(0);
  const std::vector<Id> ids = measure::zipf_ids(vocabulary, kPositions, 1);
  rows::ScatterPlan plan;
  for (auto _ : state) rows::make_scatter_plan(view(ids), {}, vocabulary, kNoId, plan);
  state.SetItemsProcessed(state.iterations() * kPositions);
}
BENCHMARK(scatter_plan)->Arg(1000)->Arg(50257)->Arg(5000000);

void scatter_add(benchmark::State& state) {
  const std::int64_t vocabulary = state.range(0);
  const std::int64_t dim = state.range(1);
  const std::vector<Id> ids = measure::zipf_ids(vocabulary, kPositions, 1);
  const base::Array<float> d_out = some_values<float>(kPositions * dim);
  rows::ScatterPlan plan;
  rows::make_scatter_plan(view(ids), {}, vocabulary, kNoId, plan);
  rows::TouchedRows<float> d_rows;
  for (auto _ : state) {
    d_rows.ids.clear();
    rows::lookup_backward<float>(pool(), plan, d_out.view(kPositions, dim), d_rows);
  }
  moves_bytes(state, (kPositions + d_rows.count()) * dim * std::int64_t{sizeof(float)});
}
BENCHMARK(scatter_add)->Args({1000, 64})->Args({50257, 256})->Args({500000, 256})->UseRealTime();

}  // namespace
}  // namespace lexirow::bench
