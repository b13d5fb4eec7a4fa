#pragma once

#include <type_traits>

namespace lexirow {

/// The two scalar types every layer is instantiated for: float runs, double proves.
template <typename T>
concept Real = std::is_same_v<T, float> || std::is_same_v<T, double>;

}  // namespace lexirow
