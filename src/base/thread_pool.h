#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lexirow::base {

/// A fixed set of threads that share out numbered tiles of work. Which thread runs a tile is not
/// fixed, so a tile must write only what belongs to it and tiles must be cut by sizes alone: then
/// the results are the same bytes for any number of threads.
class ThreadPool {
 public:
  /// `threads` in all, the calling one included; 1 to 1024, never clamped to the cores. Throws
  /// Error(argument), or Error(io) when the system has no more threads to give.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls `tile(i)` once for every i in [0, tiles) and returns when all are done. The first
  /// exception of a tile is thrown again here. Not to be called from inside a tile.
  void parallel_for(std::int64_t tiles, const std::function<void(std::int64_t)>& tile);

  /// Cuts [0, size) in ranges of `grain` (the last may be shorter) and calls `range(begin, end)`.
  void parallel_ranges(std::int64_t size, std::int64_t grain,
                       const std::function<void(std::int64_t, std::int64_t)>& range);

 private:
  void worker_loop();
  void stop_workers();
  void run_tiles();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(std::int64_t)>* tile_ = nullptr;
  std::int64_t tiles_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::uint64_t generation_ = 0;
  int busy_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
};

/// The number of threads that `--threads` defaults to: the cores this process may use.
int default_threads();

}  // namespace lexirow::base
