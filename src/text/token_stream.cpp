#include "text/token_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "lexirow/error.h"

namespace lexirow::text {
namespace {

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

/// Calls `work` with the bytes an id takes as a constant, so that its loops over them unroll.
template <typename Work>
void with_size(int id_bytes, Work&& work) {
  switch (id_bytes) {
    case 1:
      return work(std::integral_constant<int, 1>());
    case 2:
      return work(std::integral_constant<int, 2>());
    default:
      return work(std::integral_constant<int, 4>());
  }
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

int spooled_id_bytes(std::int64_t vocab_size) {
  if (vocab_size <= 256) return 1;
  return vocab_size <= 65536 ? 2 : 4;
}

void pack_ids(std::span<const Id> ids, int id_bytes, std::vector<unsigned char>& packed) {
  packed.resize(ids.size() * static_cast<std::size_t>(id_bytes));
  with_size(id_bytes, [&](auto bytes) {
    unsigned char* next = packed.data();
    for (const Id id : ids) {
      const auto value = static_cast<std::uint32_t>(id);
      for (int i = 0; i < bytes; ++i) *next++ = static_cast<unsigned char>(value >> (8 * i));
    }
  });
}

FileTokenStream::FileTokenStream(std::string path, int id_bytes,
                                 std::vector<std::int64_t> boundaries)
    : path_(std::move(path)), id_bytes_(id_bytes) {
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
  if (status.st_size != size_ * id_bytes_) {
    ::close(descriptor_);
    throw Error(
        ErrorKind::file,
        fmt::format("{}: {} bytes of spooled ids, expected {} for {} tokens; is the disk full?",
                    path_, status.st_size, size_ * id_bytes_, size_));
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
  // The packed ids go to the end of `out` and are unpacked from there to its front: the next one is
  // never overwritten before it is read.
  const std::size_t packed_bytes = out.size() * static_cast<std::size_t>(id_bytes_);
  unsigned char* packed =
      reinterpret_cast<unsigned char*>(out.data()) + (out.size_bytes() - packed_bytes);
  std::size_t filled = 0;
  while (filled < packed_bytes) {
    const auto offset = static_cast<off_t>(begin) * id_bytes_ + static_cast<off_t>(filled);
    const ssize_t got = ::pread(descriptor_, packed + filled, packed_bytes - filled, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ErrorKind::io,
                  fmt::format("{}: reading spooled ids failed at byte {}: {}", path_, offset,
                              got < 0 ? std::strerror(errno) : "the file is shorter than before"));
    }
    filled += static_cast<std::size_t>(got);
  }
  with_size(id_bytes_, [&](auto bytes) {
    for (Id& id : out) {
      std::uint32_t value = 0;
      for (int i = 0; i < bytes; ++i) value |= std::uint32_t{*packed++} << (8 * i);
      id = static_cast<Id>(value);
    }
  });
}

void FileTokenStream::prefetch(std::int64_t begin, std::int64_t count) const {
  // Advice: where the system does not take it, read() waits as it would have without.
  ::posix_fadvise(descriptor_, static_cast<off_t>(begin) * id_bytes_,
                  static_cast<off_t>(count) * id_bytes_, POSIX_FADV_WILLNEED);
}

}  // namespace lexirow::text
