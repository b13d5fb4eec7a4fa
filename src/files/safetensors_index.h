#pragma once

#include <map>
#include <string>

namespace lexirow::files {

/// Which shard holds a tensor: the "weight_map" of a model.safetensors.index.json.
/// Throws Error(io), or Error(file): no JSON, JSON that is nested without end, a tensor that stands
/// twice, a shard that is no plain file name (a path could lead out of the folder).
std::map<std::string, std::string> read_safetensors_index(const std::string& path);

}  // namespace lexirow::files
