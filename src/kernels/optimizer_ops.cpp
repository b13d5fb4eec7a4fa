// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once for each
// instruction set by including this file again; the rest, under HWY_ONCE, is compiled once.
#include "kernels/optimizer_ops.h"

#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer_ops.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lexirow::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

HWY_INLINE Vector constant(double value) {
  return hn::Set(Tag(), static_cast<float>(value));
}

/// Zero where a moment would soon be a denormal.
HWY_INLINE Vector without_traces(Vector moment) {
  const auto large = hn::Ge(hn::Abs(moment), constant(0x1p-100));
  return hn::IfThenElseZero(large, moment);
}

// An operation moves one vector of values; `first` and `second` are its state, if it has any.
// MulAdd stands where PyTorch's vector code fuses.

struct AdamW {
  AdamW(const AdamWStep& step)
      : keep(constant(1 - step.lr * step.weight_decay)),
        beta1(constant(step.beta1)),
        beta2(constant(step.beta2)),
        rest1(constant(1 - step.beta1)),
        rest2(constant(1 - step.beta2)),
        root_correction2(constant(std::sqrt(step.bias_correction2))),
        eps(constant(step.eps)),
        negative_rate(constant(-(step.lr / step.bias_correction1))) {}

  HWY_INLINE void operator()(Vector gradient, Vector& value, Vector& first, Vector& second) const {
    first = without_traces(hn::MulAdd(gradient, rest1, hn::Mul(first, beta1)));
    second = without_traces(hn::MulAdd(hn::Mul(rest2, gradient), gradient, hn::Mul(second, beta2)));
    const Vector denominator = hn::Add(hn::Div(hn::Sqrt(second), root_correction2), eps);
    value = hn::Add(hn::Mul(value, keep), hn::Div(hn::Mul(negative_rate, first), denominator));
  }

  static constexpr int kStates = 2;
  Vector keep, beta1, beta2, rest1, rest2, root_correction2, eps, negative_rate;
};

struct PlainSgd {
  PlainSgd(double lr, double weight_decay)
      : negative_rate(constant(-lr)), decay(constant(weight_decay)) {}

  HWY_INLINE void operator()(Vector gradient, Vector& value, Vector&, Vector&) const {
    value = hn::MulAdd(hn::MulAdd(value, decay, gradient), negative_rate, value);
  }

  static constexpr int kStates = 0;
  Vector negative_rate, decay;
};

struct MomentumSgd {
  MomentumSgd(double lr, double momentum_factor, double weight_decay)
      : negative_rate(constant(-lr)),
        momentum(constant(momentum_factor)),
        decay(constant(weight_decay)) {}

  HWY_INLINE void operator()(Vector gradient, Vector& value, Vector& first, Vector&) const {
    const Vector decayed = hn::MulAdd(value, decay, gradient);
    first = without_traces(hn::Add(hn::Mul(first, momentum), decayed));
    value = hn::MulAdd(first, negative_rate, value);
  }

  static constexpr int kStates = 1;
  Vector negative_rate, momentum, decay;
};

struct Adagrad {
  Adagrad(double lr, double eps_value, double weight_decay)
      : negative_rate(constant(-lr)), eps(constant(eps_value)), decay(constant(weight_decay)) {}

  HWY_INLINE void operator()(Vector gradient, Vector& value, Vector& first, Vector&) const {
    const Vector decayed = hn::MulAdd(value, decay, gradient);
    first = hn::MulAdd(decayed, decayed, first);
    value = hn::Add(value, hn::Div(hn::Mul(negative_rate, decayed), hn::Add(hn::Sqrt(first), eps)));
  }

  static constexpr int kStates = 1;
  Vector negative_rate, eps, decay;
};

