#pragma once

#include <string>
#include <string_view>

namespace lexirow::text {

/// The cuts of tiktoken's encodings, by name: gpt2 (also r50k and p50k), cl100k, o200k; and those
/// of the families that ship their ranks in the same form: llama3, qwen2.
struct KnownSplit {
  const char* name;
  const char* pattern;  ///< in the syntax of tokenizer.json
};

/// The cut of a name. Throws Error(argument) that lists the names.
const KnownSplit& known_split(std::string_view name);

/// True for a regular expression of which is known that it begins a piece at a blank behind visible
/// text, and at a letter behind a single line end, whatever stands around.
bool cuts_at_blanks(std::string_view pattern);

/// True for one that matches digits or the letters of some scripts only, so that a cut at a blank
/// changes none of its matches.
bool ignores_blanks(std::string_view pattern);

}  // namespace lexirow::text
