#include "base/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

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
#ifdef MADV_HUGEPAGE
  // Whole huge pages only: what lies behind them keeps its small pages. A refusal costs nothing.
  if (huge) {
    madvise(memory, static_cast<std::size_t>(bytes / kHugePage * kHugePage), MADV_HUGEPAGE);
  }
#endif
  return memory;
}

void release(void* memory) {
  std::free(memory);
}

}  // namespace lexirow::base