/// Runs an operation over one vector of values in place.
template <class Operation>
HWY_INLINE void move_vector(const Operation& operation, Vector scale, const float* gradient,
                            float* value, float* first, float* second) {
  const Tag d;
  Vector values = hn::LoadU(d, value);
  Vector state1 = hn::Zero(d);
  Vector state2 = hn::Zero(d);
  if constexpr (Operation::kStates >= 1) state1 = hn::LoadU(d, first);
  if constexpr (Operation::kStates >= 2) state2 = hn::LoadU(d, second);
  const Vector gradients =
      gradient == nullptr ? hn::Zero(d) : hn::Mul(hn::LoadU(d, gradient), scale);
  operation(gradients, values, state1, state2);
  hn::StoreU(values, d, value);
  if constexpr (Operation::kStates >= 1) hn::StoreU(state1, d, first);
  if constexpr (Operation::kStates >= 2) hn::StoreU(state2, d, second);
}

/// Runs an operation over all values; the last few go through buffers, so that every value passes
/// through the same instructions.
template <class Operation>
void sweep(std::int64_t size, const Operation& operation, float gradient_scale,
           const float* gradient, float* value, float* first, float* second) {
  const Tag d;
  const Vector scale = hn::Set(d, gradient_scale);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    move_vector(operation, scale, gradient == nullptr ? nullptr : gradient + i, value + i,
                Operation::kStates >= 1 ? first + i : nullptr,
                Operation::kStates >= 2 ? second + i : nullptr);
  }
  if (i == size) return;
  constexpr std::size_t kLanes = hn::MaxLanes(Tag());
  HWY_ALIGN float tail[4][kLanes] = {};
  const std::size_t bytes = static_cast<std::size_t>(size - i) * sizeof(float);
  if (gradient != nullptr) std::memcpy(tail[0], gradient + i, bytes);
  std::memcpy(tail[1], value + i, bytes);
  if (Operation::kStates >= 1) std::memcpy(tail[2], first + i, bytes);
  if (Operation::kStates >= 2) std::memcpy(tail[3], second + i, bytes);
  move_vector(operation, scale, gradient == nullptr ? nullptr : tail[0], tail[1], tail[2], tail[3]);
  std::memcpy(value + i, tail[1], bytes);
  if (Operation::kStates >= 1) std::memcpy(first + i, tail[2], bytes);
  if (Operation::kStates >= 2) std::memcpy(second + i, tail[3], bytes);
}

void adamw_float(std::int64_t size, const AdamWStep& step, float gradient_scale,
                 const float* gradient, float* value, float* moment1, float* moment2) {
  sweep(size, AdamW(step), gradient_scale, gradient, value, moment1, moment2);
}

void sgd_float(std::int64_t size, double lr, double momentum, double weight_decay,
               float gradient_scale, const float* gradient, float* value, float* buffer) {
  if (momentum == 0) {
    sweep(size, PlainSgd(lr, weight_decay), gradient_scale, gradient, value, nullptr, nullptr);
  } else {
    sweep(size, MomentumSgd(lr, momentum, weight_decay), gradient_scale, gradient, value, buffer,
          nullptr);
  }
}

