#include "kernels/matmul.h"
#include "support.h"

namespace lexirow::bench {
namespace {

/// out [m, n] = a [m, k] times weight [n, k] transposed, as every linear layer runs it: one thread.
template <Real T>
void matmul(benchmark::State& state) {
  const std::int64_t m = state.range(0);
  const std::int64_t n = state.range(1);
  const std::int64_t k = state.range(2);
  const base::Array<T> a = some_values<T>(m * k);
  const base::Array<T> weight = some_values<T>(n * k);
  base::Array<T> out(m * n);
  for (auto _ : state) {
    kernels::matmul(false, true, m, n, k, a.data(), k, weight.data(), k, false, out.data(), n);
    benchmark::ClobberMemory();
  }
  computes(state, 2.0 * static_cast<double>(m * n) * static_cast<double>(k));
}
BENCHMARK(matmul<float>)
    ->Args({256, 2048, 256})
    ->Args({256, 512, 512})
    ->Args({64, 64, 64})
    ->Args({1, 2048, 256});
BENCHMARK(matmul<double>)->Args({256, 512, 512});

}  // namespace
}  // namespace lexirow::bench
