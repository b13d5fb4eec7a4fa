#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lexirow::files {

/// True for the name of a temporary file of AtomicFile or SpoolFile, of whatever process.
bool is_temporary_name(std::string_view name);

/// Removes the temporary files of AtomicFile and SpoolFile in a folder (not in those below) whose
/// processes are gone, and returns how many. Those of living processes stay, and so does everything
/// with another name. Throws nothing: what cannot be removed stays.
std::int64_t remove_leftovers(const std::string& folder);

}  // namespace lexirow::files
