#include "measure/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace lexirow::measure {
namespace {

constexpr std::size_t kLeast = 5;
constexpr std::size_t kMost = 100000;

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

Timing repeat(double seconds, const std::function<void()>& work,
              const std::function<void()>& prepare) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  if (prepare) prepare();
  work();
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  while (times.size() < kLeast || (since(start) < seconds && times.size() < kMost)) {
    if (prepare) prepare();
    const Clock::time_point before = Clock::now();
    work();
    times.push_back(since(before));
  }
  std::sort(times.begin(), times.end());
  const double median = quantile(times, 0.5);
  const double spread = median > 0 ? (quantile(times, 0.75) - quantile(times, 0.25)) / median : 0;
  return {median, spread, static_cast<std::int64_t>(times.size())};
}

}  // namespace lexirow::measure
