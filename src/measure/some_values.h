#pragma once

#include <cstdint>

#include "base/array.h"
#include "base/real.h"

namespace lexirow::measure {

/// Values between -0.5 and 0.5 for what is timed: none zero or denormal, no two neighbours equal.
template <Real T>
base::Array<T> some_values(std::int64_t size) {
  base::Array<T> values;
  values.resize(size);
  for (std::int64_t i = 0; i < size; ++i) {
    values[i] = static_cast<T>((i * 7919 + 13) % 2003) / T{2003} - T{0.5};
  }
  return values;
}

}  // namespace lexirow::measure
