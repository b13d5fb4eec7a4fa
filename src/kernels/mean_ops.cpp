#include "kernels/mean_ops.h"

#include <algorithm>
#include <cstdint>

// Highway compiles the part before HWY_ONCE once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mean_ops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which the formatter would move.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lexirow::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using HalfFloats = hn::Rebind<float, Doubles>;  // as many floats as doubles fill a vector
using DoubleVec = hn::Vec<Doubles>;
constexpr Doubles kDoubles;
constexpr HalfFloats kHalfFloats;

HWY_INLINE DoubleVec load(const double* from) {
  return hn::LoadU(kDoubles, from);
}
HWY_INLINE DoubleVec load(const float* from) {
  return hn::PromoteTo(kDoubles, hn::LoadU(kHalfFloats, from));
}
HWY_INLINE void store(DoubleVec values, double* to) {
  hn::StoreU(values, kDoubles, to);
}
HWY_INLINE void store(DoubleVec values, float* to) {
  hn::StoreU(hn::DemoteTo(kHalfFloats, values), kHalfFloats, to);
}

/// Calls vector(i) for whole vectors, then value(i) for what is left.
template <class Vector, class Value>
HWY_INLINE void each(std::int64_t size, const Vector& vector, const Value& value) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kDoubles));
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes) vector(i);
  for (; i < size; ++i) value(i);
}

// Products and sums are rounded apart, never fused: plain double arithmetic is what is promised.

template <class T>
HWY_INLINE void add_row(std::int64_t size, const T* row, double* sum) {
  each(
      size, [&](std::int64_t i) HWY_ATTR { store(hn::Add(load(sum + i), load(row + i)), sum + i); },
      [&](std::int64_t i) HWY_ATTR { sum[i] += static_cast<double>(row[i]); });
}

template <class T>
HWY_INLINE void decay_and_add(std::int64_t size, double rate, const T* row, double* sum) {
  const DoubleVec rates = hn::Set(kDoubles, rate);
  each(
      size,
      [&](std::int64_t i)
          HWY_ATTR { store(hn::Add(hn::Mul(rates, load(sum + i)), load(row + i)), sum + i); },
      [&](std::int64_t i) HWY_ATTR { sum[i] = rate * sum[i] + static_cast<double>(row[i]); });
}

template <class T>
HWY_INLINE void write_mean(std::int64_t size, const double* sum, double weight, T* out) {
  const DoubleVec weights = hn::Set(kDoubles, weight);
  each(
      size, [&](std::int64_t i) HWY_ATTR { store(hn::Div(load(sum + i), weights), out + i); },
      [&](std::int64_t i) HWY_ATTR { out[i] = static_cast<T>(sum[i] / weight); });
}

template <class T>
HWY_INLINE void add_share(std::int64_t size, const T* d_out, double weight, double* sum) {
  const DoubleVec weights = hn::Set(kDoubles, weight);
  each(
      size,
      [&](std::int64_t i)
          HWY_ATTR { store(hn::Add(load(sum + i), hn::Div(load(d_out + i), weights)), sum + i); },
      [&](std::int64_t i) HWY_ATTR { sum[i] += static_cast<double>(d_out[i]) / weight; });
}

void add_sum_float(std::int64_t size, const double* sum, float* d_row) {
  each(
      size,
      [&](std::int64_t i) HWY_ATTR {
        const auto rounded = hn::DemoteTo(kHalfFloats, load(sum + i));
        hn::StoreU(hn::Add(hn::LoadU(kHalfFloats, d_row + i), rounded), kHalfFloats, d_row + i);
      },
      [&](std::int64_t i) HWY_ATTR { d_row[i] += static_cast<float>(sum[i]); });
}

void add_row_float(std::int64_t size, const float* row, double* sum) {
  add_row(size, row, sum);
}
void add_row_double(std::int64_t size, const double* row, double* sum) {
  add_row(size, row, sum);
}
void decay_and_add_float(std::int64_t size, double rate, const float* row, double* sum) {
  decay_and_add(size, rate, row, sum);
}
void decay_and_add_double(std::int64_t size, double rate, const double* row, double* sum) {
  decay_and_add(size, rate, row, sum);
}
void write_mean_float(std::int64_t size, const double* sum, double weight, float* out) {
  write_mean(size, sum, weight, out);
}
void write_mean_double(std::int64_t size, const double* sum, double weight, double* out) {
  write_mean(size, sum, weight, out);
}
void add_share_float(std::int64_t size, const float* d_out, double weight, double* sum) {
  add_share(size, d_out, weight, sum);
}
void add_share_double(std::int64_t size, const double* d_out, double weight, double* sum) {
  add_share(size, d_out, weight, sum);
}

}  // namespace lexirow::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lexirow::kernels {
namespace {

HWY_EXPORT(add_row_float);
HWY_EXPORT(add_row_double);
HWY_EXPORT(decay_and_add_float);
HWY_EXPORT(decay_and_add_double);
HWY_EXPORT(write_mean_float);
HWY_EXPORT(write_mean_double);
HWY_EXPORT(add_share_float);
HWY_EXPORT(add_share_double);
HWY_EXPORT(add_sum_float);

}  // namespace

template <>
void add_row(std::int64_t size, const float* row, double* sum) {
  HWY_DYNAMIC_DISPATCH(add_row_float)(size, row, sum);
}
template <>
void add_row(std::int64_t size, const double* row, double* sum) {
  HWY_DYNAMIC_DISPATCH(add_row_double)(size, row, sum);
}

template <>
void decay_and_add(std::int64_t size, double rate, const float* row, double* sum) {
  HWY_DYNAMIC_DISPATCH(decay_and_add_float)(size, rate, row, sum);
}
template <>
void decay_and_add(std::int64_t size, double rate, const double* row, double* sum) {
  HWY_DYNAMIC_DISPATCH(decay_and_add_double)(size, rate, row, sum);
}

template <>
void write_mean(std::int64_t size, const double* sum, double weight, float* out) {
  if (weight == 0) {
    std::fill_n(out, size, 0.0F);
  } else {
    HWY_DYNAMIC_DISPATCH(write_mean_float)(size, sum, weight, out);
  }
}
template <>
void write_mean(std::int64_t size, const double* sum, double weight, double* out) {
  if (weight == 0) {
    std::fill_n(out, size, 0.0);
  } else {
    HWY_DYNAMIC_DISPATCH(write_mean_double)(size, sum, weight, out);
  }
}

template <>
void add_share(std::int64_t size, const float* d_out, double weight, double* sum) {
  HWY_DYNAMIC_DISPATCH(add_share_float)(size, d_out, weight, sum);
}
template <>
void add_share(std::int64_t size, const double* d_out, double weight, double* sum) {
  HWY_DYNAMIC_DISPATCH(add_share_double)(size, d_out, weight, sum);
}

template <>
void add_sum(std::int64_t size, const double* sum, float* d_row) {
  HWY_DYNAMIC_DISPATCH(add_sum_float)(size, sum, d_row);
}
template <>
void add_sum(std::int64_t size, const double* sum, double* d_row) {
  HWY_DYNAMIC_DISPATCH(add_row_double)(size, sum, d_row);
}

}  // namespace lexirow::kernels
#endif  // HWY_ONCE
