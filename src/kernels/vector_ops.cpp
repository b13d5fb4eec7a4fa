#include "kernels/vector_ops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

// Highway compiles the part before HWY_ONCE once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector_ops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which the formatter would move.
#include <hwy/highway.h>

#include "kernels/vector_loops_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lexirow::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// exp below 2^-100 is zero, here as in the optimizer: denormals would slow the products that read
/// the result. ln 2^-100 = -69.3.
constexpr float kSmallestExponent = -69.3F;
constexpr float kLargestExponent = 89.0F;

/// exp(x) for x <= 89, within 2 ULP; zero below kSmallestExponent; NaN stays NaN.
/// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 q(r), q fitted for least relative
/// error (3e-9). Adding 1.5 * 2^23 rounds to an integer whose low bits are n.
HWY_INLINE Vec exp_bounded(Vec x) {
  const hn::RebindToSigned<Floats> integers;
  const Vec magic = hn::Set(kFloats, 12582912.0F);
  const Vec shifted = hn::MulAdd(x, hn::Set(kFloats, std::numbers::log2e_v<float>), magic);
  const Vec n = hn::Sub(shifted, magic);
  Vec r = hn::NegMulAdd(n, hn::Set(kFloats, 0.693359375F), x);  // ln 2 in two parts
  r = hn::NegMulAdd(n, hn::Set(kFloats, -2.12194440e-4F), r);
  Vec q = hn::Set(kFloats, 0.0013814594F);
  q = hn::MulAdd(q, r, hn::Set(kFloats, 0.00836871731F));
  q = hn::MulAdd(q, r, hn::Set(kFloats, 0.0416683881F));
  q = hn::MulAdd(q, r, hn::Set(kFloats, 0.166665206F));
  q = hn::MulAdd(q, r, hn::Set(kFloats, 0.499999934F));
  const Vec exp_r = hn::Add(hn::MulAdd(hn::Mul(r, r), q, r), hn::Set(kFloats, 1.0F));
  // 2 exp(r) 2^(n-1): 2^128 is no float, 2^127 is.
  const auto exponent = hn::Add(hn::BitCast(integers, shifted), hn::Set(integers, 126));
  const Vec power = hn::BitCast(kFloats, hn::ShiftLeft<23>(exponent));
  const Vec result = hn::Mul(hn::Add(exp_r, exp_r), power);
  return hn::IfThenElse(hn::Lt(x, hn::Set(kFloats, kSmallestExponent)), hn::Zero(kFloats), result);
}

HWY_INLINE Vec exp_any(Vec x) {
  const Vec largest = hn::Set(kFloats, kLargestExponent);
  return exp_bounded(hn::IfThenElse(hn::Gt(x, largest), largest, x));
}

struct Normal {
  Vec below;    ///< Phi(x), the normal distribution function
  Vec density;  ///< exp(-x^2 / 2)
};

/// Phi(-a) = exp(-a^2/2) m(a) for a >= 0, where m is smooth: a polynomial in t = 1 / (1 + 0.34 a),
/// fitted for least relative error on [0, 12] (1.7e-8). So the left tail keeps its precision, and
/// one exp serves the value and the gradient.
HWY_INLINE Normal normal(Vec x) {
  const Vec one = hn::Set(kFloats, 1.0F);
  const Vec a = hn::Abs(x);
  const Vec density = exp_bounded(hn::Mul(hn::Mul(a, a), hn::Set(kFloats, -0.5F)));
  const Vec t = hn::Div(one, hn::MulAdd(a, hn::Set(kFloats, 0.34F), one));
  Vec m = hn::Set(kFloats, -0.0272021988F);
  m = hn::MulAdd(m, t, hn::Set(kFloats, 0.144583543F));
  m = hn::MulAdd(m, t, hn::Set(kFloats, -0.283256623F));
  m = hn::MulAdd(m, t, hn::Set(kFloats, 0.213307019F));
  m = hn::MulAdd(m, t, hn::Set(kFloats, -0.0520743129F));
  m = hn::MulAdd(m, t, hn::Set(kFloats, 0.118347706F));
  m = hn::MulAdd(m, t, hn::Set(kFloats, 0.114471082F));
  m = hn::MulAdd(m, t, hn::Set(kFloats, 0.136208627F));
  m = hn::MulAdd(m, t, hn::Set(kFloats, 0.135615162F));
  const Vec tail = hn::Mul(hn::Mul(m, t), density);
  const auto left = hn::Lt(x, hn::Zero(kFloats));
  return {hn::IfThenElse(left, tail, hn::Sub(one, tail)), density};
}

/// x held to [-16, 16], where GELU is already x or 0: infinity times zero would be NaN.
HWY_INLINE Vec at_least_minus_16(Vec x) {
  const Vec bound = hn::Set(kFloats, -16.0F);
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
}
HWY_INLINE Vec at_most_16(Vec x) {
  const Vec bound = hn::Set(kFloats, 16.0F);
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
}

