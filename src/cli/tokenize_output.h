#pragma once

#include <string>

#include "text/tokenizer.h"

namespace lexirow::cli {

/// `tokenize`: ids in one line, written as they come, so that a reader may stop early.
void print_ids(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
               const std::string& text, text::EncodeCounts& counts);

/// `tokenize --pieces`: a line for each piece with its bytes and place. The text is encoded twice,
/// for the widths of the columns and for the lines, so that no piece is held.
void print_pieces(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                  const std::string& text, text::EncodeCounts& counts);

/// `tokenize --json`: ids and pieces as one object, written as they come. A text that cannot be
/// encoded is refused before anything is printed.
void print_pieces_json(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                       const std::string& text, text::EncodeCounts& counts);

}  // namespace lexirow::cli
