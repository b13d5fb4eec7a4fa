#pragma once

#include <vector>

#include "cli/options.h"
#include "train/settings.h"

namespace lexirow::cli {

/// The options of every verb that takes what `train` takes: one for each setting.
std::vector<Option> setting_options();

/// --config: a file of settings.
Option config_option();

/// Settings stated in --config and then on the command line, so that the latter win. Throws
/// Error(file|io).
train::Given stated_settings(const Arguments& arguments);

}  // namespace lexirow::cli
