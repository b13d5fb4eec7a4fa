#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

#include "base/array.h"
#include "base/real.h"
#include "base/thread_pool.h"

namespace lexirow::bench {

/// Values between -0.5 and 0.5, none zero or denormal, no two neighbours equal.
template <Real T>
base::Array<T> some_values(std::int64_t size) {
  base::Array<T> values;
  values.resize(size);
  for (std::int64_t i = 0; i < size; ++i) {
    values[i] = static_cast<T>((i * 7919 + 13) % 2003) / T{2003} - T{0.5};
  }
  return values;
}

/// What one run of the loop must move, as a rate.
inline void moves_bytes(benchmark::State& state, std::int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
}

/// What one run of the loop computes (a multiply-add counted as two), as a rate.
inline void computes(benchmark::State& state, double operations) {
  state.counters["operations"] =
      benchmark::Counter(operations * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
}

/// Two threads, as everywhere in docs/performance.md. Made at the first use.
inline base::ThreadPool& pool() {
  static base::ThreadPool threads(2);
  return threads;
}

}  // namespace lexirow::bench
