#pragma once

#include <cstdint>

namespace lexirow::base {

/// Uninitialised memory aligned to 64 bytes. From 4 MiB on, and of 2 MiB, it begins at a huge page
/// and huge pages are asked for (where the system has them): random rows of a large table then miss
/// the translation cache less, and fewer page faults fill it. Throws std::bad_alloc.
void* allocate(std::int64_t bytes);

/// Gives memory of `allocate` back; null is nothing.
void release(void* memory);

}  // namespace lexirow::base
