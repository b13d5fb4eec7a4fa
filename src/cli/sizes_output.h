#pragma once

#include <string>

#include "cli/output.h"
#include "train/settings.h"
#include "train/sizes.h"

namespace lexirow::cli {

/// Parameters and bytes of a model as `info` and `plan` report them.
void put_sizes(Json& json, const train::Sizes& sizes, const train::Settings& settings);
/// The same for people, in lines.
std::string sizes_text(const train::Sizes& sizes, const train::Settings& settings);

}  // namespace lexirow::cli
