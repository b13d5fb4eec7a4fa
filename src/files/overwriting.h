#pragma once

#include <string>
#include <vector>

namespace lexirow::files {

/// A path as a command names it: "--out lines.npy", "CORPUS my.txt".
struct NamedPath {
  std::string name;  ///< of the option or positional
  std::string path;
};

/// Refuses an output that would destroy an input: the same file under any name (a link, another
/// way to it), a file of a folder that is read, or a folder in which an input lies. What does not
/// exist yet destroys nothing. The projector's x_metadata.tsv goes with x.tsv. "-" and what is
/// neither file nor folder are passed over. Throws Error(argument) naming both.
void refuse_overwriting(const std::vector<NamedPath>& outputs,
                        const std::vector<NamedPath>& inputs);

}  // namespace lexirow::files
