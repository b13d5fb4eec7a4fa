#include "base/thread_pool.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "lexirow/error.h"

namespace lexirow::base {

namespace {
// More would help nobody and could take every process number of the machine.
constexpr int kMostThreads = 1024;
}  // namespace

ThreadPool::ThreadPool(int threads) {
  if (threads < 1 || threads > kMostThreads) {
    throw Error(ErrorKind::argument,
                fmt::format("threads: got {}, expected 1 to {}; leave --threads out to use every "
                            "core",
                            threads, kMostThreads));
  }
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { worker_loop(); });
  } catch (const std::system_error&) {
    const std::size_t started = workers_.size();
    stop_workers();
    throw Error(ErrorKind::io,
                fmt::format("threads: the system gave {} of the {} asked for; lower --threads",
                            started + 1, threads));
  }
}

ThreadPool::~ThreadPool() {
  stop_workers();
}

void ThreadPool::stop_workers() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_tiles() {
  for (;;) {
    const std::int64_t i = next_.fetch_add(1);
    if (i >= tiles_) return;
    try {
      (*tile_)(i);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
}

void ThreadPool::worker_loop() {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    run_tiles();
    {
      std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }
}

void ThreadPool::parallel_for(std::int64_t tiles, const std::function<void(std::int64_t)>& tile) {
  if (tiles <= 0) return;
  if (workers_.empty() || tiles == 1) {
    for (std::int64_t i = 0; i < tiles; ++i) tile(i);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    tile_ = &tile;
    tiles_ = tiles;
    next_ = 0;
    busy_ = static_cast<int>(workers_.size());
    failure_ = nullptr;
    ++generation_;
  }
  start_.notify_all();
  run_tiles();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::parallel_ranges(std::int64_t size, std::int64_t grain,
                                 const std::function<void(std::int64_t, std::int64_t)>& range) {
  const std::int64_t step = std::max<std::int64_t>(1, grain);
  parallel_for((size + step - 1) / step,
               [&](std::int64_t i) { range(i * step, std::min(size, (i + 1) * step)); });
}

int default_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace lexirow::base
