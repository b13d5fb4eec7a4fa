#include "generate/utf8_hold.h"

#include <cstdint>

#include "text/utf8.h"

namespace lexirow::generate {

std::string Utf8Hold::push(std::string_view bytes) {
  held_ += bytes;
  const std::size_t finished = text::finished_utf8(held_);
  std::int64_t replaced = 0;
  std::string text = text::repair_utf8(std::string_view(held_).substr(0, finished), replaced);
  held_.erase(0, finished);
  return text;
}

std::string Utf8Hold::finish() {
  std::int64_t replaced = 0;
  std::string text = text::repair_utf8(held_, replaced);
  held_.clear();
  return text;
}

}  // namespace lexirow::generate
