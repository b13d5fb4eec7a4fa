#pragma once

#include "measure/case.h"

// The parts of a training step, each alone. Ids follow Zipf's law; sizes are checked by
// measure_case.

namespace lexirow::measure {

/// Rows of N ids, [N, D].
Measurement lookup_case(base::ThreadPool& pool, const CaseSizes& sizes);
/// The plan of N ids and the sums of their gradients by row.
Measurement scatter_add_case(base::ThreadPool& pool, const CaseSizes& sizes);
/// Forward and backward of the mixer over [B, T, D].
Measurement mixer_case(base::ThreadPool& pool, const CaseSizes& sizes);
/// Head, cross-entropy and their gradients of [N, D].
Measurement head_case(base::ThreadPool& pool, const CaseSizes& sizes);
/// One update of a table [V, D], whose N touched rows lie evenly over it.
Measurement optimizer_case(base::ThreadPool& pool, const CaseSizes& sizes);

}  // namespace lexirow::measure
