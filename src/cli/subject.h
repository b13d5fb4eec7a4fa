#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "store/model_folder.h"
#include "text/tokenizer.h"

namespace lexirow::cli {

/// The positional MODEL, the same in every verb that opens one.
Positional model_positional();

/// A tokenizer.json, or the one in a model folder. Throws Error(io|file).
std::shared_ptr<const text::Tokenizer> load_tokenizer(const std::string& path);

/// Tokens of a text that the user wrote for this model, a prompt or a query. A character that the
/// vocabulary lacks is Error(file): the command was right, the text does not fit. Words that became
/// <unk> and bytes that became U+FFFD are said on standard error, with the words' spellings.
std::vector<text::Piece> pieces_for_model(const text::Tokenizer& tokenizer, const std::string& text,
                                          const std::string& what);
/// The same, ids only.
std::vector<Id> encode_for_model(const text::Tokenizer& tokenizer, const std::string& text,
                                 const std::string& what);

/// Says what an encoding met, each once, where it met anything.
void say_counts(const text::EncodeCounts& counts);

}  // namespace lexirow::cli
