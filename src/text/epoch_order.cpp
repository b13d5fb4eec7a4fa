#include <fmt/format.h>

#include "base/random.h"
#include "lexirow/error.h"
#include "text/windows.h"

namespace lexirow::text {

EpochOrder::EpochOrder(std::uint64_t seed, std::int64_t epoch, std::int64_t size)
    : half_bits_(1), size_(size) {
  if (size < 1 || size > (std::int64_t{1} << 62)) {
    throw Error(ErrorKind::argument, fmt::format("epoch order: size {}, expected 1 to 2^62", size));
  }
  base::SplitMix stream(base::mix_bits(seed) ^ static_cast<std::uint64_t>(epoch));
  for (std::uint64_t& key : keys_) key = stream.next();
  while ((std::uint64_t{1} << (2 * half_bits_)) < static_cast<std::uint64_t>(size)) ++half_bits_;
}

std::int64_t EpochOrder::at(std::int64_t i) const {
  if (i < 0 || i >= size_) {
    throw Error(ErrorKind::index, fmt::format("epoch order: asked for place {} of {}", i, size_));
  }
  // A bijection on 2^(2h) >= size numbers, at most four times size; walking along its cycle until a
  // number is in range makes it one on [0, size).
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  auto value = static_cast<std::uint64_t>(i);
  do {
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t mixed = left ^ (base::mix_bits(right ^ key) & mask);
      left = right;
      right = mixed;
    }
    value = (left << half_bits_) | right;
  } while (value >= static_cast<std::uint64_t>(size_));
  return static_cast<std::int64_t>(value);
}

}  // namespace lexirow::text
