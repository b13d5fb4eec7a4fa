#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lexirow::base {

namespace {
constexpr std::int64_t kBlock = 16;
}

TorchStream::TorchStream(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed)) {}

float TorchStream::uniform24() {
  return static_cast<float>(engine_() & 0xFFFFFFU) * 0x1.0p-24F;
}

double TorchStream::uniform53() {
  const std::uint64_t high = engine_();
  const std::uint64_t low = engine_();
  return static_cast<double>(((high << 32) | low) & ((std::uint64_t{1} << 53) - 1)) * 0x1.0p-53;
}

void TorchStream::normal_block(float* block) {
  for (std::int64_t j = 0; j < kBlock / 2; ++j) {
    const float u1 = 1.0F - block[j];
    const float u2 = block[j + kBlock / 2];
    const float radius = std::sqrt(-2.0F * std::log(u1));
    const float angle = 2.0F * std::numbers::pi_v<float> * u2;
    block[j] = radius * std::cos(angle);
    block[j + kBlock / 2] = radius * std::sin(angle);
  }
}

float TorchStream::next_normal() {
  if (has_kept_) {
    has_kept_ = false;
    return static_cast<float>(kept_);
  }
  const double u1 = uniform53();
  const double u2 = uniform53();
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double angle = 2.0 * std::numbers::pi * u1;
  kept_ = radius * std::sin(angle);
  has_kept_ = true;
  return static_cast<float>(radius * std::cos(angle));
}

void TorchStream::fill_normal(View1<float> out) {
  const std::int64_t size = out.size();
  if (size < kBlock) {
    for (float& value : out) value = next_normal();
    return;
  }
  for (float& value : out) value = uniform24();
  std::int64_t i = 0;
  for (; i + kBlock <= size; i += kBlock) normal_block(out.data() + i);
  if (i < size) {
    // The tail is not cut short: the last 16 values are drawn again as one block.
    float* tail = out.data() + size - kBlock;
    for (std::int64_t j = 0; j < kBlock; ++j) tail[j] = uniform24();
    normal_block(tail);
  }
}

void TorchStream::fill_uniform(View1<float> out, float low, float high) {
  for (float& value : out) value = std::fma(uniform24(), high - low, low);
}

double NumpyStream::uniform() {
  const std::uint32_t a = static_cast<std::uint32_t>(engine_()) >> 5;
  const std::uint32_t b = static_cast<std::uint32_t>(engine_()) >> 6;
  return (a * 67108864.0 + b) / 9007199254740992.0;
}

double NumpyStream::normal() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  for (;;) {
    const double x = 2.0 * uniform() - 1.0;
    const double y = 2.0 * uniform() - 1.0;
    const double square = x * x + y * y;
    if (square >= 1.0 || square == 0.0) continue;
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    kept_ = factor * x;
    has_kept_ = true;
    return factor * y;
  }
}

std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

std::uint64_t SplitMix::next() {
  state_ += 0x9E3779B97F4A7C15U;
  return mix_bits(state_);
}

double SplitMix::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

}  // namespace lexirow::base
