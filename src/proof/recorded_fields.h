#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace lexirow::proof {

/// The fields of one JSON object of a recording. Every error names file, case, field and, in lists,
/// the place, with what stands there and what was expected.
class RecordedFields {
 public:
  /// `object` must outlive this. `where` names it, e.g. `runs.json: case "mean-sgd"`. Throws
  /// Error(file) when it is no object.
  RecordedFields(const nlohmann::json& object, std::string where);

  /// True when the field is there and not null.
  bool has(const std::string& name) const;
  /// The field, which must be there, null or not. Throws Error(file).
  const nlohmann::json& at(const std::string& name);
  RecordedFields object(const std::string& name);

  std::string text(const std::string& name);
  bool boolean(const std::string& name);
  /// A whole number from `least` to `most`.
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most);
  /// A finite number.
  double number(const std::string& name);
  /// `count` finite numbers; `meaning` says what the count is, e.g. "steps".
  std::vector<double> numbers(const std::string& name, std::int64_t count, const char* meaning);
  /// What a whole number in a list may be.
  struct Range {
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::int64_t other = 0;  ///< one more value that is taken
    bool booleans = false;   ///< false and true are taken as 0 and 1
    std::string expected;    ///< all of that in words
  };
  /// A list of any length.
  std::vector<std::int64_t> integers(const std::string& name, const Range& range);
  /// `count` lists of `width`, end to end.
  std::vector<std::int64_t> matrix(const std::string& name, std::int64_t count, std::int64_t width,
                                   const Range& range);

  /// Throws Error(file): this field holds `got`, expected was `expected`.
  [[noreturn]] void refuse(const std::string& name, const std::string& got,
                           const std::string& expected) const;
  /// The same with the value that stands at this place.
  [[noreturn]] void refuse(const std::string& name, const nlohmann::json& got,
                           const std::string& expected) const;
  /// Throws Error(file) about the object as a whole.
  [[noreturn]] void refuse(const std::string& sentence) const;

  /// Fields that nobody asked for.
  std::vector<std::string> unread() const;

 private:
  double finite(const nlohmann::json& value, const std::string& place) const;
  void append_row(const nlohmann::json& row, const std::string& place, const Range& range,
                  std::vector<std::int64_t>& values) const;

  const nlohmann::json& object_;
  std::string where_;
  mutable std::set<std::string> read_;
};

/// The text as JSON. `NaN` and `Infinity`, which Python writes and JSON does not know, become
/// strings, so that the field they stand in can be named. Throws Error(file) naming line and
/// column.
nlohmann::json parse_recorded_json(const std::string& text, const std::string& name);

}  // namespace lexirow::proof
