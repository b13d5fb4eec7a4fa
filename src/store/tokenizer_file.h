#pragma once

#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace lexirow::store {

/// A tokenizer and the file or files that it was read from, for messages.
struct OpenedTokenizer {
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::string source;
};

/// Opens whatever holds a tokenizer: a tokenizer.json; GPT-2's encoder.json or vocab.json with its
/// vocab.bpe or merges.txt (either names both); a tiktoken rank file; or a folder with one of
/// these, looked for in this order. What a file is shows in its contents.
///   split  how text is cut, for a rank file; empty: as its size says
/// Throws Error(io) for what is not there, Error(file) naming what is wrong, Error(argument) for a
/// split that is not known or does not belong to such a file.
OpenedTokenizer open_tokenizer(const std::string& path, const std::string& split = "");

/// True for a tiktoken rank file, or a folder that is opened as one.
bool holds_ranks(const std::string& path);

/// Writes a tokenizer.json, proved (text::proved_tokenizer_json). A file that already holds these
/// bytes is left as it is.
void save_tokenizer(const text::Tokenizer& tokenizer, const std::string& path);

}  // namespace lexirow::store
