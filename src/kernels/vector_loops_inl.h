// Loops over float values that the files of vector code share. Highway compiles them once for every
// instruction set, so this guard opens again for each, as Highway's own -inl headers do.
#if defined(LEXIROW_VECTOR_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEXIROW_VECTOR_LOOPS_INL_H_
#undef LEXIROW_VECTOR_LOOPS_INL_H_
#else
#define LEXIROW_VECTOR_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lexirow::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vec = hn::Vec<Floats>;
constexpr Floats kFloats;

/// Sums are cut in pieces of this many values; pieces are joined in order in double.
constexpr std::int64_t kSumPiece = 1024;
/// The `count` values at x, fewer than a vector, and `fill` behind them. Reads nothing else.
template <class D>
HWY_INLINE hn::Vec<D> load_tail(D d, const float* x, std::int64_t count, float fill) {
  HWY_ALIGN float buffer[hn::MaxLanes(D())];
  hn::Store(hn::Set(d, fill), d, buffer);
  std::copy_n(x, count, buffer);
  return hn::Load(d, buffer);
}

/// Writes the first `count` lanes and nothing else.
HWY_INLINE void store_tail(Vec values, std::int64_t count, float* out) {
  HWY_ALIGN float buffer[hn::MaxLanes(Floats())];
  hn::Store(values, kFloats, buffer);
  std::copy_n(buffer, count, out);
}

/// out[i] = f(in[i]...). May run in place.
template <class F, class... In>
HWY_INLINE void transform(std::int64_t size, float* out, const F& f, const In*... in) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(f(hn::LoadU(kFloats, in + i)...), kFloats, out + i);
  }
  if (i < size) store_tail(f(load_tail(kFloats, in + i, size - i, 0.0F)...), size - i, out + i);
}

/// Sum of f(i, in[i]...) over one piece, where `i` is the first index of the vector. Four running
/// vectors hide the latency of the additions; the tail's surplus lanes count as zero.
template <class F, class... In>
HWY_INLINE float sum_piece(std::int64_t begin, std::int64_t end, const F& f, const In*... in) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  Vec sum0 = hn::Zero(kFloats);
  Vec sum1 = sum0;
  Vec sum2 = sum0;
  Vec sum3 = sum0;
  const auto term = [&](std::int64_t i)
                        HWY_ATTR { return f(i, lanes, hn::LoadU(kFloats, in + i)...); };
  std::int64_t i = begin;
  for (; i + 4 * lanes <= end; i += 4 * lanes) {
    sum0 = hn::Add(sum0, term(i));
    sum1 = hn::Add(sum1, term(i + lanes));
    sum2 = hn::Add(sum2, term(i + 2 * lanes));
    sum3 = hn::Add(sum3, term(i + 3 * lanes));
  }
  for (; i + lanes <= end; i += lanes) sum0 = hn::Add(sum0, term(i));
  if (i < end) {
    const Vec last = f(i, end - i, load_tail(kFloats, in + i, end - i, 0.0F)...);
    const auto valid = hn::FirstN(kFloats, static_cast<std::size_t>(end - i));
    sum1 = hn::Add(sum1, hn::IfThenElseZero(valid, last));
  }
  const Vec sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  return hn::GetLane(hn::SumOfLanes(kFloats, sum));
}

template <class F, class... In>
HWY_INLINE float sum_pieces(std::int64_t size, const F& f, const In*... in) {
  double total = 0;
  for (std::int64_t begin = 0; begin < size; begin += kSumPiece) {
    total += static_cast<double>(sum_piece(begin, std::min(size, begin + kSumPiece), f, in...));
  }
  return static_cast<float>(total);
}

}  // namespace lexirow::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
