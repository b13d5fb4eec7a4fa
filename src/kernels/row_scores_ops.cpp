#include "kernels/row_scores_ops.h"

#include <hwy/cache_control.h>

#include <cstdint>

// Highway compiles the part before HWY_ONCE once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_scores_ops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which the formatter would move.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lexirow::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A processor fetches ahead within a page of 4 KiB only; a kilobyte of head start bridges the
/// rest.
constexpr std::int64_t kAhead = 512;
constexpr std::int64_t kLine = 16;  // floats of a cache line

void dots_and_squares_float(std::int64_t rows, std::int64_t dim, const float* query,
                            const float* table, float* dots, float* squares) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = table + i * dim;
    V dot0 = hn::Zero(d), dot1 = dot0, dot2 = dot0, dot3 = dot0;
    V square0 = dot0, square1 = dot0, square2 = dot0, square3 = dot0;
    const auto add = [&](std::int64_t at, V& dot, V& square) HWY_ATTR {
      const V values = hn::LoadU(d, row + at);
      dot = hn::MulAdd(values, hn::LoadU(d, query + at), dot);
      square = hn::MulAdd(values, values, square);
    };
    std::int64_t j = 0;
    for (; j + 4 * lanes <= dim; j += 4 * lanes) {
      for (std::int64_t line = 0; line < 4 * lanes; line += kLine) {
        hwy::Prefetch(row + j + kAhead + line);
      }
      add(j, dot0, square0);
      add(j + lanes, dot1, square1);
      add(j + 2 * lanes, dot2, square2);
      add(j + 3 * lanes, dot3, square3);
    }
    for (; j + lanes <= dim; j += lanes) add(j, dot0, square0);
    float dot = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(dot0, dot1), hn::Add(dot2, dot3))));
    float square = hn::GetLane(
        hn::SumOfLanes(d, hn::Add(hn::Add(square0, square1), hn::Add(square2, square3))));
    for (; j < dim; ++j) {
      dot += row[j] * query[j];
      square += row[j] * row[j];
    }
    dots[i] = dot;
    squares[i] = square;
  }
}

}  // namespace lexirow::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lexirow::kernels {

namespace {

HWY_EXPORT(dots_and_squares_float);

}  // namespace

void dots_and_squares(std::int64_t rows, std::int64_t dim, const float* query, const float* table,
                      float* dots, float* squares) {
  HWY_DYNAMIC_DISPATCH(dots_and_squares_float)(rows, dim, query, table, dots, squares);
}

}  // namespace lexirow::kernels
#endif  // HWY_ONCE
