#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "files/safetensors.h"

namespace lexirow::files {

/// One tensor as the header of a safetensors file states it; offsets count from the first data
/// byte.
struct HeaderEntry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string
      unknown_dtype{};  ///< the text of a dtype that is not read; `dtype` means nothing then
};

struct Header {
  std::vector<HeaderEntry> entries;  ///< in the order of the text
  std::map<std::string, std::string> metadata;
};

/// Reads the JSON text of a header. Only the form of the text is judged here: the fields of each
/// tensor, their types, duplicate names; not what the offsets mean. Nothing recurses, so nesting
/// costs no stack. Throws Error(file); `where` names the file.
Header parse_safetensors_header(std::string_view text, const std::string& where);

}  // namespace lexirow::files
