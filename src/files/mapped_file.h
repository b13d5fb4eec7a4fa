#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lexirow::files {

/// A regular file, mapped to be read. It keeps what it was even where another file is renamed to
/// its path.
class MappedFile {
 public:
  /// Throws Error(io) when the file cannot be read, or is a folder, a pipe or a device.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const unsigned char* data() const { return data_; }
  /// The same bytes to be changed in memory: a page is copied when it is written, the file stays as
  /// it is. Null where the system sets memory aside for copies of all and has too little.
  unsigned char* writable() const { return writable_ ? data_ : nullptr; }
  std::int64_t size() const { return size_; }
  /// Bytes behind the last one that may be read, all zero: those of the last page.
  std::int64_t readable_behind() const;
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(data_), static_cast<std::size_t>(size_)};
  }

 private:
  std::string path_;
  unsigned char* data_ = nullptr;
  bool writable_ = true;
  std::int64_t size_ = 0;
};

}  // namespace lexirow::files
