#pragma once

#include <string>

#include "lexirow/error.h"

namespace lexirow::text {

/// A path as messages call it.
inline std::string path_name(const std::string& path) {
  return path == "-" ? "stdin" : path;
}

/// Runs `work`; its errors name the file. What the text cannot be read as is a fault of the file,
/// not of the arguments.
template <typename Work>
void in_file(const std::string& path, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    const bool contents = error.kind() == ErrorKind::argument;
    throw Error(contents ? ErrorKind::file : error.kind(), path_name(path) + ": " + error.what());
  }
}

}  // namespace lexirow::text
