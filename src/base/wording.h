#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lexirow::base {

/// A number of things in a sentence for people: "2 files", "1 file". The noun is one whose plural
/// ends in s.
std::string counted(std::int64_t count, std::string_view noun);

/// The text as one word of a shell command, quoted where it has to be.
std::string shell_word(std::string_view text);

}  // namespace lexirow::base
