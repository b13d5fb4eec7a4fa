#include "files/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "files/descriptor.h"
#include "lexirow/error.h"

namespace lexirow::files {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // A pipe without a writer must not hold up the opening.
  const int descriptor = open_file(path_, O_RDONLY | O_NONBLOCK, "read");
  struct stat status {};
  int error = fstat(descriptor, &status) == 0 ? 0 : errno;
  const bool regular = error == 0 && S_ISREG(status.st_mode);
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  if (regular && status.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    // Of a large file few pages are written if any: no memory is set aside for copies of all.
    void* address =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (address == MAP_FAILED && errno == ENOMEM) {  // systems that set memory aside all the same
      address = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
      writable_ = false;
    }
    if (address == MAP_FAILED) {
      error = errno;
    } else {
      data_ = static_cast<unsigned char*>(address);
      size_ = status.st_size;
    }
  }
  ::close(descriptor);
  if (error != 0) throw_io_error(path_, "read", error);
  if (!regular) {
    throw Error(ErrorKind::io,
                fmt::format("{}: this is a pipe or a device, not a file; it is read at any place "
                            "of it, so write it to a file first",
                            path_));
  }
}

std::int64_t MappedFile::readable_behind() const {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  return (page - size_ % page) % page;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  munmap(data_, static_cast<std::size_t>(size_));
}

}  // namespace lexirow::files
