#include "train/output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "store/model_folder.h"

namespace lexirow::train {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(std::string path, bool force) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  std::error_code error;
  if (fs::exists(path_, error) && !(fs::is_directory(path_, error) && fs::is_empty(path_, error))) {
    if (!fs::is_directory(path_)) {
      throw Error(
          ErrorKind::file,
          fmt::format("--out {}: a file stands there; name a folder that does not exist yet",
                      path_));
    }
    const bool model = store::is_model_folder(path_);
    if (!force || !model) {
      throw Error(ErrorKind::file,
                  fmt::format("--out {}: the folder exists{}; {}", path_,
                              model ? " and holds a model" : " and holds no Lexirow model",
                              model ? "give --force to replace it, --resume to go on with it, or "
                                      "another name"
                                    : "it is left as it is: give another name"));
    }
    set_aside_ = fmt::format("{}.replaced-{}", path_, getpid());
    fs::rename(path_, set_aside_, error);
    if (error) {
      throw Error(ErrorKind::io, fmt::format("{}: the old model cannot be set aside as {}: {}",
                                             path_, set_aside_, error.message()));
    }
  }
  ours_ = true;
  files::make_folder(path_);
  if (access(path_.c_str(), W_OK) != 0) {
    throw Error(ErrorKind::io,
                fmt::format("--out {}: the folder cannot be written; choose another", path_));
  }
}

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  // Without a model in it, all that stands in the folder are this run's own beginnings.
  if (ours_ && !store::is_model_folder(path_)) fs::remove_all(path_, ignored);
  if (!set_aside_.empty() && !fs::exists(path_, ignored)) fs::rename(set_aside_, path_, ignored);
}

void OutputFolder::saved() {
  std::error_code ignored;
  if (!set_aside_.empty()) fs::remove_all(set_aside_, ignored);
  set_aside_.clear();
}

}  // namespace lexirow::train
