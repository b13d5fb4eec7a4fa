#include "kernels/layer_ops.h"

#include <cmath>
#include <type_traits>

// Highway compiles the part before HWY_ONCE once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_ops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which the formatter would move.
#include <hwy/highway.h>

#include "kernels/vector_loops_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lexirow::kernels::HWY_NAMESPACE {

void relu_float(std::int64_t size, const float* x, float* out) {
  // Not Max, which may lose a NaN.
  const auto positive = [](Vec v) HWY_ATTR {
    return hn::IfThenElse(hn::Lt(v, hn::Zero(kFloats)), hn::Zero(kFloats), v);
  };
  transform(size, out, positive, x);
}

void relu_gradient_float(std::int64_t size, const float* x, const float* d_out, float* d_x) {
  const auto passed = [](Vec v, Vec d)
                          HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, hn::Zero(kFloats)), d); };
  transform(size, d_x, passed, x, d_out);
}

void layer_norm_float(std::int64_t rows, std::int64_t width, const float* x, const float* weight,
                      const float* bias, float* y, float* mean, float* inverse_deviation) {
  const auto value = [](std::int64_t, std::int64_t, Vec v) HWY_ATTR { return v; };
  for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
    const float center = sum_pieces(width, value, x) / static_cast<float>(width);
    const Vec by = hn::Set(kFloats, center);
    const auto square = [by](std::int64_t, std::int64_t, Vec v) HWY_ATTR {
      const Vec apart = hn::Sub(v, by);
      return hn::Mul(apart, apart);
    };
    const double variance =
        static_cast<double>(sum_pieces(width, square, x)) / static_cast<double>(width);
    mean[row] = center;
    inverse_deviation[row] = static_cast<float>(1 / std::sqrt(variance + kLayerNormEps));
    const Vec factor = hn::Set(kFloats, inverse_deviation[row]);
    const auto normed = [=](Vec v, Vec w, Vec b)
                            HWY_ATTR { return hn::MulAdd(hn::Mul(hn::Sub(v, by), factor), w, b); };
    transform(width, y, normed, x, weight, bias);
  }
}

void layer_norm_gradient_float(std::int64_t rows, std::int64_t width, const float* x,
                               const float* weight, const float* mean,
                               const float* inverse_deviation, const float* d_y, float* d_x,
                               float* d_weight, float* d_bias) {
  const auto product = [](std::int64_t, std::int64_t, Vec d, Vec w)
                           HWY_ATTR { return hn::Mul(d, w); };
  const auto sum = [](Vec d, Vec old) HWY_ATTR { return hn::Add(old, d); };
  for (std::int64_t row = 0; row < rows; ++row, x += width, d_y += width, d_x += width) {
    const Vec center = hn::Set(kFloats, mean[row]);
    const Vec factor = hn::Set(kFloats, inverse_deviation[row]);
    const auto along = [=](std::int64_t, std::int64_t, Vec d, Vec w, Vec v) HWY_ATTR {
      return hn::Mul(hn::Mul(d, w), hn::Mul(hn::Sub(v, center), factor));
    };
    const auto size = static_cast<float>(width);
    const Vec share = hn::Set(kFloats, sum_pieces(width, product, d_y, weight) / size);
    const Vec slope = hn::Set(kFloats, sum_pieces(width, along, d_y, weight, x) / size);
    const auto gradient = [=](Vec d, Vec w, Vec v, Vec old) HWY_ATTR {
      const Vec normed = hn::Mul(hn::Sub(v, center), factor);
      const Vec apart = hn::Sub(hn::Mul(d, w), hn::MulAdd(normed, slope, share));
      return hn::MulAdd(apart, factor, old);
    };
    transform(width, d_x, gradient, d_y, weight, x, static_cast<const float*>(d_x));
    const auto scaled = [=](Vec d, Vec v, Vec old) HWY_ATTR {
      return hn::MulAdd(d, hn::Mul(hn::Sub(v, center), factor), old);
    };
    transform(width, d_weight, scaled, d_y, x, static_cast<const float*>(d_weight));
    transform(width, d_bias, sum, d_y, static_cast<const float*>(d_bias));
  }
}

void dropout_float(std::int64_t size, std::uint32_t low, std::uint32_t high,
                   std::uint32_t threshold, float scale, float* x) {
  const hn::RebindToUnsigned<Floats> words;
  const hn::RebindToSigned<Floats> integers;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  const Vec by = hn::Set(kFloats, scale);
  const auto below = hn::Set(integers, static_cast<std::int32_t>(threshold) - 1);
  // random_bits() below, lane by lane; i * kWeyl + low from vector to vector by adding.
  auto counter = hn::Add(hn::Mul(hn::Iota(words, 0U), hn::Set(words, kWeyl)), hn::Set(words, low));
  const auto step = hn::Set(words, static_cast<std::uint32_t>(lanes) * kWeyl);
  const auto kept = [&](Vec v) HWY_ATTR {
    auto bits = hn::Mul(hn::Xor(counter, hn::ShiftRight<16>(counter)), hn::Set(words, kMix1));
    bits = hn::Add(hn::Xor(bits, hn::ShiftRight<15>(bits)), hn::Set(words, high));
    bits = hn::Mul(bits, hn::Set(words, kMix2));
    bits = hn::ShiftRight<8>(hn::Xor(bits, hn::ShiftRight<16>(bits)));
    counter = hn::Add(counter, step);
    const auto stays = hn::Gt(hn::BitCast(integers, bits), below);
    return hn::IfThenElseZero(hn::RebindMask(kFloats, stays), hn::Mul(v, by));
  };
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(kept(hn::LoadU(kFloats, x + i)), kFloats, x + i);
  }
  if (i < size) store_tail(kept(load_tail(kFloats, x + i, size - i, 0.0F)), size - i, x + i);
}

}  // namespace lexirow::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lexirow::kernels {
namespace {

HWY_EXPORT(relu_float);
HWY_EXPORT(relu_gradient_float);
HWY_EXPORT(layer_norm_float);
HWY_EXPORT(layer_norm_gradient_float);
HWY_EXPORT(dropout_float);

/// 24 random bits of value `at`: a multiply-xorshift mix of 32 bits (Wellons' lowbias32), with half
/// of the key before each multiplication.
std::uint32_t random_bits(std::uint32_t low, std::uint32_t high, std::uint32_t at) {
  std::uint32_t bits = at * kWeyl + low;
  bits = (bits ^ (bits >> 16)) * kMix1;
  bits = ((bits ^ (bits >> 15)) + high) * kMix2;
  return (bits ^ (bits >> 16)) >> 8;
}

}  // namespace

