#include "kernels/vector_ops.h"
#include "support.h"

namespace lexirow::bench {
namespace {

/// In the first cache, in the last one, and beyond.
void vector_sizes(benchmark::internal::Benchmark* each) {
  each->Arg(1 << 11)->Arg(1 << 18)->Arg(1 << 24);
}

template <Real T>
void add(benchmark::State& state) {
  const base::Array<T> x = some_values<T>(state.range(0));
  base::Array<T> acc = some_values<T>(state.range(0));
  for (auto _ : state) {
    kernels::add(state.range(0), x.data(), acc.data());
    benchmark::ClobberMemory();
  }
  moves_bytes(state, 3 * state.range(0) * std::int64_t{sizeof(T)});
}
BENCHMARK(add<float>)->Apply(vector_sizes);
BENCHMARK(add<double>)->Apply(vector_sizes);

template <Real T>
void dot(benchmark::State& state) {
  const base::Array<T> a = some_values<T>(state.range(0));
  const base::Array<T> b = some_values<T>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(kernels::dot(state.range(0), a.data(), b.data()));
  moves_bytes(state, 2 * state.range(0) * std::int64_t{sizeof(T)});
}
BENCHMARK(dot<float>)->Apply(vector_sizes);
BENCHMARK(dot<double>)->Apply(vector_sizes);

template <Real T>
void gelu(benchmark::State& state) {
  const base::Array<T> x = some_values<T>(state.range(0));
  base::Array<T> out(state.range(0));
  for (auto _ : state) {
    kernels::gelu(state.range(0), x.data(), out.data());
    benchmark::ClobberMemory();
  }
  moves_bytes(state, 2 * state.range(0) * std::int64_t{sizeof(T)});
}
BENCHMARK(gelu<float>)->Apply(vector_sizes);
BENCHMARK(gelu<double>)->Apply(vector_sizes);

template <Real T>
void exp_shifted(benchmark::State& state) {
  const base::Array<T> x = some_values<T>(state.range(0));
  base::Array<T> out(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernels::exp_shifted(state.range(0), T{0.5}, x.data(), out.data()));
    benchmark::ClobberMemory();
  }
  moves_bytes(state, 2 * state.range(0) * std::int64_t{sizeof(T)});
}
BENCHMARK(exp_shifted<float>)->Apply(vector_sizes);
BENCHMARK(exp_shifted<double>)->Apply(vector_sizes);

}  // namespace
}  // namespace lexirow::bench
