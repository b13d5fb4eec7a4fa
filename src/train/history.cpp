#include "train/history.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace lexirow::train {

namespace {

std::string first_line(const std::string& command) {
  return nlohmann::ordered_json{{"command", command}}.dump(
             -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace

History::History(const std::string& path, const std::string& command) {
  files::write_file_atomically(path, first_line(command));
  file_ = std::make_unique<files::AppendFile>(path);
}

History::History(const std::string& path, const std::string& command, std::int64_t step) {
  std::string kept = first_line(command);
  std::istringstream old(files::exists(path) ? files::read_file(path) : std::string());
  for (std::string line; std::getline(old, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded() || !json.contains("step")) continue;
    // A line that the end of a run added off its own rhythm belongs to that end only.
    if (json.at("step").get<std::int64_t>() > step || json.contains("at_end")) continue;
    kept += line + "\n";
  }
  files::write_file_atomically(path, kept);
  file_ = std::make_unique<files::AppendFile>(path);
}

void History::append(const nlohmann::ordered_json& line) {
  file_->append(line.dump() + "\n");
}

}  // namespace lexirow::train
