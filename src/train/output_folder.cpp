#include "train/output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "files/leftovers.h"
#include "lexirow/error.h"
#include "store/model_folder.h"

namespace lexirow::train {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLock = "lock";

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string training_of(const std::string& path) {
  return path + "/" + store::kTrainingFolder;
}

bool is_empty_folder(const std::string& path) {
  std::error_code error;
  return fs::is_empty(path, error) && !error;
}

// True where nothing in `folder` has another name than those that `known` takes.
template <typename Known>
bool holds_only(const std::string& folder, Known&& known) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  return !error && std::all_of(fs::begin(at), fs::end(at), [&](const fs::directory_entry& entry) {
    return known(entry.path().filename().string());
  });
}

// What a run that was killed before its first save leaves: no model, and nothing but files that
// training itself writes.
bool is_abandoned(const std::string& path) {
  const std::string training = training_of(path);
  return files::is_folder(training) &&
         holds_only(path,
                    [](const std::string& name) {
                      return name == store::kTrainingFolder || name == store::kHistoryFile ||
                             files::is_temporary_name(name);
                    }) &&
         holds_only(training, [](const std::string& name) {
           return name == kLock || name == store::kStdinFile || files::is_temporary_name(name);
         });
}

[[noreturn]] void refuse(const std::string& path) {
  if (!files::is_folder(path)) {
    throw Error(
        ErrorKind::file,
        fmt::format("--out {}: a file stands there; name a folder that does not exist yet", path));
  }
  const bool model = store::is_model_folder(path);
  throw Error(ErrorKind::file,
              fmt::format("--out {}: the folder exists and holds {}", path,
                          model ? "a model; give --force to replace it, --resume to go on with it, "
                                  "or another name"
                                : "no Lexirow model; it is left as it is: give another name"));
}

}  // namespace

OutputFolder::OutputFolder(std::string path) : path_(without_slashes(std::move(path))) {}

OutputFolder::OutputFolder(std::string path, bool force, const TrainEvents& events)
    : OutputFolder(std::move(path)) {
  const bool fresh = !files::exists(path_) || is_empty_folder(path_);
  const bool abandoned = !fresh && is_abandoned(path_);
  if (!fresh && !abandoned && !(force && store::is_model_folder(path_))) refuse(path_);
  if (!fresh && !abandoned) {
    set_old_model_aside();
    events.notice(
        fmt::format("the old model is kept as {} until this one is finished", set_aside_));
  }
  files::make_folder(path_);
  if (access(path_.c_str(), W_OK) != 0) {
    throw Error(ErrorKind::io,
                fmt::format("--out {}: the folder cannot be written; choose another", path_));
  }
  lock();
  ours_ = true;
  if (!abandoned) return;
  remove_beginnings();
  events.notice("removed what a run had left here that was stopped before its first save");
}

OutputFolder::OutputFolder(std::string path, const TrainEvents& events)
    : OutputFolder(std::move(path)) {
  if (!files::exists(path_ + "/" + store::kStateFile)) {
    throw Error(ErrorKind::file, fmt::format("--resume: {} holds no {}; train first, without "
                                             "--resume",
                                             path_, store::kStateFile));
  }
  lock();
  const std::int64_t removed =
      files::remove_leftovers(path_) + files::remove_leftovers(training_of(path_));
  if (removed > 0) {
    events.notice(fmt::format("removed {} that a killed run had left",
                              base::counted(removed, "temporary file")));
  }
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  // Without a model in it, all that stands in the folder are this run's own beginnings. The lock
  // goes last: behind a process that is killed meanwhile, it tells whose they are.
  const bool unfinished = ours_ && !store::is_model_folder(path_);
  if (unfinished) remove_beginnings();
  lock_.reset();
  if (unfinished) fs::remove(training_of(path_), ignored);
  if (unfinished || !set_aside_.empty()) fs::remove(path_, ignored);  // if it is empty
  if (!set_aside_.empty() && !files::exists(path_)) fs::rename(set_aside_, path_, ignored);
}

void OutputFolder::set_old_model_aside() {
  files::make_folder(training_of(path_));
  lock();  // throws where a run is at work in it
  lock_.reset();
  // A number of this process is not enough: in a container every run may have the same one.
  const std::string name = fmt::format("{}.replaced-{}", path_, getpid());
  set_aside_ = name;
  for (int i = 2; files::exists(set_aside_); ++i) set_aside_ = fmt::format("{}-{}", name, i);
  std::error_code error;
  fs::rename(path_, set_aside_, error);
  if (!error) return;
  const std::string aside = std::exchange(set_aside_, "");
  throw Error(ErrorKind::io, fmt::format("{}: the old model cannot be set aside as {}: {}", path_,
                                         aside, error.message()));
}

void OutputFolder::lock() {
  files::make_folder(training_of(path_));
  lock_ = std::make_unique<files::LockFile>(training_of(path_) + "/" + kLock);
}

void OutputFolder::remove_beginnings() {
  std::error_code ignored;
  for (const std::string& folder : {training_of(path_), path_}) {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const fs::path& path = entry.path();
      if (path.filename() != kLock && path.filename() != store::kTrainingFolder)
        found.push_back(path);
    }
    for (const fs::path& path : found) fs::remove_all(path, ignored);
  }
}

void OutputFolder::interrupted(const TrainEvents& events) {
  if (set_aside_.empty()) return;
  events.notice(
      fmt::format("the old model is still in {}: rename it to take it back, or delete it once this "
                  "one is finished",
                  set_aside_));
  set_aside_.clear();
}

void OutputFolder::saved() {
  std::error_code ignored;
  if (!set_aside_.empty()) fs::remove_all(set_aside_, ignored);
  set_aside_.clear();
}

}  // namespace lexirow::train
