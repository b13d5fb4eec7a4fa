#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace lexirow::testing {

/// Contents packed by zlib: a bare deflate stream, as zip archives hold it, or gzip.
inline std::string packed(std::string_view contents, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY);
  std::string input(contents);
  std::string out(deflateBound(&stream, input.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string deflated(std::string_view contents) {
  return packed(contents, -MAX_WBITS);
}
inline std::string gzipped(std::string_view contents) {
  return packed(contents, MAX_WBITS + 16);
}

}  // namespace lexirow::testing
