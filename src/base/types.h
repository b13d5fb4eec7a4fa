#pragma once

#include <cstdint>

namespace lexirow {

/// A token id: only the number of a row.
using Id = std::int32_t;

/// "No such token", where a special token is not in use.
inline constexpr Id kNoId = -1;

/// A label that takes no part in the loss, as in PyTorch.
inline constexpr Id kIgnoredLabel = -100;

}  // namespace lexirow
