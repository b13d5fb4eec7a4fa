#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lexirow::files {

/// Writes a file beside its final place, syncs it, then renames it: a reader sees the old file or
/// the new one, whole. Destroyed without commit(), it removes the temporary file.
class AtomicFile {
 public:
  /// `expected_bytes` is the final size where known: it is what a full disk is told to lack.
  /// Throws Error(io) naming the folder when it cannot be written.
  explicit AtomicFile(std::string path, std::int64_t expected_bytes = 0);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws Error(io); a full disk is told with the bytes needed and free.
  void write(const void* data, std::int64_t bytes);
  void write(std::string_view text) { write(text.data(), static_cast<std::int64_t>(text.size())); }
  /// Replaces bytes that were written before, such as a header whose numbers are known at the end.
  /// Throws Error(io).
  void replace(std::int64_t offset, std::string_view bytes);
  /// Syncs file and folder and renames. Throws Error(io).
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::int64_t written_ = 0;
  std::int64_t expected_ = 0;
};

/// A file that is written under another name beside its place, to be read back and proved before it
/// takes that place. Destroyed without commit(), it removes what was written.
class StagedFile {
 public:
  /// Throws Error(io) naming the folder when it cannot be written.
  explicit StagedFile(std::string path);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// Where it is to be written.
  const std::string& path() const { return moves_.front().first; }
  /// Another file, already written, that goes to its place (or away) with this one.
  void also(std::string from, std::string to);
  /// Renames all. Throws Error(io).
  void commit();

 private:
  std::vector<std::pair<std::string, std::string>> moves_;  // from, to
};

/// Throws Error(io).
void write_file_atomically(const std::string& path, std::string_view contents);

/// Appends whole lines to a log, created when missing; cut_to() shortens it.
class AppendFile {
 public:
  /// Throws Error(io) naming the file.
  explicit AppendFile(const std::string& path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  /// Appends all of `text` or, where the disk refuses, nothing. Throws Error(io).
  void append(std::string_view text);
  std::int64_t size() const { return size_; }
  /// Throws Error(argument) when the file is shorter than that, Error(io) when it cannot be cut.
  void cut_to(std::int64_t bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// The contents of a file. Throws Error(io) naming it.
std::string read_file(const std::string& path);
bool exists(const std::string& path);
bool is_folder(const std::string& path);
/// Creates a folder and its parents. Throws Error(io).
void make_folder(const std::string& path);

/// A new temporary file for raw ids beside `near_path`; its path is returned by path(). Destroyed
/// without close(), it removes the file.
class SpoolFile {
 public:
  /// Throws Error(io) naming the folder when it cannot be written.
  explicit SpoolFile(const std::string& near_path);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;
  /// Throws Error(io); a full disk is told with the bytes needed so far and free.
  void write(const void* data, std::int64_t bytes);
  /// Ends the writing; the file stays. Throws Error(io).
  void close();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t written_ = 0;
};

}  // namespace lexirow::files
