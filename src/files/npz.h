#pragma once

#include <memory>
#include <string>
#include <vector>

#include "files/mapped_file.h"
#include "files/npy.h"
#include "files/zip_archive.h"

namespace lexirow::files {

/// NumPy's archive of arrays: a zip file of npy files, packed or not. Arrays that are not packed
/// stay where they are in the mapped file.
class NpzFile {
 public:
  /// Throws Error(file): a damaged archive (read_zip), or one that holds a pickle, as PyTorch
  /// writes, with the command that converts it.
  explicit NpzFile(std::shared_ptr<const MappedFile> file);

  /// Names of the arrays, without .npy, in the order of the archive.
  const std::vector<std::string>& names() const { return names_; }

  /// One array; `owner` receives what keeps its values alive. Throws Error(file) for a name that is
  /// not there (naming those that are), or an array that cannot be read.
  ///   refusal  as parse_npy
  NpyArray array(const std::string& name, std::shared_ptr<const void>& owner,
                 std::string* refusal = nullptr) const;

 private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipEntry> entries_;
  std::vector<std::string> names_;
};

}  // namespace lexirow::files
