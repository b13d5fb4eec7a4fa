#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lexirow::base {

/// A number of things in a sentence for people: "2 files", "1 file". The noun is one whose plural
/// ends in s.
std::string counted(std::int64_t count, std::string_view noun);

/// A name that a file gives to something, safe to be shown: controls, line ends and bytes that are
/// no UTF-8 as \u001b or \xff.
std::string shown_name(std::string_view name);

/// The text as one word of a shell command, quoted where it has to be.
std::string shell_word(std::string_view text);

}  // namespace lexirow::base
