#include "files/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "files/descriptor.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

// The holder before may have removed the file between our opening and our locking of it.
bool still_there(int descriptor, const std::string& path) {
  struct stat ours {};
  struct stat there {};
  return fstat(descriptor, &ours) == 0 && stat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

}  // namespace

LockFile::LockFile(std::string path) : path_(std::move(path)) {
  for (;;) {
    descriptor_ = open_file(path_, O_RDWR | O_CREAT, "write");
    int error = 0;
    while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      error = errno;
      if (error != EINTR) break;
    }
    if (error == EWOULDBLOCK) {
      ::close(descriptor_);
      throw Error(ErrorKind::io,
                  fmt::format("{}: another process is at work here; wait until it has ended, or "
                              "name another folder",
                              path_));
    }
    if (still_there(descriptor_, path_)) return;
    ::close(descriptor_);
  }
}

LockFile::~LockFile() {
  unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace lexirow::files
