#include "context/window.h"

#include <array>
#include <vector>

#include "context/tiles.h"

namespace lexirow::context {

namespace {

/// Up to this many entries are added one by one: fewer additions than by blocks.
constexpr std::int64_t kFewEntries = 4;

/// As sliding_sums, for few entries: each waits in its slot until it has left the window.
template <typename Load, typename Emit>
void sums_of_few(std::int64_t length, std::int64_t window, std::int64_t width, const Load& load,
                 const Emit& emit) {
  std::array<std::array<double, kMostColumns>, kFewEntries> slots;
  std::array<double, kMostColumns> sum;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto slot = [&](std::int64_t entry) {
      return slots[static_cast<std::size_t>(entry % window)].data();
    };
    std::fill_n(slot(i), width, 0.0);
    load(i, slot(i));
    std::int64_t entry = std::max<std::int64_t>(0, i - window + 1);
    std::copy_n(slot(entry), width, sum.data());
    while (++entry <= i) kernels::add_row(width, slot(entry), sum.data());
    emit(i, sum.data());
  }
}

/// As sliding_sums. Entries are cut in blocks of `window`: a sum is the end of the block before
/// plus the start of the present one.
template <typename Load, typename Emit>
void sums_by_blocks(std::int64_t length, std::int64_t window, std::int64_t width, const Load& load,
                    const Emit& emit) {
  const std::int64_t block = std::min(window, length);
  // Slot j holds the sum from entry j to the end of the block before, until entry j of the present
  // block takes its place. The memory stays with the thread, so that steps do not allocate.
  thread_local std::vector<double> memory;
  memory.assign(static_cast<std::size_t>(block * width), 0.0);
  std::array<double, kMostColumns> start{};
  std::array<double, kMostColumns> sum{};
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t j = i % block;
    if (j == 0) start.fill(0.0);
    double* slot = memory.data() + j * width;
    std::fill_n(slot, width, 0.0);
    load(i, slot);
    kernels::add_row(width, slot, start.data());
    sum = start;
    if (j + 1 < block) kernels::add_row(width, slot + width, sum.data());
    emit(i, sum.data());
    if (j + 1 < block) continue;
    for (std::int64_t k = block - 2; k >= 0; --k) {
      kernels::add_row(width, memory.data() + (k + 1) * width, memory.data() + k * width);
    }
  }
}

/// Sums over the last `window` of `length` entries, for every entry.
///   load(i, entry)  adds entry i to `width` zeros
///   emit(i, sum)    takes the sum over entries max(0, i - window + 1) ... i
template <typename Load, typename Emit>
void sliding_sums(std::int64_t length, std::int64_t window, std::int64_t width, const Load& load,
                  const Emit& emit) {
  if (window <= kFewEntries) {
    sums_of_few(length, window, width, load, emit);
  } else {
    sums_by_blocks(length, window, width, load, emit);
  }
}

}  // namespace

template <Real T>
void window_forward(base::ThreadPool& pool, std::int64_t window, base::View3<const T> hidden,
                    base::View2<const std::uint8_t> mask, const Columns<T>& out) {
  assert_shapes(hidden, mask, out, 1);
  const std::int64_t rows = hidden.extent(1);
  const std::int64_t earlier = rows - out.steps();
  for_each_column_block(pool, hidden.extent(0), hidden.extent(2), [&](const ColumnBlock& block) {
    std::int64_t count = 0;
    const auto load = [&](std::int64_t t, double* entry) {
      if (is_visible(mask, block.sequence, t))
        kernels::add_row(block.width, columns_of(hidden, block, t), entry);
    };
    const auto emit = [&](std::int64_t t, const double* sum) {
      count += count_visible(mask, block.sequence, t, t + 1);
      if (t >= window) count -= count_visible(mask, block.sequence, t - window, t - window + 1);
      if (t < earlier) return;
      kernels::write_mean(block.width, sum, static_cast<double>(count),
                          columns_of(out, block, t - earlier));
    };
    sliding_sums(rows, window, block.width, load, emit);
  });
}

template <Real T>
void window_backward(base::ThreadPool& pool, std::int64_t window,
                     base::View2<const std::uint8_t> mask, const Columns<const T>& d_out,
                     base::View3<T> d_hidden) {
  assert_shapes(d_hidden, mask, d_out, 1);
  const std::int64_t rows = d_hidden.extent(1);
  const std::int64_t earlier = rows - d_out.steps();
  // The same sliding sum, walked from the last position to the first.
  for_each_column_block(
      pool, d_hidden.extent(0), d_hidden.extent(2), [&](const ColumnBlock& block) {
        std::int64_t count = count_visible(mask, block.sequence, rows - window, rows);
        const auto load = [&](std::int64_t i, double* entry) {
          const std::int64_t t = rows - 1 - i;
          if (t >= earlier && count > 0) {
            kernels::add_share(block.width, columns_of(d_out, block, t - earlier),
                               static_cast<double>(count), entry);
          }
          count += count_visible(mask, block.sequence, t - window, t - window + 1);
          count -= count_visible(mask, block.sequence, t, t + 1);
        };
        const auto emit = [&](std::int64_t i, const double* sum) {
          const std::int64_t t = rows - 1 - i;
          if (!is_visible(mask, block.sequence, t)) return;
          kernels::add_sum(block.width, sum, columns_of(d_hidden, block, t));
        };
        sliding_sums(rows, window, block.width, load, emit);
      });
}

template void window_forward<float>(base::ThreadPool&, std::int64_t, base::View3<const float>,
                                    base::View2<const std::uint8_t>, const Columns<float>&);
template void window_backward<float>(base::ThreadPool&, std::int64_t,
                                     base::View2<const std::uint8_t>, const Columns<const float>&,
                                     base::View3<float>);
template void window_forward<double>(base::ThreadPool&, std::int64_t, base::View3<const double>,
                                     base::View2<const std::uint8_t>, const Columns<double>&);
template void window_backward<double>(base::ThreadPool&, std::int64_t,
                                      base::View2<const std::uint8_t>, const Columns<const double>&,
                                      base::View3<double>);

}  // namespace lexirow::context
