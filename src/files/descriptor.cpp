#include "files/descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "lexirow/error.h"

namespace lexirow::files {

namespace {

std::string advice(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "; check the permissions or choose another place";
    case EROFS:
      return "; the file system is read-only, choose another place";
    case ENOENT:
      return "; check the spelling and that the folder exists";
    case ENOTDIR:
      return "; a part of the path is a file, not a folder";
    default:
      return "";
  }
}

[[noreturn]] void throw_full_disk(const std::string& path, std::int64_t needed_bytes, int error) {
  struct statvfs disk {};
  std::string free = "an unknown number of";
  if (statvfs(folder_of(path).c_str(), &disk) == 0) {
    free = fmt::format("{}", static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize);
  }
  const char* what = error == EDQUOT ? "the disk quota is used up" : "the disk is full";
  throw Error(ErrorKind::io,
              fmt::format("{}: {}: {} bytes needed, {} bytes free; make room or choose another "
                          "place",
                          path, what, needed_bytes, free));
}

}  // namespace

void throw_io_error(const std::string& path, const std::string& action, int error) {
  throw Error(ErrorKind::io, fmt::format("{}: cannot {}: {}{}", path, action,
                                         std::error_code(error, std::generic_category()).message(),
                                         advice(error)));
}

int open_file(const std::string& path, int flags, const std::string& action) {
  for (;;) {
    const int descriptor = open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EINTR) throw_io_error(path, action, errno);
  }
}

int create_beside(const std::string& prefix, std::string& path) {
  // The process and a counter make the name; a leftover of a dead process may still carry it.
  static std::atomic<std::int64_t> counter{0};
  for (;;) {
    path = fmt::format("{}-{}-{}", prefix, getpid(), counter.fetch_add(1));
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno == EEXIST || errno == EINTR) continue;
    throw_io_error(folder_of(prefix), "write in this folder", errno);
  }
}

void write_all(int descriptor, const std::string& path, const void* data, std::int64_t bytes,
               std::int64_t needed_bytes) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 30;  // one call takes less than 2 GiB
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done =
        ::write(descriptor, next, static_cast<std::size_t>(std::min(bytes, kPiece)));
    if (done < 0) {
      if (errno == EINTR) continue;
      if (errno == ENOSPC || errno == EDQUOT) throw_full_disk(path, needed_bytes, errno);
      throw_io_error(path, "write", errno);
    }
    next += done;
    bytes -= done;
  }
}

void sync_file(int descriptor, const std::string& path) {
  while (fsync(descriptor) != 0) {
    if (errno == EINTR) continue;
    // Pipes and some file systems have nothing to sync.
    if (errno == EINVAL || errno == EROFS) return;
    throw_io_error(path, "flush to the disk", errno);
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace lexirow::files
