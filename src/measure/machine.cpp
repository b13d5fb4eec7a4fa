#include "measure/machine.h"

#include <algorithm>
#include <cstring>

#include "base/array.h"
#include "kernels/matmul.h"
#include "measure/timing.h"

namespace lexirow::measure {

double copy_bandwidth(base::ThreadPool& pool) {
  constexpr std::int64_t kBytes = std::int64_t{128} << 20;
  constexpr std::int64_t kGrain = std::int64_t{1} << 20;
  const base::Array<char> from(kBytes);
  base::Array<char> to(kBytes);
  const Timing timing = repeat(0.3, [&] {
    pool.parallel_ranges(kBytes, kGrain, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
    });
  });
  return 2.0 * static_cast<double>(kBytes) / timing.seconds;
}

double matrix_rate(base::ThreadPool& pool) {
  constexpr std::int64_t kRows = 2048;
  constexpr std::int64_t kColumns = 4096;
  constexpr std::int64_t kInner = 512;
  constexpr std::int64_t kTile = 256;
  base::Array<float> left(kRows * kInner);
  base::Array<float> right(kColumns * kInner);
  base::Array<float> out(kRows * kColumns);
  left.fill(0.5F);
  right.fill(0.25F);
  const Timing timing = repeat(0.5, [&] {
    pool.parallel_for(kRows / kTile, [&](std::int64_t tile) {
      kernels::matmul<float>(false, true, kTile, kColumns, kInner,
                             left.data() + tile * kTile * kInner, kInner, right.data(), kInner,
                             false, out.data() + tile * kTile * kColumns, kColumns);
    });
  });
  return 2.0 * static_cast<double>(kRows * kColumns) * kInner / timing.seconds;
}

}  // namespace lexirow::measure
