#include "text/string_list.h"

#include <fmt/format.h>

#include <numeric>

#include "lexirow/error.h"

namespace lexirow::text {

StringList::StringList(const std::vector<std::string>& strings) {
  reserve(strings.size(), std::accumulate(strings.begin(), strings.end(), std::size_t{0},
                                          [](std::size_t sum, const std::string& one) {
                                            return sum + one.size();
                                          }));
  for (const std::string& one : strings) push_back(one);
}

void StringList::reserve(std::size_t strings, std::size_t bytes) {
  ends_.reserve(strings);
  bytes_.reserve(bytes);
}

void StringList::push_back(std::string_view text) {
  if (text.size() > UINT32_MAX - bytes_.size()) {
    throw Error(ErrorKind::argument,
                fmt::format("a vocabulary of over {} bytes is too large, expected less than 4 GiB",
                            bytes_.size()));
  }
  bytes_ += text;
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
}

}  // namespace lexirow::text
