#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "files/atomic_write.h"

namespace lexirow::train {

/// history.jsonl: the full command, then one line a log step.
class History {
 public:
  /// A new file that begins with the command.
  History(const std::string& path, const std::string& command);
  /// An old file cut back to what an uninterrupted run would have written up to `step`, under the
  /// command of the run that goes on.
  History(const std::string& path, const std::string& command, std::int64_t step);

  void append(const nlohmann::ordered_json& line);

 private:
  std::unique_ptr<files::AppendFile> file_;
};

}  // namespace lexirow::train
