#pragma once

#include <string>

#include "experiment/outcome.h"

namespace lexirow::experiment {

/// A table in a box of its own that scrolls where it is too wide or too long. Numbers stand to the
/// right, each with its exact value. A missing value is a dash. Numbers of one column have the same
/// decimals where the column holds `like` things.
std::string table_html(const Table& table, bool like = true);

}  // namespace lexirow::experiment
