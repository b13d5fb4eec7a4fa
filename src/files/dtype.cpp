#include "files/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace lexirow::files {

static_assert(std::endian::native == std::endian::little, "stored values are little-endian");

namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  std::int64_t bytes;
};

constexpr std::array<DTypeRow, 15> kDTypes = {{{DType::f32, "F32", 4},
                                               {DType::f64, "F64", 8},
                                               {DType::f16, "F16", 2},
                                               {DType::bf16, "BF16", 2},
                                               {DType::f8_e4m3, "F8_E4M3", 1},
                                               {DType::f8_e5m2, "F8_E5M2", 1},
                                               {DType::i8, "I8", 1},
                                               {DType::i16, "I16", 2},
                                               {DType::i32, "I32", 4},
                                               {DType::i64, "I64", 8},
                                               {DType::u8, "U8", 1},
                                               {DType::u16, "U16", 2},
                                               {DType::u32, "U32", 4},
                                               {DType::u64, "U64", 8},
                                               {DType::boolean, "BOOL", 1}}};

const DTypeRow& dtype_row(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}

// No branch, so that the compiler makes vector code of a loop: the product moves the exponent from
// one bias to the other, for numbers with and without a leading one.
float half_to_float(std::uint16_t half) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7FFFU) << 13;
  const float moved = std::bit_cast<float>(magnitude) * 0x1.0p112F;
  const std::uint32_t special = magnitude >= (0x7C00U << 13) ? 0x7F800000U : 0;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(moved) | special | sign);
}

float bfloat_to_float(std::uint16_t bfloat) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat) << 16);
}

// Source: Micikevicius et al., "FP8 formats for deep learning", 2022. E5M2 is the upper half of a
// float16; E4M3 has no infinity, and all ones is NaN.
float f8_e5m2_to_float(std::uint8_t value) {
  return half_to_float(static_cast<std::uint16_t>(value << 8));
}

float f8_e4m3_to_float(std::uint8_t value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value & 0x80U) << 24;
  if ((value & 0x7FU) == 0x7FU) return std::numeric_limits<float>::quiet_NaN();
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value & 0x7FU) << 20;
  const float moved = std::bit_cast<float>(magnitude) * 0x1.0p120F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(moved) | sign);
}

// Round to nearest, ties to even: what is added carries into the exponent where it has to, and from
// the largest number into infinity.
std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t size = bits & 0x7FFFFFFFU;
  if (size > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (size >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // 65536 or more
  if (size < 0x38800000U) {  // below 2^-14: multiples of 2^-24
    const float steps = std::nearbyint(std::bit_cast<float>(size) * 0x1.0p24F);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(steps));
  }
  const std::uint32_t rounded = size - 0x38000000U + 0xFFFU + ((size >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

std::uint16_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

// `Wide` holds what was stored and what became of it.
template <typename Wide>
void add_loss(Wide before, Wide after, NarrowingLoss& loss) {
  ++loss.values;
  if (before == after || std::isnan(before)) return;
  ++loss.changed;
  if (std::isinf(after)) {
    ++loss.overflowed;
  } else if (after == 0) {
    ++loss.underflowed;
  } else {
    const double error = static_cast<double>(std::abs((after - before) / before));
    loss.largest_relative = std::max(loss.largest_relative, error);
  }
}

template <typename Narrow, typename Widen>
void narrow_values(const float* values, std::int64_t count, void* out, NarrowingLoss& loss,
                   Narrow narrow_one, Widen widen_one) {
  char* bytes = static_cast<char*>(out);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint16_t stored = narrow_one(values[i]);
    std::memcpy(bytes + i * 2, &stored, sizeof stored);
    add_loss<double>(values[i], widen_one(stored), loss);
  }
}

// Copies values of type `Stored`, which may stand at any address.
template <typename Stored, typename Out, typename Convert>
void convert_values(const void* data, std::int64_t count, Out* out, Convert convert) {
  const char* bytes = static_cast<const char*>(data);
  for (std::int64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, bytes + i * static_cast<std::int64_t>(sizeof value), sizeof value);
    out[i] = convert(value);
  }
}

// Copies a tensor of integers; false when its dtype is none.
template <typename Out>
bool convert_integers(DType dtype, const void* data, std::int64_t count, Out* out) {
  const auto plain = [](auto value) { return static_cast<Out>(value); };
  switch (dtype) {
    case DType::i8:
      convert_values<std::int8_t>(data, count, out, plain);
      return true;
    case DType::i16:
      convert_values<std::int16_t>(data, count, out, plain);
      return true;
    case DType::i32:
      convert_values<std::int32_t>(data, count, out, plain);
      return true;
    case DType::i64:
      convert_values<std::int64_t>(data, count, out, plain);
      return true;
    case DType::u8:
      convert_values<std::uint8_t>(data, count, out, plain);
      return true;
    case DType::u16:
      convert_values<std::uint16_t>(data, count, out, plain);
      return true;
    case DType::u32:
      convert_values<std::uint32_t>(data, count, out, plain);
      return true;
    case DType::u64:
      convert_values<std::uint64_t>(data, count, out, plain);
      return true;
    default:
      return false;
  }
}

// A long double holds every number of these dtypes where it has 64 bits for it, as on x86 and ARM.
static_assert(std::numeric_limits<long double>::digits >= 64);

void exact_values(DType dtype, const void* data, std::int64_t count, long double* out) {
  if (dtype == DType::f64) {
    convert_values<double>(data, count, out, [](double one) { return one; });
  } else {
    convert_integers(dtype, data, count, out);
  }
}

}  // namespace

