#pragma once

#include <string>

#include "store/table.h"

namespace lexirow::store {

/// Gives a table the tokens of a tokenizer's file or folder. Where its kind is not supported, the
/// spellings of its vocabulary are taken, and a note says so. A plain list, a token a line as in
/// BERT's vocab.txt, serves too.
///   any_size  the list may be longer or shorter than the rows
/// Throws Error(io|file).
void take_tokens(Table& table, const std::string& path, bool any_size = false);

/// The same with what stands in a folder beside the weights; a table without tokens is one too.
void find_tokens(Table& table, const std::string& folder, bool any_size = false);

}  // namespace lexirow::store