void adagrad_float(std::int64_t size, double lr, double eps, double weight_decay,
                   float gradient_scale, const float* gradient, float* value,
                   float* sum_of_squares) {
  sweep(size, Adagrad(lr, eps, weight_decay), gradient_scale, gradient, value, sum_of_squares,
        nullptr);
}

}  // namespace HWY_NAMESPACE
}  // namespace lexirow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lexirow::kernels {
namespace {

HWY_EXPORT(adamw_float);
HWY_EXPORT(sgd_float);
HWY_EXPORT(adagrad_float);

template <Real T>
T without_traces(T moment) {
  return std::abs(moment) < T(0x1p-100) ? T(0) : moment;
}

template <Real T>
T gradient_at(const T* gradient, T gradient_scale, std::int64_t i) {
  return gradient == nullptr ? T(0) : gradient_scale * gradient[i];
}

/// Sum of squares of the decayed gradient, in double in four running sums.
template <Real T>
double row_sum_of_squares(std::int64_t size, T decay, T gradient_scale, const T* gradient,
                          const T* value) {
  double sums[4] = {};
  for (std::int64_t i = 0; i < size; ++i) {
    const double g = gradient_at(gradient, gradient_scale, i) + decay * value[i];
    sums[i % 4] += g * g;
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

template <>
void adamw<float>(std::int64_t size, const AdamWStep& step, float gradient_scale,
                  const float* gradient, float* value, float* moment1, float* moment2) {
  HWY_DYNAMIC_DISPATCH(adamw_float)(size, step, gradient_scale, gradient, value, moment1, moment2);
}

template <>
void adamw<double>(std::int64_t size, const AdamWStep& step, double gradient_scale,
                   const double* gradient, double* value, double* moment1, double* moment2) {
  const double keep = 1 - step.lr * step.weight_decay;
  const double root_correction2 = std::sqrt(step.bias_correction2);
  const double rate = step.lr / step.bias_correction1;
  for (std::int64_t i = 0; i < size; ++i) {
    const double g = gradient_at(gradient, gradient_scale, i);
    moment1[i] = without_traces(moment1[i] * step.beta1 + (1 - step.beta1) * g);
    moment2[i] = without_traces(moment2[i] * step.beta2 + (1 - step.beta2) * g * g);
    const double denominator = std::sqrt(moment2[i]) / root_correction2 + step.eps;
    value[i] = value[i] * keep - rate * moment1[i] / denominator;
  }
}

template <>
void sgd<float>(std::int64_t size, double lr, double momentum, double weight_decay,
                float gradient_scale, const float* gradient, float* value, float* buffer) {
  HWY_DYNAMIC_DISPATCH(sgd_float)
  (size, lr, momentum, weight_decay, gradient_scale, gradient, value, buffer);
}

template <>
void sgd<double>(std::int64_t size, double lr, double momentum, double weight_decay,
                 double gradient_scale, const double* gradient, double* value, double* buffer) {
  for (std::int64_t i = 0; i < size; ++i) {
    double g = gradient_at(gradient, gradient_scale, i) + weight_decay * value[i];
    if (momentum != 0) {
      g = without_traces(momentum * buffer[i] + g);
      buffer[i] = g;
    }
    value[i] -= lr * g;
  }
}

template <>
void adagrad<float>(std::int64_t size, double lr, double eps, double weight_decay,
                    float gradient_scale, const float* gradient, float* value,
                    float* sum_of_squares) {
  HWY_DYNAMIC_DISPATCH(adagrad_float)
  (size, lr, eps, weight_decay, gradient_scale, gradient, value, sum_of_squares);
}

template <>
void adagrad<double>(std::int64_t size, double lr, double eps, double weight_decay,
                     double gradient_scale, const double* gradient, double* value,
                     double* sum_of_squares) {
  for (std::int64_t i = 0; i < size; ++i) {
    const double g = gradient_at(gradient, gradient_scale, i) + weight_decay * value[i];
    sum_of_squares[i] += g * g;
    value[i] -= lr * g / (std::sqrt(sum_of_squares[i]) + eps);
  }
}

template <Real T>
void adagrad_row(std::int64_t size, double lr, double eps, double weight_decay, T gradient_scale,
                 const T* gradient, T* value, T* sum_of_squares) {
  if (size == 0 || (gradient == nullptr && weight_decay == 0)) return;
  const T decay = static_cast<T>(weight_decay);
  const double squares = row_sum_of_squares(size, decay, gradient_scale, gradient, value);
  *sum_of_squares += static_cast<T>(squares / static_cast<double>(size));
  const T rate = static_cast<T>(lr / (std::sqrt(static_cast<double>(*sum_of_squares)) + eps));
  for (std::int64_t i = 0; i < size; ++i) {
    value[i] -= rate * (gradient_at(gradient, gradient_scale, i) + decay * value[i]);
  }
}

template void adagrad_row<float>(std::int64_t, double, double, double, float, const float*, float*,
                                 float*);
template void adagrad_row<double>(std::int64_t, double, double, double, double, const double*,
                                  double*, double*);

}  // namespace lexirow::kernels
#endif  // HWY_ONCE
