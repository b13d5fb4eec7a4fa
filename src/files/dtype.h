#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lexirow::files {

/// How a value is stored. Names are those of safetensors; every reader of arrays uses them.
enum class DType {
  f32,
  f64,
  f16,
  bf16,
  f8_e4m3,
  f8_e5m2,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean
};

std::int64_t dtype_bytes(DType dtype);
std::string dtype_name(DType dtype);  ///< F32, BF16, I64 ...
std::optional<DType> find_dtype(std::string_view name);
/// All names with a space before each, for messages.
std::string known_dtypes();
/// A dtype of numbers with a fraction.
bool is_floating(DType dtype);

/// Values as float32: F8, F16, BF16 and integers of up to 16 bits widen exactly, F64 and larger
/// integers round to nearest; BOOL gives 0 and 1. The values may stand at any address.
///   data  [count]  in   little-endian
///   out   [count]  out
void widen(DType dtype, const void* data, std::int64_t count, float* out);

/// What narrowing values to fewer bits cost.
struct NarrowingLoss {
  std::int64_t values = 0;
  std::int64_t changed = 0;      ///< not the same number afterwards
  std::int64_t overflowed = 0;   ///< finite before, infinite afterwards
  std::int64_t underflowed = 0;  ///< not zero before, zero afterwards
  double largest_relative = 0;   ///< error of one that stayed finite and not zero

  NarrowingLoss& operator+=(const NarrowingLoss& other);
};

/// True for the dtypes that narrow() writes: F32, F16, BF16.
bool can_narrow_to(DType dtype);

/// Values as F32, F16 or BF16, rounded to the nearest, ties to even; NaN stays NaN. `loss` grows by
/// what it cost.
///   values  [count]  in
///   out     [count]  out   of that dtype, little-endian
void narrow(DType dtype, const float* values, std::int64_t count, void* out, NarrowingLoss& loss);

/// True for the dtypes of which float32 does not hold every value: F64 and integers of 32 and 64
/// bits.
bool is_wider_than_f32(DType dtype);

/// What it costs to read stored values as float32 and write them as `to`, by the stored numbers.
///   data  [count]  in   little-endian
void add_storing_loss(DType from, const void* data, std::int64_t count, DType to,
                      NarrowingLoss& loss);

/// Copies values of a dtype of integers, a U64 above 2^63 - 1 as what its bits mean in 64 bits with
/// a sign; false when the dtype is none.
///   data  [count]  in
///   out   [count]  out
bool widen_integers(DType dtype, const void* data, std::int64_t count, std::int64_t* out);

/// Number of values of a shape and of bytes; false when they do not fit in 63 bits.
template <typename Shape>
bool tensor_size(const Shape& shape, DType dtype, std::int64_t& count, std::int64_t& bytes) {
  count = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return false;
  }
  return !__builtin_mul_overflow(count, dtype_bytes(dtype), &bytes);
}

}  // namespace lexirow::files
