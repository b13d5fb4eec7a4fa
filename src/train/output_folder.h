#pragma once

#include <string>

namespace lexirow::train {

/// The place a model is written to. An old model is set aside, not deleted, until the new one has
/// been saved; a folder that no model was saved in is removed again.
class OutputFolder {
 public:
  /// Claims `path` for a new model. Throws Error(file) where something stands there already and
  /// `force` is not set, or is no model of Lexirow's; Error(io) where it cannot be written.
  OutputFolder(std::string path, bool force);
  /// Claims the folder of a model to be resumed.
  explicit OutputFolder(std::string path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Where the old model is kept meanwhile; empty: there was none.
  const std::string& set_aside() const { return set_aside_; }
  /// A whole model has been written: the old one may go.
  void saved();

 private:
  std::string path_;
  std::string set_aside_;
  bool ours_ = false;
};

}  // namespace lexirow::train
