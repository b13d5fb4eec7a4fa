#include "kernels/optimizer_ops.h"
#include "support.h"

namespace lexirow::bench {
namespace {

template <Real T>
void adamw(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  const base::Array<T> gradient = some_values<T>(size);
  base::Array<T> value = some_values<T>(size);
  base::Array<T> moment1(size);
  base::Array<T> moment2(size);
  kernels::AdamWStep step;
  step.lr = 1e-6;
  step.bias_correction1 = 0.5;
  step.bias_correction2 = 0.5;
  for (auto _ : state) {
    kernels::adamw(size, step, T{1}, gradient.data(), value.data(), moment1.data(), moment2.data());
    benchmark::ClobberMemory();
  }
  moves_bytes(state, 7 * size * std::int64_t{sizeof(T)});
}
BENCHMARK(adamw<float>)->Arg(1 << 11)->Arg(1 << 18)->Arg(1 << 24);
BENCHMARK(adamw<double>)->Arg(1 << 18);

template <Real T>
void adagrad_row(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  const base::Array<T> gradient = some_values<T>(size);
  base::Array<T> value = some_values<T>(size);
  T sum = T{1};
  for (auto _ : state) {
    kernels::adagrad_row(size, 1e-6, 1e-10, 0, T{1}, gradient.data(), value.data(), &sum);
    benchmark::ClobberMemory();
  }
  moves_bytes(state, 3 * size * std::int64_t{sizeof(T)});
}
BENCHMARK(adagrad_row<float>)->Arg(256);

}  // namespace
}  // namespace lexirow::bench
