#pragma once

#include <string>
#include <string_view>

namespace lexirow::generate {

/// Text that comes in pieces of bytes, as tokens are drawn: an unfinished UTF-8 sequence is held
/// back until its bytes are there. Bytes that can become no character come out as U+FFFD, one for
/// each maximal bad subsequence, so that the pieces joined equal the repaired whole.
class Utf8Hold {
 public:
  /// Adds bytes; returns the text that can be shown now.
  std::string push(std::string_view bytes);
  /// What is still held, as U+FFFD; empty if nothing is.
  std::string finish();

 private:
  std::string held_;  // at most 3 bytes
};

}  // namespace lexirow::generate
