#pragma once

#include "measure/case.h"

// A whole model of the settings, with weights as drawn and a text of ids that follow Zipf's law.

namespace lexirow::measure {

/// One training step: batch, loss, gradient, update.
Measurement step_case(base::ThreadPool& pool, const CaseSizes& sizes);
/// Reading one token and scoring the next, after `context` tokens were read.
Measurement generate_case(base::ThreadPool& pool, const CaseSizes& sizes);

}  // namespace lexirow::measure
