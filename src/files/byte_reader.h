#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace lexirow::files {

/// Fills a span as far as the bytes go; fewer bytes mean the end. What unpacks gzip gives its bytes
/// through one of these.
using ByteReader = std::function<std::size_t(std::span<char>)>;

/// Bytes with a look ahead.
class BufferedReader {
 public:
  explicit BufferedReader(const ByteReader& read) : read_(read) {}

  /// The next bytes, at least `size` of them where there are as many. Valid until the next call.
  std::string_view peek(std::size_t size) {
    while (buffer_.size() - begin_ < size && !ended_) fill(size);
    return std::string_view(buffer_).substr(begin_);
  }
  void skip(std::size_t size) { begin_ += size; }

  /// The next line without its LF, which is taken too. False at the end. A line of more than `cap`
  /// bytes is given in part, cut there.
  bool line(std::string_view& out, std::size_t cap) {
    std::size_t searched = 0;
    for (;;) {
      const std::string_view ahead = std::string_view(buffer_).substr(begin_);
      const std::size_t end = ahead.find('\n', searched);
      if (end != std::string_view::npos || ended_ || ahead.size() > cap) {
        if (ahead.empty()) return false;
        out = ahead.substr(0, end);
        begin_ += end == std::string_view::npos ? ahead.size() : end + 1;
        return true;
      }
      searched = ahead.size();
      fill(searched + 1);
    }
  }

 private:
  void fill(std::size_t wanted) {
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t before = buffer_.size();
    buffer_.resize(std::max(before + kPiece, wanted));
    const std::size_t got = read_(std::span(buffer_).subspan(before));
    ended_ = got < buffer_.size() - before;
    buffer_.resize(before + got);
  }

  const ByteReader& read_;
  std::string buffer_;
  std::size_t begin_ = 0;
  bool ended_ = false;
};

}  // namespace lexirow::files
