#include "loss/head_loss.h"
#include "measure/zipf.h"
#include "support.h"

namespace lexirow::bench {
namespace {

void head_loss(benchmark::State& state, bool gradients) {
  const std::int64_t vocabulary = state.range(0);
  const std::int64_t dim = state.range(1);
  const std::int64_t n = state.range(2);
  const base::Array<float> hidden = some_values<float>(n * dim);
  const base::Array<float> weight = some_values<float>(vocabulary * dim);
  const std::vector<Id> labels = measure::zipf_ids(vocabulary, n, 1);
  const base::View1<const Id> labels_view(labels.data(), {n});
  base::Array<float> d_hidden(n * dim);
  base::Array<float> d_weight(vocabulary * dim);
  loss::HeadLossWorkspace<float> workspace;
  for (auto _ : state) {
    if (gradients) {
      loss::head_loss_forward_backward<float>(pool(), hidden.view(n, dim),
                                              weight.view(vocabulary, dim), {}, labels_view, kNoId,
                                              1.0F / static_cast<float>(n), d_hidden.view(n, dim),
                                              d_weight.view(vocabulary, dim), {}, workspace);
    } else {
      loss::head_loss_forward<float>(pool(), hidden.view(n, dim), weight.view(vocabulary, dim), {},
                                     labels_view, kNoId, {}, workspace);
    }
  }
  computes(state, (gradients ? 6.0 : 2.0) * static_cast<double>(n * vocabulary) *
                      static_cast<double>(dim));
}
void head_sizes(benchmark::internal::Benchmark* each) {
  each->Args({65, 64, 2048})->Args({4096, 256, 2048})->Args({50257, 256, 512})->UseRealTime();
}
BENCHMARK_CAPTURE(head_loss, forward, false)->Apply(head_sizes);
BENCHMARK_CAPTURE(head_loss, forward_backward, true)->Apply(head_sizes);

}  // namespace
}  // namespace lexirow::bench
