#include "files/atomic_write.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "files/descriptor.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

std::string hidden_prefix(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format(".{}{}", whole.filename().string(), kTemporaryMark))
      .string();
}

void sync_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  const int descriptor = open_file(folder, O_RDONLY | O_DIRECTORY, "open this folder");
  try {
    sync_file(descriptor, folder);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
}

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::int64_t expected_bytes)
    : path_(std::move(path)), expected_(expected_bytes) {
  if (is_folder(path_)) throw_io_error(path_, "write", EISDIR);
  descriptor_ = create_beside(hidden_prefix(path_), temporary_);
}

AtomicFile::~AtomicFile() {
  close_descriptor(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::int64_t bytes) {
  if (descriptor_ < 0) {
    throw Error(ErrorKind::argument, fmt::format("{}: write after commit; open it anew", path_));
  }
  written_ += bytes;
  write_all(descriptor_, path_, data, bytes, std::max(expected_, written_));
}

void AtomicFile::replace(std::int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw_io_error(path_, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(done));
    offset += done;
  }
}

void AtomicFile::commit() {
  if (descriptor_ < 0) {
    throw Error(ErrorKind::argument, fmt::format("{}: committed twice; open it anew", path_));
  }
  sync_file(descriptor_, path_);
  // Some file systems tell of a failed write only here.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    throw_io_error(path_, "write", errno);
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw_io_error(path_, "replace", errno);
  }
  temporary_.clear();
  sync_folder(path_);
}

StagedFile::StagedFile(std::string path) {
  if (is_folder(path)) throw_io_error(path, "write", EISDIR);
  std::string temporary;
  ::close(create_beside(hidden_prefix(path), temporary));
  moves_.emplace_back(std::move(temporary), std::move(path));
}

StagedFile::~StagedFile() {
  for (const auto& [from, to] : moves_) unlink(from.c_str());
}

void StagedFile::also(std::string from, std::string to) {
  moves_.emplace_back(std::move(from), std::move(to));
}

void StagedFile::commit() {
  for (const auto& [from, to] : moves_) {
    if (std::rename(from.c_str(), to.c_str()) != 0) throw_io_error(to, "replace", errno);
  }
  sync_folder(moves_.front().second);
  moves_.clear();
}

void write_file_atomically(const std::string& path, std::string_view contents) {
  AtomicFile file(path, static_cast<std::int64_t>(contents.size()));
  file.write(contents);
  file.commit();
}

AppendFile::AppendFile(const std::string& path) : path_(path) {
  descriptor_ = open_file(path, O_WRONLY | O_CREAT | O_APPEND, "append to it");
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) {
    const int error = errno;
    close_descriptor(descriptor_);
    throw_io_error(path, "look at it", error);
  }
  size_ = status.st_size;
}

AppendFile::~AppendFile() {
  close_descriptor(descriptor_);
}

void AppendFile::append(std::string_view text) {
  const std::int64_t bytes = static_cast<std::int64_t>(text.size());
  try {
    write_all(descriptor_, path_, text.data(), bytes, bytes);
  } catch (...) {
    // No half line stays; a device that cannot be cut keeps what it took.
    [[maybe_unused]] const int cut = ftruncate(descriptor_, size_);
    throw;
  }
  size_ += bytes;
}

void AppendFile::cut_to(std::int64_t bytes) {
  if (bytes < 0 || bytes > size_) {
    throw Error(ErrorKind::argument,
                fmt::format("{}: cannot cut to {} bytes; the file has {}", path_, bytes, size_));
  }
  if (ftruncate(descriptor_, bytes) != 0) throw_io_error(path_, "shorten", errno);
  size_ = bytes;
}

std::string read_file(const std::string& path) {
  int descriptor = open_file(path, O_RDONLY, "read");
  std::string contents;
  try {
    std::size_t filled = 0;
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
      contents.resize(static_cast<std::size_t>(status.st_size) + 1);
    }
    for (;;) {
      if (filled == contents.size()) contents.resize(std::max<std::size_t>(4096, 2 * filled));
      const ssize_t done = ::read(descriptor, contents.data() + filled, contents.size() - filled);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) throw_io_error(path, "read", errno);
      if (done == 0) break;
      filled += static_cast<std::size_t>(done);
    }
    contents.resize(filled);
  } catch (...) {
    close_descriptor(descriptor);
    throw;
  }
  close_descriptor(descriptor);
  return contents;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  // A trailing slash makes create_directories report failure for a folder that is there.
  if (is_folder(path)) return;
  throw_io_error(path, "create this folder", error ? error.value() : ENOTDIR);
}

SpoolFile::SpoolFile(const std::string& near_path) {
  descriptor_ = create_beside(near_path + kSpoolMark, path_);
}

SpoolFile::~SpoolFile() {
  if (descriptor_ < 0) return;
  close_descriptor(descriptor_);
  unlink(path_.c_str());
}

void SpoolFile::write(const void* data, std::int64_t bytes) {
  written_ += bytes;
  write_all(descriptor_, path_, data, bytes, written_);
}

void SpoolFile::close() {
  if (descriptor_ < 0) return;
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    throw_io_error(path_, "write", errno);
  }
}

}  // namespace lexirow::files