template <Real T>
void relu(std::int64_t size, const T* x, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(relu_float)(size, x, out);
  } else {
    for (std::int64_t i = 0; i < size; ++i) out[i] = x[i] < 0 ? 0 : x[i];
  }
}

template <Real T>
void relu_gradient(std::int64_t size, const T* x, const T* d_out, T* d_x) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(relu_gradient_float)(size, x, d_out, d_x);
  } else {
    for (std::int64_t i = 0; i < size; ++i) d_x[i] = x[i] > 0 ? d_out[i] : 0;
  }
}

template <Real T>
void layer_norm(std::int64_t rows, std::int64_t width, const T* x, const T* weight, const T* bias,
                T* y, T* mean, T* inverse_deviation) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(layer_norm_float)
    (rows, width, x, weight, bias, y, mean, inverse_deviation);
  } else {
    for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i) sum += x[i];
      mean[row] = sum / static_cast<double>(width);
      double squares = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        squares += (x[i] - mean[row]) * (x[i] - mean[row]);
      }
      inverse_deviation[row] = 1 / std::sqrt(squares / static_cast<double>(width) + kLayerNormEps);
      for (std::int64_t i = 0; i < width; ++i) {
        y[i] = (x[i] - mean[row]) * inverse_deviation[row] * weight[i] + bias[i];
      }
    }
  }
}

template <Real T>
void layer_norm_gradient(std::int64_t rows, std::int64_t width, const T* x, const T* weight,
                         const T* mean, const T* inverse_deviation, const T* d_y, T* d_x,
                         T* d_weight, T* d_bias) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(layer_norm_gradient_float)
    (rows, width, x, weight, mean, inverse_deviation, d_y, d_x, d_weight, d_bias);
  } else {
    for (std::int64_t row = 0; row < rows; ++row, x += width, d_y += width, d_x += width) {
      const auto normed = [&](std::int64_t i) {
        return (x[i] - mean[row]) * inverse_deviation[row];
      };
      double share = 0;
      double slope = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        share += d_y[i] * weight[i];
        slope += d_y[i] * weight[i] * normed(i);
      }
      share /= static_cast<double>(width);
      slope /= static_cast<double>(width);
      for (std::int64_t i = 0; i < width; ++i) {
        d_x[i] += (d_y[i] * weight[i] - share - slope * normed(i)) * inverse_deviation[row];
        d_weight[i] += d_y[i] * normed(i);
        d_bias[i] += d_y[i];
      }
    }
  }
}

template <Real T>
void dropout(std::int64_t size, std::uint64_t key, std::uint32_t threshold, T scale, T* x) {
  const auto low = static_cast<std::uint32_t>(key);
  const auto high = static_cast<std::uint32_t>(key >> 32);
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(dropout_float)(size, low, high, threshold, scale, x);
  } else {
    for (std::int64_t i = 0; i < size; ++i) {
      const bool stays = random_bits(low, high, static_cast<std::uint32_t>(i)) >= threshold;
      x[i] = stays ? x[i] * scale : 0;
    }
  }
}

template void relu<float>(std::int64_t, const float*, float*);
template void relu<double>(std::int64_t, const double*, double*);
template void relu_gradient<float>(std::int64_t, const float*, const float*, float*);
template void relu_gradient<double>(std::int64_t, const double*, const double*, double*);
template void layer_norm<float>(std::int64_t, std::int64_t, const float*, const float*,
                                const float*, float*, float*, float*);
template void layer_norm<double>(std::int64_t, std::int64_t, const double*, const double*,
                                 const double*, double*, double*, double*);
template void layer_norm_gradient<float>(std::int64_t, std::int64_t, const float*, const float*,
                                         const float*, const float*, const float*, float*, float*,
                                         float*);
template void layer_norm_gradient<double>(std::int64_t, std::int64_t, const double*, const double*,
                                          const double*, const double*, const double*, double*,
                                          double*, double*);
template void dropout<float>(std::int64_t, std::uint64_t, std::uint32_t, float, float*);
template void dropout<double>(std::int64_t, std::uint64_t, std::uint32_t, double, double*);

}  // namespace lexirow::kernels
#endif  // HWY_ONCE
