#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct z_stream_s;

namespace lexirow::text {

/// The bytes of a file ("-": stdin), unpacked when they are gzip by content, several members behind
/// one another included.
class ByteSource {
 public:
  /// Throws Error(io) when the file cannot be opened. `stop` ends a reading, also one that waits
  /// for a pipe, with Stopped; null: nothing does.
  explicit ByteSource(const std::string& path, const std::atomic<bool>* stop = nullptr);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills `out` as far as the file goes; fewer bytes mean the end. Throws Error(io) when reading
  /// fails, Error(file) for damaged gzip, Stopped.
  std::size_t read(std::span<char> out);

 private:
  struct EndInflate {
    void operator()(z_stream_s* stream) const;
  };

  /// Returns once there is something to read.
  void wait() const;
  /// Bytes of the file itself, as many as one read gives; 0 at the end.
  std::size_t read_file(std::span<char> out);
  void fill_packed();
  void start_gzip();
  std::size_t read_gzip(std::span<char> out);
  /// Behind a member: true when another one follows.
  bool next_member();
  [[noreturn]] void refuse_gzip(const char* what) const;

  std::string path_;
  const std::atomic<bool>* stop_;
  int descriptor_ = -1;
  bool decided_ = false;       // gzip or not
  std::int64_t consumed_ = 0;  // bytes of the file read
  std::vector<char> packed_;   // what was read ahead: the first bytes, then packed input
  std::size_t packed_begin_ = 0;
  std::unique_ptr<z_stream_s, EndInflate> gzip_;
  bool gzip_ended_ = false;
};

}  // namespace lexirow::text
