#pragma once

#include "experiment/experiments.h"

namespace lexirow::experiment {

/// What each feature of a joined mixer is worth: models with all of them and with each left out in
/// turn, several seeds of each, scored on the last tenth of the text, which none was trained on.
/// Adds a table, a chart and conditions to `outcome`. A text too short to hold a tenth out is said
/// in the table's title and adds no condition.
void measure_features(const Setting& setting, Outcome& outcome);

}  // namespace lexirow::experiment
