#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "text/tokenizer.h"

namespace lexirow::text {

/// The bytes of the tokenizer.json of a tokenizer: to_json() and in its model a
/// field `lexirow`, which other readers pass over, with the number of tokens
/// and a checksum of all the rest.
std::string tokenizer_file_text(const Tokenizer& tokenizer);

/// Where that field is there it must hold: throws Error(file) naming both
/// numbers of tokens, or both checksums. A file without it, which another
/// program wrote, is not judged.
void check_stamp(const nlohmann::json& root, const Tokenizer& tokenizer, const std::string& where);

}  // namespace lexirow::text