void gelu_float(std::int64_t size, const float* x, float* out) {
  transform(
      size, out, [](Vec v) HWY_ATTR { return hn::Mul(at_least_minus_16(v), normal(v).below); }, x);
}

void gelu_gradient_float(std::int64_t size, const float* x, const float* d_out, float* d_x) {
  const auto gradient = [](Vec v, Vec d) HWY_ATTR {
    const Normal at = normal(v);
    const Vec root = hn::Set(kFloats, 0.398942280F);  // 1 / sqrt(2 pi)
    const Vec bounded = at_most_16(at_least_minus_16(v));
    return hn::Mul(d, hn::MulAdd(hn::Mul(bounded, root), at.density, at.below));
  };
  transform(size, d_x, gradient, x, d_out);
}

void add_float(std::int64_t size, const float* x, float* acc) {
  const auto sum = [](Vec v, Vec old) HWY_ATTR { return hn::Add(old, v); };
  transform(size, acc, sum, x, static_cast<const float*>(acc));
}

void add_scaled_float(std::int64_t size, float factor, const float* x, float* acc) {
  const Vec by = hn::Set(kFloats, factor);
  const auto sum = [by](Vec v, Vec old) HWY_ATTR { return hn::MulAdd(by, v, old); };
  transform(size, acc, sum, x, static_cast<const float*>(acc));
}

void scale_float(std::int64_t size, float factor, float* x) {
  const Vec by = hn::Set(kFloats, factor);
  const auto product = [by](Vec v) HWY_ATTR { return hn::Mul(by, v); };
  transform(size, x, product, static_cast<const float*>(x));
}

float max_value_float(std::int64_t size, const float* x) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  Vec largest = hn::Set(kFloats, kLowest);
  Vec poison = hn::Zero(kFloats);  // NaN where a NaN was met: Max alone may lose it
  std::int64_t i = 0;
  for (; i < size; i += lanes) {
    const Vec v = i + lanes <= size ? hn::LoadU(kFloats, x + i)
                                    : load_tail(kFloats, x + i, size - i, kLowest);
    largest = hn::Max(largest, v);
    poison = hn::Or(poison, hn::IfThenElseZero(hn::IsNaN(v), v));
  }
  if (!hn::AllFalse(kFloats, hn::IsNaN(poison))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(kFloats, largest));
}

float exp_shifted_float(std::int64_t size, float shift, const float* x, float* out) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  const Vec by = hn::Set(kFloats, shift);
  const auto stored = [=](std::int64_t i, std::int64_t count, Vec v) HWY_ATTR {
    const Vec value = exp_any(hn::Sub(v, by));
    if (count == lanes) {
      hn::StoreU(value, kFloats, out + i);
    } else {
      store_tail(value, count, out + i);
    }
    return value;
  };
  return sum_pieces(size, stored, x);
}

float sum_exp_shifted_float(std::int64_t size, float shift, const float* x) {
  const Vec by = hn::Set(kFloats, shift);
  const auto value = [by](std::int64_t, std::int64_t, Vec v)
                         HWY_ATTR { return exp_any(hn::Sub(v, by)); };
  return sum_pieces(size, value, x);
}

float dot_float(std::int64_t size, const float* a, const float* b) {
  const auto product = [](std::int64_t, std::int64_t, Vec left, Vec right)
                           HWY_ATTR { return hn::Mul(left, right); };
  return sum_pieces(size, product, a, b);
}

double sum_of_squares_float(std::int64_t size, const float* x) {
  const hn::ScalableTag<double> doubles;
  const hn::Rebind<float, decltype(doubles)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(doubles));
  double total = 0;
  for (std::int64_t begin = 0; begin < size; begin += kSumPiece) {
    const std::int64_t end = std::min(size, begin + kSumPiece);
    auto sum0 = hn::Zero(doubles);
    auto sum1 = sum0;
    const auto square = [&](auto v) HWY_ATTR {
      const auto wide = hn::PromoteTo(doubles, v);
      return hn::Mul(wide, wide);
    };
    std::int64_t i = begin;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      sum0 = hn::Add(sum0, square(hn::LoadU(narrow, x + i)));
      sum1 = hn::Add(sum1, square(hn::LoadU(narrow, x + i + lanes)));
    }
    for (; i < end; i += lanes) {
      const std::int64_t count = std::min(lanes, end - i);
      sum0 = hn::Add(sum0, square(load_tail(narrow, x + i, count, 0.0F)));
    }
    total += hn::GetLane(hn::SumOfLanes(doubles, hn::Add(sum0, sum1)));
  }
  return total;
}