std::int64_t dtype_bytes(DType dtype) {
  return dtype_row(dtype).bytes;
}

std::string dtype_name(DType dtype) {
  return dtype_row(dtype).name;
}

std::optional<DType> find_dtype(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (name == row.name) return row.dtype;
  }
  return std::nullopt;
}

std::string known_dtypes() {
  std::string known;
  for (const DTypeRow& row : kDTypes) known += fmt::format(" {}", row.name);
  return known;
}

bool is_floating(DType dtype) {
  return dtype_row(dtype).name[0] == 'F' || dtype == DType::bf16;
}

void widen(DType dtype, const void* data, std::int64_t count, float* out) {
  const auto plain = [](auto value) { return static_cast<float>(value); };
  switch (dtype) {
    case DType::f32:
      if (count > 0) std::memcpy(out, data, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case DType::f64:
      return convert_values<double>(data, count, out, plain);
    case DType::f16:
      return convert_values<std::uint16_t>(data, count, out, half_to_float);
    case DType::bf16:
      return convert_values<std::uint16_t>(data, count, out, bfloat_to_float);
    case DType::f8_e4m3:
      return convert_values<std::uint8_t>(data, count, out, f8_e4m3_to_float);
    case DType::f8_e5m2:
      return convert_values<std::uint8_t>(data, count, out, f8_e5m2_to_float);
    case DType::boolean:
      return convert_values<std::uint8_t>(data, count, out,
                                          [](std::uint8_t value) { return value != 0 ? 1.0F : 0; });
    default:
      convert_integers(dtype, data, count, out);
  }
}

NarrowingLoss& NarrowingLoss::operator+=(const NarrowingLoss& other) {
  values += other.values;
  changed += other.changed;
  overflowed += other.overflowed;
  underflowed += other.underflowed;
  largest_relative = std::max(largest_relative, other.largest_relative);
  return *this;
}

bool can_narrow_to(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

void narrow(DType dtype, const float* values, std::int64_t count, void* out, NarrowingLoss& loss) {
  assert(can_narrow_to(dtype));
  if (dtype == DType::f16) {
    narrow_values(values, count, out, loss, float_to_half, half_to_float);
  } else if (dtype == DType::bf16) {
    narrow_values(values, count, out, loss, float_to_bfloat, bfloat_to_float);
  } else {
    if (count > 0) std::memcpy(out, values, static_cast<std::size_t>(count) * sizeof(float));
    loss.values += count;
  }
}

bool is_wider_than_f32(DType dtype) {
  return dtype == DType::f64 || dtype == DType::i32 || dtype == DType::i64 || dtype == DType::u32 ||
         dtype == DType::u64;
}

void add_storing_loss(DType from, const void* data, std::int64_t count, DType to,
                      NarrowingLoss& loss) {
  constexpr std::int64_t kPiece = 256;
  long double stored[kPiece];
  float values[kPiece];
  char narrowed[kPiece * sizeof(float)];
  const char* bytes = static_cast<const char*>(data);
  for (std::int64_t done = 0; done < count; done += kPiece) {
    const std::int64_t piece = std::min(kPiece, count - done);
    exact_values(from, bytes + done * dtype_bytes(from), piece, stored);
    widen(from, bytes + done * dtype_bytes(from), piece, values);
    NarrowingLoss of_float32;  // told by the stored numbers instead
    narrow(to, values, piece, narrowed, of_float32);
    widen(to, narrowed, piece, values);
    for (std::int64_t i = 0; i < piece; ++i) {
      add_loss(stored[i], static_cast<long double>(values[i]), loss);
    }
  }
}

bool widen_integers(DType dtype, const void* data, std::int64_t count, std::int64_t* out) {
  return convert_integers(dtype, data, count, out);
}

}  // namespace lexirow::files
