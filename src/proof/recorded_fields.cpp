#include "proof/recorded_fields.h"

#include <fmt/format.h>

#include <cmath>

#include "lexirow/error.h"
#include "store/json_file.h"

namespace lexirow::proof {
namespace {

using nlohmann::json;

/// A value as messages show it: short, ASCII, and without walking into lists.
std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

bool fits_int64(const json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
}

/// The words that Python's json module writes for numbers that JSON does not have.
constexpr const char* kNotNumbers[] = {"-Infinity", "Infinity", "NaN"};

/// The one of them that begins at `i`, or nothing.
std::string not_number_at(const std::string& text, std::size_t i) {
  for (const std::string word : kNotNumbers) {
    if (text.compare(i, word.size(), word) == 0) return word;
  }
  return "";
}

/// Puts those words in quotes where they stand outside of strings.
std::string quote_not_numbers(const std::string& text) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string word = in_string ? "" : not_number_at(text, i);
    if (!word.empty()) {
      out += '"' + word + '"';
      i += word.size() - 1;
      continue;
    }
    if (text[i] == '"') in_string = !in_string;
    out += text[i];
    if (in_string && text[i] == '\\' && i + 1 < text.size()) out += text[++i];
  }
  return out;
}

}  // namespace

RecordedFields::RecordedFields(const json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) {
    refuse(fmt::format("got {}, expected an object of fields", shown(object_)));
  }
}

void RecordedFields::refuse(const std::string& sentence) const {
  throw Error(ErrorKind::file, where_ + ": " + sentence);
}

void RecordedFields::refuse(const std::string& name, const std::string& got,
                            const std::string& expected) const {
  throw Error(ErrorKind::file,
              fmt::format("{}, field {}: got {}, expected {}", where_, name, got, expected));
}

void RecordedFields::refuse(const std::string& name, const json& got,
                            const std::string& expected) const {
  refuse(name, shown(got), expected);
}

bool RecordedFields::has(const std::string& name) const {
  read_.insert(name);
  const auto found = object_.find(name);
  return found != object_.end() && !found->is_null();
}

const json& RecordedFields::at(const std::string& name) {
  read_.insert(name);
  const auto found = object_.find(name);
  if (found == object_.end()) {
    throw Error(ErrorKind::file,
                fmt::format("{}, field {}: is missing; docs/replay.md lists what a recorded run "
                            "holds, and scripts/record_trajectories.py writes it",
                            where_, name));
  }
  return *found;
}

RecordedFields RecordedFields::object(const std::string& name) {
  return {at(name), where_ + ", field " + name};
}

std::string RecordedFields::text(const std::string& name) {
  const json& value = at(name);
  if (!value.is_string()) refuse(name, value, "a text");
  return value.get<std::string>();
}

bool RecordedFields::boolean(const std::string& name) {
  const json& value = at(name);
  if (!value.is_boolean()) refuse(name, value, "true or false");
  return value.get<bool>();
}

std::int64_t RecordedFields::integer(const std::string& name, std::int64_t least,
                                     std::int64_t most) {
  const json& value = at(name);
  if (!fits_int64(value) || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    refuse(name, value, fmt::format("a whole number from {} to {}", least, most));
  }
  return value.get<std::int64_t>();
}

double RecordedFields::finite(const json& value, const std::string& place) const {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    refuse(place, value, "a finite number");
  }
  return value.get<double>();
}

double RecordedFields::number(const std::string& name) {
  return finite(at(name), name);
}

std::vector<double> RecordedFields::numbers(const std::string& name, std::int64_t count,
                                            const char* meaning) {
  const json& list = at(name);
  if (!list.is_array() || static_cast<std::int64_t>(list.size()) != count) {
    refuse(name, list, fmt::format("a list of {} ({})", count, meaning));
  }
  std::vector<double> values;
  for (const json& value : list) {
    values.push_back(finite(value, fmt::format("{}[{}]", name, values.size())));
  }
  return values;
}

void RecordedFields::append_row(const json& row, const std::string& place, const Range& range,
                                std::vector<std::int64_t>& values) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool boolean = range.booleans && row[i].is_boolean();
    const bool whole = boolean || fits_int64(row[i]);
    std::int64_t number = 0;
    if (whole) number = boolean ? std::int64_t{row[i].get<bool>()} : row[i].get<std::int64_t>();
    if (!whole || ((number < range.least || number > range.most) && number != range.other)) {
      refuse(fmt::format("{}[{}]", place, i), row[i], range.expected);
    }
    values.push_back(number);
  }
}

std::vector<std::int64_t> RecordedFields::integers(const std::string& name, const Range& range) {
  const json& list = at(name);
  if (!list.is_array()) refuse(name, list, fmt::format("a list, each {}", range.expected));
  std::vector<std::int64_t> values;
  append_row(list, name, range, values);
  return values;
}

std::vector<std::int64_t> RecordedFields::matrix(const std::string& name, std::int64_t count,
                                                 std::int64_t width, const Range& range) {
  const json& rows = at(name);
  if (!rows.is_array() || static_cast<std::int64_t>(rows.size()) != count) {
    refuse(name, rows, fmt::format("a list of {} rows (batch)", count));
  }
  std::vector<std::int64_t> values;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const std::string place = fmt::format("{}[{}]", name, b);
    if (!rows[b].is_array() || static_cast<std::int64_t>(rows[b].size()) != width) {
      refuse(place, rows[b], fmt::format("a list of {} (length)", width));
    }
    append_row(rows[b], place, range, values);
  }
  return values;
}

std::vector<std::string> RecordedFields::unread() const {
  std::vector<std::string> names;
  for (const auto& item : object_.items()) {
    if (!read_.contains(item.key())) names.push_back(item.key());
  }
  return names;
}

json parse_recorded_json(const std::string& text, const std::string& name) {
  try {
    return store::parse_json<json>(text, name);
  } catch (const Error&) {
    const std::string quoted = quote_not_numbers(text);
    if (quoted.size() == text.size() || !json::accept(quoted)) throw;
    return json::parse(quoted);
  }
}

}  // namespace lexirow::proof
