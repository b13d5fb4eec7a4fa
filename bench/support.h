#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

#include "base/thread_pool.h"
#include "measure/some_values.h"

namespace lexirow::bench {

using measure::some_values;

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
