#pragma once

#include <string>
#include <vector>

#include "files/safetensors.h"
#include "rows/ledger.h"

namespace lexirow::store {

/// The ledger as int64 tensors [V] named prefix + occurrences, updates, last_step; they borrow its
/// values. Throws Error(shape) when the three differ in length.
std::vector<files::TensorSource> ledger_tensors(const rows::Ledger& ledger,
                                                const std::string& prefix);

/// Reads them back. Throws Error(file) naming a tensor that is missing or has another shape.
rows::Ledger read_ledger(const files::SafetensorsFile& file, const std::string& prefix,
                         std::int64_t vocab_size);

}  // namespace lexirow::store
