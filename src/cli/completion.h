#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace lexirow::cli {

/// A bash script that completes verbs, flags, choices and file names, made from the tables.
std::string bash_completion(const std::vector<Verb>& verbs);

}  // namespace lexirow::cli
