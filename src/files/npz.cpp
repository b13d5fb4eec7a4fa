#include "files/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/wording.h"
#include "files/pickle.h"
#include "lexirow/error.h"

namespace lexirow::files {

NpzFile::NpzFile(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
  constexpr std::string_view kEnding = ".npy";
  for (ZipEntry& entry : read_zip(file_->bytes(), file_->path())) {
    if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl")) {
      refuse_pickle(file_->path(), PickleKind::torch);
    }
    if (!entry.name.ends_with(kEnding)) continue;
    names_.push_back(entry.name.substr(0, entry.name.size() - kEnding.size()));
    entries_.push_back(std::move(entry));
  }
  if (names_.empty()) {
    throw Error(ErrorKind::file,
                fmt::format("{}: a zip archive without any .npy file in it; of archives, npz is "
                            "read",
                            file_->path()));
  }
}

NpyArray NpzFile::array(const std::string& name, std::shared_ptr<const void>& owner,
                        std::string* refusal) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: no array {}; the archive holds {}", file_->path(), base::shown_name(name),
                    base::shown_name(fmt::format("{}", fmt::join(names_, ", ")))));
  }
  const ZipEntry& entry = entries_[static_cast<std::size_t>(found - names_.begin())];
  const std::string where = fmt::format("{}: {}", file_->path(), base::shown_name(entry.name));
  if (!entry.packed) {
    check_stored(entry, file_->path());
    owner = file_;
    return parse_npy(entry.contents, where, refusal);
  }
  auto unpacked = std::make_shared<std::string>(unpack(entry, file_->path()));
  owner = unpacked;
  return parse_npy(*unpacked, where, refusal);
}

}  // namespace lexirow::files
