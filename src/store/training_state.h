#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/view.h"
#include "rows/ledger.h"

namespace lexirow::store {

/// A float tensor of the training state by name: a parameter, a moment.
struct StateTensor {
  std::string name;
  base::View1<float> values;
};

/// Writes everything that a resumed run needs as one file, FOLDER/training/state.safetensors:
/// killed at any moment it leaves the old state or the new one, whole. `progress` (position in the
/// data, random state, best loss ...) stands in its metadata. Throws Error(io); Error(argument) for
/// a name that stands twice.
///   tensors   in
///   ledger    in   tensors ledger.occurrences, ledger.updates, ledger.last_step
///   progress  in
void save_training_state(const std::string& folder, const std::vector<StateTensor>& tensors,
                         const rows::Ledger& ledger, const nlohmann::json& progress);

/// Reads it back. Nothing is changed unless everything is there. Throws Error(io) without a state,
/// and Error(file) naming a tensor that is missing, has another number of values or was not asked
/// for.
///   tensors   out   filled in place, compared by name and number of values
///   ledger    out   its size on entry is the number of rows expected
///   progress  out
void load_training_state(const std::string& folder, const std::vector<StateTensor>& tensors,
                         rows::Ledger& ledger, nlohmann::json& progress);

/// True when the folder holds a training state.
bool has_training_state(const std::string& folder);

}  // namespace lexirow::store
