#pragma once

#include <string>

namespace lexirow::files {

/// A file that one process at a time holds. However the process ends, the lock ends with it; the
/// file itself stays behind a process that was killed.
class LockFile {
 public:
  /// Creates the file where needed and takes the lock. Throws Error(io) when another process holds
  /// it or it cannot be written. A file system without locks grants it to everybody.
  explicit LockFile(std::string path);
  /// Removes the file.
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace lexirow::files
