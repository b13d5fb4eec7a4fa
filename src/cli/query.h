#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "store/table.h"

namespace lexirow::cli {

/// The row of a token as a user spells it: exactly; as tables show it (\n, \t, visible spaces);
/// with escapes (\x0a, \u00a0, \U0001f600); or in the byte letters of tokenizer files (U+0120 for a
/// space). Throws Error(file) with close spellings when there is none.
Id find_token(const store::Table& table, const std::string& spelling);

/// A row by number. Throws Error(index) outside the table.
Id checked_row(const store::Table& table, std::int64_t number);

/// How people see a row: its token, or its number alone.
std::string row_title(const store::Table& table, Id id);

/// A vector that a user asked for, how it is called, and the rows it is made of.
struct Subject {
  std::string label;
  std::string title;
  std::vector<Id> rows;
  std::vector<float> vector;
};

Subject row_subject(const store::Table& table, Id id, const std::string& label);
/// A token's row; of a fastText model also a word without a row, from its n-grams (said on standard
/// error). Throws as find_token.
Subject token_subject(const store::Table& table, const std::string& spelling);
/// The mean of a text's rows. A table without a tokenizer cuts the text at white space. Throws
/// UsageError for an empty text, Error(file) for an unknown word.
Subject text_subject(const store::Table& table, const std::string& text);

/// The numbers between commas that the user gave for `--option`. Throws UsageError.
std::vector<double> parse_vector(const std::string& option, const std::string& text);

}  // namespace lexirow::cli
