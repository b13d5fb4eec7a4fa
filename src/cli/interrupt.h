#pragma once

#include <atomic>

namespace lexirow::cli {

/// From now on the first SIGINT or SIGTERM sets the flag; a second one ends the program at once.
const std::atomic<bool>& stop_on_interrupt();

}  // namespace lexirow::cli
