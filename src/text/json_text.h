#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lexirow::text {

/// Parses a JSON text in which no object may hold a key twice, since one of the two would be lost
/// without a word. Throws Error(file) naming the file, and the key with both values (for a
/// vocabulary: the token and both ids), or line and column of what is no JSON.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// A part of a JSON file for a message, cut to a line.
std::string shown_json(const nlohmann::json& part);

/// A token in quotes for a message, controls made visible.
std::string quoted_token(std::string_view token);

}  // namespace lexirow::text
