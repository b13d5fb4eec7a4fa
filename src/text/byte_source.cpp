#include "text/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lexirow/error.h"
#include "text/corpus.h"
#include "text/in_file.h"

namespace lexirow::text {
namespace {

constexpr std::size_t kPackedBytes = std::size_t{1} << 17;
constexpr int kGzipWindow = 15 + 16;  // the largest window, gzip header

bool is_gzip(const std::vector<char>& bytes, std::size_t begin) {
  return bytes.size() - begin >= 2 && bytes[begin] == '\x1f' && bytes[begin + 1] == '\x8b';
}

}  // namespace

void ByteSource::EndInflate::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

ByteSource::ByteSource(const std::string& path, const std::atomic<bool>* stop)
    : path_(path), stop_(stop) {
  // A named pipe that nobody writes to would hold up the opening itself: wait() is where to wait.
  const int flags = O_RDONLY | O_CLOEXEC | (stop == nullptr ? 0 : O_NONBLOCK);
  descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), flags);
  if (descriptor_ < 0) {
    throw Error(ErrorKind::io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
}

ByteSource::~ByteSource() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

void ByteSource::wait() const {
  const int milliseconds = stop_ == nullptr ? -1 : 100;
  while (stop_ == nullptr || !stop_->load()) {
    pollfd ready{descriptor_, POLLIN, 0};
    const int count = ::poll(&ready, 1, milliseconds);
    // What poll cannot do is for read to tell.
    if (count > 0 || (count < 0 && errno != EINTR)) return;
  }
  throw Stopped();
}

std::size_t ByteSource::read_file(std::span<char> out) {
  for (;;) {
    wait();
    const ssize_t got = ::read(descriptor_, out.data(), out.size());
    if (got >= 0) {
      consumed_ += got;
      return static_cast<std::size_t>(got);
    }
    if (errno == EINTR || errno == EAGAIN) continue;
    throw Error(ErrorKind::io, fmt::format("{}: reading failed at byte {}: {}", path_name(path_),
                                           consumed_, std::strerror(errno)));
  }
}

void ByteSource::fill_packed() {
  packed_.erase(packed_.begin(), packed_.begin() + static_cast<std::ptrdiff_t>(packed_begin_));
  packed_begin_ = 0;
  const std::size_t before = packed_.size();
  packed_.resize(before + kPackedBytes);
  packed_.resize(before + read_file(std::span(packed_).subspan(before)));
}

void ByteSource::start_gzip() {
  gzip_.reset(new z_stream_s{});
  if (inflateInit2(gzip_.get(), kGzipWindow) != Z_OK) refuse_gzip("cannot be unpacked");
}

void ByteSource::refuse_gzip(const char* what) const {
  const auto ahead = static_cast<std::int64_t>(packed_.size() - packed_begin_);
  throw Error(
      ErrorKind::file,
      fmt::format(
          "{}: damaged gzip data near byte {}: {}; fetch or pack the file again, and try gzip -t",
          path_name(path_), consumed_ - ahead, what));
}

std::size_t ByteSource::read(std::span<char> out) {
  if (!decided_) {
    for (std::size_t before = 1; packed_.size() < 2 && before != packed_.size();) {
      before = packed_.size();
      fill_packed();
    }
    decided_ = true;
    if (is_gzip(packed_, 0)) start_gzip();
  }
  if (gzip_) return read_gzip(out);
  std::size_t filled = std::min(out.size(), packed_.size() - packed_begin_);
  std::copy_n(packed_.data() + packed_begin_, filled, out.data());
  packed_begin_ += filled;
  while (filled < out.size()) {
    const std::size_t got = read_file(out.subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

std::size_t ByteSource::read_gzip(std::span<char> out) {
  z_stream_s& stream = *gzip_;
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  while (stream.avail_out > 0 && !gzip_ended_) {
    if (packed_begin_ == packed_.size()) {
      fill_packed();
      if (packed_.empty()) refuse_gzip("it ends too early");
    }
    stream.next_in = reinterpret_cast<Bytef*>(packed_.data() + packed_begin_);
    stream.avail_in = static_cast<uInt>(packed_.size() - packed_begin_);
    const int result = inflate(&stream, Z_NO_FLUSH);
    packed_begin_ = packed_.size() - stream.avail_in;
    if (result == Z_STREAM_END) {
      gzip_ended_ = !next_member();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      refuse_gzip(stream.msg != nullptr ? stream.msg : "it cannot be unpacked");
    }
  }
  return out.size() - stream.avail_out;
}

bool ByteSource::next_member() {
  // gzip pads with zeros to the block of a tape; anything else is another member or damage.
  for (;;) {
    while (packed_begin_ < packed_.size() && packed_[packed_begin_] == 0) ++packed_begin_;
    if (packed_.size() - packed_begin_ >= 2) break;
    const std::size_t before = packed_.size() - packed_begin_;
    fill_packed();
    if (packed_.size() > before) continue;
    if (packed_.empty()) return false;
    break;
  }
  if (!is_gzip(packed_, packed_begin_)) refuse_gzip("something else follows it");
  if (inflateReset(gzip_.get()) != Z_OK) refuse_gzip("it cannot be unpacked");
  return true;
}

}  // namespace lexirow::text
