#include "files/overwriting.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "files/projector.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

namespace fs = std::filesystem;

/// What makes two names one file.
struct Place {
  dev_t device = 0;
  ino_t number = 0;
  bool folder = false;

  bool operator==(const Place& other) const {
    return device == other.device && number == other.number;
  }
};

std::optional<Place> place_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || path == "-" || stat(path.c_str(), &status) != 0) return std::nullopt;
  const bool folder = S_ISDIR(status.st_mode);
  if (!folder && !S_ISREG(status.st_mode)) return std::nullopt;  // pipes and devices keep nothing
  return Place{status.st_dev, status.st_ino, folder};
}

// The file of a folder, at any depth, that is at this place.
std::optional<std::string> file_in(const std::string& folder, const Place& wanted) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string path = at->path().string();
    const auto place = place_of(path);
    if (place && !place->folder && *place == wanted) return path;
  }
  return std::nullopt;
}

// Whether a file or folder lies in a folder, by their true names.
bool lies_in(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path inner = fs::canonical(path, error);
  const fs::path outer = error ? fs::path() : fs::canonical(folder, error);
  return !error &&
         std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

std::vector<NamedPath> with_labels(const std::vector<NamedPath>& paths) {
  std::vector<NamedPath> all = paths;
  for (const NamedPath& one : paths) {
    if (one.path.ends_with(".tsv")) all.push_back({one.name, metadata_path(one.path)});
  }
  return all;
}

void refuse_pair(const NamedPath& output, const NamedPath& input) {
  const auto out = place_of(output.path);
  const auto in = place_of(input.path);
  if (!out || !in) return;
  std::string relation;
  if (*out == *in) {
    relation = "is";
  } else if (out->folder && lies_in(input.path, output.path)) {
    relation = "is the folder of";
  } else if (!out->folder && in->folder && file_in(input.path, *out)) {
    relation = "is a file of";
  } else {
    return;
  }
  throw Error(ErrorKind::argument,
              fmt::format("{} {} {} {} {}, which is read: what is written would destroy it; name "
                          "another place",
                          output.name, output.path, relation, input.name, input.path));
}

}  // namespace

void refuse_overwriting(const std::vector<NamedPath>& outputs,
                        const std::vector<NamedPath>& inputs) {
  const std::vector<NamedPath> read = with_labels(inputs);
  for (const NamedPath& output : with_labels(outputs)) {
    for (const NamedPath& input : read) refuse_pair(output, input);
  }
}

}  // namespace lexirow::files
