#pragma once

#include <cstdint>

namespace lexirow::base {

/// Largest resident set of this process so far.
std::int64_t peak_memory_bytes();
/// Resident set of this process now; 0 where the system does not tell.
std::int64_t current_memory_bytes();
/// What the system could still give to a process without swapping.
std::int64_t available_memory_bytes();

}  // namespace lexirow::base
