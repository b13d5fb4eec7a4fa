#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "store/model_folder.h"

namespace lexirow::cli {

/// The row of a token as a user spells it: exactly, or as tables show it (\n, \t, a visible space).
/// Throws Error(file) with close spellings when there is none.
Id find_token(const store::ModelFolder& folder, const std::string& spelling);

/// A row by number. Throws Error(index) outside the vocabulary.
Id checked_row(const store::ModelFolder& folder, std::int64_t number);

/// The values of one row.
base::View1<const float> row_of(const store::ModelFolder& folder, Id id);

/// The numbers between commas that the user gave for `--option`. Throws UsageError.
std::vector<double> parse_vector(const std::string& option, const std::string& text);

}  // namespace lexirow::cli
