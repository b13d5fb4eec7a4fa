#pragma once

#include <cstdint>

namespace lexirow::base {

/// Largest resident set of this process so far.
std::int64_t peak_memory_bytes();
/// What the allocator has handed out to this process and not got back; 0 where it does not tell.
/// Blocks of a thread's own arena, small ones of other threads, are not counted.
std::int64_t allocated_memory_bytes();
/// What the system could still give to a process without swapping.
std::int64_t available_memory_bytes();
/// Asks for huge pages for the whole ones within some memory, so that fewer page faults fill it. A
/// refusal costs nothing.
void prefer_huge_pages(void* memory, std::int64_t bytes);

}  // namespace lexirow::base