bool all_finite_float(std::int64_t size, const float* x) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  for (std::int64_t i = 0; i < size; i += lanes) {
    const Vec v =
        i + lanes <= size ? hn::LoadU(kFloats, x + i) : load_tail(kFloats, x + i, size - i, 0.0F);
    if (!hn::AllTrue(kFloats, hn::IsFinite(v))) return false;
  }
  return true;
}

}  // namespace lexirow::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lexirow::kernels {
namespace {

HWY_EXPORT(gelu_float);
HWY_EXPORT(gelu_gradient_float);
HWY_EXPORT(add_float);
HWY_EXPORT(add_scaled_float);
HWY_EXPORT(scale_float);
HWY_EXPORT(max_value_float);
HWY_EXPORT(exp_shifted_float);
HWY_EXPORT(sum_exp_shifted_float);
HWY_EXPORT(dot_float);
HWY_EXPORT(sum_of_squares_float);
HWY_EXPORT(all_finite_float);

/// Phi(x): erfc keeps the left tail's precision where 1 + erf would lose it.
double normal_below(double x) {
  return 0.5 * std::erfc(-x * (1 / std::numbers::sqrt2));
}

/// GELU is x or 0 to the last bit outside [-40, 40]; infinity times zero would be NaN.
constexpr double kGeluBound = 40;

}  // namespace

template <Real T>
void gelu(std::int64_t size, const T* x, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(gelu_float)(size, x, out);
  } else {
    for (std::int64_t i = 0; i < size; ++i) {
      out[i] = (x[i] < -kGeluBound ? -kGeluBound : x[i]) * normal_below(x[i]);
    }
  }
}

template <Real T>
void gelu_gradient(std::int64_t size, const T* x, const T* d_out, T* d_x) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(gelu_gradient_float)(size, x, d_out, d_x);
  } else {
    for (std::int64_t i = 0; i < size; ++i) {
      const double bounded = std::clamp(x[i], -kGeluBound, kGeluBound);
      const double density = std::exp(-0.5 * x[i] * x[i]) * (1 / std::sqrt(2 * std::numbers::pi));
      d_x[i] = d_out[i] * (normal_below(x[i]) + bounded * density);
    }
  }
}

template <Real T>
void add(std::int64_t size, const T* x, T* acc) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(add_float)(size, x, acc);
  } else {
    for (std::int64_t i = 0; i < size; ++i) acc[i] += x[i];
  }
}

template <Real T>
void add_scaled(std::int64_t size, T factor, const T* x, T* acc) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(add_scaled_float)(size, factor, x, acc);
  } else {
    for (std::int64_t i = 0; i < size; ++i) acc[i] += factor * x[i];
  }
}

template <Real T>
void scale(std::int64_t size, T factor, T* x) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(scale_float)(size, factor, x);
  } else {
    for (std::int64_t i = 0; i < size; ++i) x[i] *= factor;
  }
}

template <Real T>
T max_value(std::int64_t size, const T* x) {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(max_value_float)(size, x);
  } else {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < size; ++i) {
      if (std::isnan(x[i])) return x[i];
      largest = std::max(largest, x[i]);
    }
    return largest;
  }
}

template <Real T>
T exp_shifted(std::int64_t size, T shift, const T* x, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(exp_shifted_float)(size, shift, x, out);
  } else {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += out[i] = std::exp(x[i] - shift);
    return sum;
  }
}

template <Real T>
T sum_exp_shifted(std::int64_t size, T shift, const T* x) {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(sum_exp_shifted_float)(size, shift, x);
  } else {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += std::exp(x[i] - shift);
    return sum;
  }
}

template <Real T>
T dot(std::int64_t size, const T* a, const T* b) {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(dot_float)(size, a, b);
  } else {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
  }
}

template <Real T>
double sum_of_squares(std::int64_t size, const T* x) {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(sum_of_squares_float)(size, x);
  } else {
    return dot(size, x, x);
  }
}

template <Real T>
bool all_finite(std::int64_t size, const T* x) {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(all_finite_float)(size, x);
  } else {
    return std::all_of(x, x + size, [](double v) { return std::isfinite(v); });
  }
}

template void gelu<float>(std::int64_t, const float*, float*);
template void gelu_gradient<float>(std::int64_t, const float*, const float*, float*);
template void add<float>(std::int64_t, const float*, float*);
template void add_scaled<float>(std::int64_t, float, const float*, float*);
template void scale<float>(std::int64_t, float, float*);
template float max_value<float>(std::int64_t, const float*);
template float exp_shifted<float>(std::int64_t, float, const float*, float*);
template float sum_exp_shifted<float>(std::int64_t, float, const float*);
template float dot<float>(std::int64_t, const float*, const float*);
template double sum_of_squares<float>(std::int64_t, const float*);
template bool all_finite<float>(std::int64_t, const float*);

template void gelu<double>(std::int64_t, const double*, double*);
template void gelu_gradient<double>(std::int64_t, const double*, const double*, double*);
template void add<double>(std::int64_t, const double*, double*);
template void add_scaled<double>(std::int64_t, double, const double*, double*);
template void scale<double>(std::int64_t, double, double*);
template double max_value<double>(std::int64_t, const double*);
template double exp_shifted<double>(std::int64_t, double, const double*, double*);
template double sum_exp_shifted<double>(std::int64_t, double, const double*);
template double dot<double>(std::int64_t, const double*, const double*);
template double sum_of_squares<double>(std::int64_t, const double*);
template bool all_finite<double>(std::int64_t, const double*);

}  // namespace lexirow::kernels
#endif  // HWY_ONCE
