#include "files/leftovers.h"

#include <signal.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "files/descriptor.h"

namespace lexirow::files {

namespace {

namespace fs = std::filesystem;

// Takes "-" and a number from the end of `name`.
std::optional<std::int64_t> take_number(std::string_view& name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || number < 0) return std::nullopt;
  name.remove_suffix(name.size() - dash);
  return number;
}

// The process in the name of a temporary file.
std::optional<std::int64_t> process_of(std::string_view name) {
  const bool hidden = name.starts_with('.');
  if (!take_number(name)) return std::nullopt;
  const std::optional<std::int64_t> process = take_number(name);
  const bool ours = (hidden && name.ends_with(kTemporaryMark)) || name.ends_with(kSpoolMark);
  return ours ? process : std::nullopt;
}

bool is_gone(std::int64_t process) {
  const auto pid = static_cast<pid_t>(process);
  return pid > 0 && pid == process && kill(pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

bool is_temporary_name(std::string_view name) {
  return process_of(name).has_value();
}

std::int64_t remove_leftovers(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::optional<std::int64_t> process = process_of(at->path().filename().string());
    std::error_code ignored;
    if (process && is_gone(*process) &&
        at->symlink_status(ignored).type() == fs::file_type::regular)
      found.push_back(at->path());
  }
  std::int64_t removed = 0;
  for (const fs::path& path : found) removed += fs::remove(path, error) ? 1 : 0;
  return removed;
}

}  // namespace lexirow::files
