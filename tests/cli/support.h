#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace lexirow::cli_test {

/// What a command left behind.
struct Outcome {
  int code = -1;
  std::string out;
  std::string err;

  /// The one JSON object on standard output.
  nlohmann::ordered_json json() const;
};

/// A folder of its own for the commands of one test, removed with everything in it. `lexirow` is
/// the program that was built.
class Place {
 public:
  Place();
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& contents) const;
  std::string read(const std::string& name) const;

  /// Runs a bash command here.
  Outcome run(const std::string& command) const;

  /// Writes my.txt, a small text of a few sentences over and over.
  void add_text() const;
  /// my.txt, and `model`, trained on it for some steps; extra options may be given.
  void add_model(const std::string& options = "") const;

 private:
  std::filesystem::path folder_;
};

}  // namespace lexirow::cli_test
