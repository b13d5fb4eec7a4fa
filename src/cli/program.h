#pragma once

namespace lexirow::cli {

enum ExitCode { kDone = 0, kFailed = 1, kMisused = 2, kInterrupted = 3 };

/// Finds the verb, parses, runs it, and turns every error into one sentence on standard error and
/// an exit code.
int run_program(int argc, char** argv);

}  // namespace lexirow::cli
