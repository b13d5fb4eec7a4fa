#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "files/atomic_write.h"
#include "lexirow/error.h"

namespace lexirow::store {

/// A text as JSON; `name` is how messages call it. Throws Error(file) naming line and column.
///   Json  nlohmann::json or ordered_json
template <typename Json>
Json parse_json(const std::string& text, const std::string& name) {
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    // Its text begins with the library's own code in brackets.
    const std::string what = error.what();
    const std::size_t code = what.find("] ");
    throw Error(ErrorKind::file, name + ": not valid JSON: " +
                                     (code == std::string::npos ? what : what.substr(code + 2)));
  }
}

/// The JSON text of a file. Throws Error(io), or Error(file) naming the file, line and column.
///   Json  nlohmann::json or ordered_json
template <typename Json>
Json read_json_file(const std::string& path) {
  return parse_json<Json>(files::read_file(path), path);
}

/// Writes JSON for people to read, atomically, with a final newline. Throws Error(io), or
/// Error(argument) for a text in it that is not UTF-8.
template <typename Json>
void write_json_file(const std::string& path, const Json& json) {
  std::string text;
  try {
    text = json.dump(2);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::argument, path + ": a text to be written in it is not valid UTF-8");
  }
  files::write_file_atomically(path, text + "\n");
}

}  // namespace lexirow::store
