#include "text/token_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "lexirow/error.h"

namespace lexirow::text {
namespace {

static_assert(sizeof(Id) == 4);

void check_range(std::int64_t begin, std::size_t count, std::int64_t size) {
  const auto wanted = static_cast<std::int64_t>(count);
  if (begin >= 0 && begin <= size && wanted <= size - begin) return;
  throw Error(ErrorKind::index, fmt::format("token stream: asked for tokens {} to {}, it has {}",
                                            begin, begin + wanted, size));
}

void check_boundaries(const std::vector<std::int64_t>& boundaries, std::int64_t size) {
  const bool fit = !boundaries.empty() && boundaries.front() == 0 && boundaries.back() == size &&
                   std::is_sorted(boundaries.begin(), boundaries.end());
  if (fit) return;
  throw Error(
      ErrorKind::shape,
      fmt::format(
          "token stream: {} boundaries do not divide {} tokens (expected rising, first 0, last {})",
          boundaries.size(), size, size));
}

}  // namespace

MemoryTokenStream::MemoryTokenStream(std::vector<Id> ids, std::vector<std::int64_t> boundaries)
    : ids_(std::move(ids)) {
  boundaries_ = std::move(boundaries);
  check_boundaries(boundaries_, size());
}

void MemoryTokenStream::read(std::int64_t begin, std::span<Id> out) const {
  check_range(begin, out.size(), size());
  std::copy_n(ids_.begin() + begin, out.size(), out.begin());
}

FileTokenStream::FileTokenStream(std::string path, std::vector<std::int64_t> boundaries)
    : path_(std::move(path)) {
  boundaries_ = std::move(boundaries);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int reason = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(ErrorKind::io,
                fmt::format("{}: spooled ids cannot be opened: {}", path_, std::strerror(reason)));
  }
  size_ = boundaries_.empty() ? 0 : boundaries_.back();
  if (status.st_size != size_ * static_cast<std::int64_t>(sizeof(Id))) {
    ::close(descriptor_);
    throw Error(
        ErrorKind::file,
        fmt::format("{}: {} bytes of spooled ids, expected {} for {} tokens; is the disk full?",
                    path_, status.st_size, size_ * 4, size_));
  }
  try {
    check_boundaries(boundaries_, size_);
  } catch (const Error&) {
    ::close(descriptor_);
    throw;
  }
}

FileTokenStream::~FileTokenStream() {
  ::close(descriptor_);
  ::unlink(path_.c_str());
}

void FileTokenStream::read(std::int64_t begin, std::span<Id> out) const {
  check_range(begin, out.size(), size_);
  auto* bytes = reinterpret_cast<char*>(out.data());
  std::size_t left = out.size_bytes();
  auto offset = static_cast<off_t>(begin) * static_cast<off_t>(sizeof(Id));
  while (left > 0) {
    const ssize_t got = ::pread(descriptor_, bytes, left, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ErrorKind::io,
                  fmt::format("{}: reading spooled ids failed at byte {}: {}", path_, offset,
                              got < 0 ? std::strerror(errno) : "the file is shorter than before"));
    }
    bytes += got;
    left -= static_cast<std::size_t>(got);
    offset += got;
  }
  if constexpr (std::endian::native == std::endian::big) {
    for (Id& id : out) id = static_cast<Id>(__builtin_bswap32(static_cast<std::uint32_t>(id)));
  }
}

}  // namespace lexirow::text
