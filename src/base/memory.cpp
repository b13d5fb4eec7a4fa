#include "base/memory.h"

#include <cstdlib>
#include <new>

#include "base/system.h"

namespace lexirow::base {
namespace {

constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
// Below this the rest of the last huge page would be a large share, unless there is none.
constexpr std::int64_t kLeastHuge = 2 * kHugePage;

}  // namespace

void* allocate(std::int64_t bytes) {
  const bool huge = bytes >= kLeastHuge || bytes == kHugePage;
  const std::int64_t alignment = huge ? kHugePage : kCacheLine;
  void* memory = nullptr;
  if (posix_memalign(&memory, static_cast<std::size_t>(alignment),
                     static_cast<std::size_t>(bytes)) != 0) {
    throw std::bad_alloc();
  }
  // What lies behind the last whole huge page keeps its small pages.
  if (huge) prefer_huge_pages(memory, bytes);
  return memory;
}

void release(void* memory) {
  std::free(memory);
}

}  // namespace lexirow::base
