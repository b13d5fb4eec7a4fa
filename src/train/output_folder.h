#pragma once

#include <memory>
#include <string>

#include "files/lock_file.h"
#include "train/train.h"

namespace lexirow::train {

/// The place a model is written to, held by one process at a time. An old model is set aside, not
/// deleted, until the new one is complete. What was begun is removed again where no model was
/// saved; where the process was killed, the next run that is given the folder does that.
class OutputFolder {
 public:
  /// Claims `path` for a new model. Throws Error(file) where something stands there already and
  /// `force` is not set, or is no model of Lexirow's; Error(io) where it cannot be written or
  /// another run is at work in it.
  OutputFolder(std::string path, bool force, const TrainEvents& events);
  /// Claims the folder of a model to be resumed; Error(file) where there is none.
  OutputFolder(std::string path, const TrainEvents& events);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& path() const { return path_; }
  /// The run is complete and its model written: the old one may go.
  void saved();
  /// The run was stopped before its end, so the old model may be the better one: it stays where it
  /// was set aside, and that is said.
  void interrupted(const TrainEvents& events);

 private:
  // The others delegate to it, so that the destructor cleans up behind one that throws.
  explicit OutputFolder(std::string path);
  void set_old_model_aside();
  void lock();
  void remove_beginnings();

  std::string path_;
  std::string set_aside_;  // where the old model is kept meanwhile; empty: there was none
  bool ours_ = false;      // everything in the folder was written by this run
  std::unique_ptr<files::LockFile> lock_;
};

}  // namespace lexirow::train
