#pragma once

#include <cstdint>
#include <random>

#include "base/view.h"

namespace lexirow::base {

/// PyTorch's CPU stream: MT19937 seeded with the low 32 bits of the seed. Uniform values are exact;
/// normal values agree to 1e-6, since PyTorch's vector code rounds differently.
class TorchStream {
 public:
  explicit TorchStream(std::uint64_t seed);

  /// N(0,1). 16 values or more: Box-Muller on blocks of 16 in float; fewer: pairs in double.
  void fill_normal(View1<float> out);
  /// Uniform in [low, high): each value fma(u, high - low, low), u the low 24 bits of a draw.
  void fill_uniform(View1<float> out, float low, float high);

 private:
  float uniform24();
  double uniform53();
  void normal_block(float* block);
  float next_normal();

  std::mt19937 engine_;
  bool has_kept_ = false;
  double kept_ = 0;
};

/// NumPy's legacy RandomState: 53-bit uniforms, polar Box-Muller with the second value kept.
class NumpyStream {
 public:
  explicit NumpyStream(std::uint32_t seed) : engine_(seed) {}

  double uniform();
  double normal();

 private:
  std::mt19937 engine_;
  bool has_kept_ = false;
  double kept_ = 0;
};

/// A well-mixed 64-bit function of its argument (the finaliser of SplitMix64).
std::uint64_t mix_bits(std::uint64_t value);

/// SplitMix64: one word of state, so it can be saved in a checkpoint. Used where no other tool's
/// stream is to be matched: sampling and shuffling.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Uniform in [0, 1) with 53 bits.
  double uniform();

 private:
  std::uint64_t state_;
};

}  // namespace lexirow::base
