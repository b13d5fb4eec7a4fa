#pragma once

#include <string>

#include "experiment/outcome.h"

namespace lexirow::experiment {

/// A table in a box of its own that scrolls where it is too wide or too long. Numbers stand to the
/// right, each with its exact value; numbers of one column have the same decimals. A missing value
/// is a dash.
std::string table_html(const Table& table);

}  // namespace lexirow::experiment
