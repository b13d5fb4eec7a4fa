#include "text/json_part.h"

#include <fmt/format.h>

#include "lexirow/error.h"
#include "text/json_text.h"
#include "text/utf8.h"

namespace lexirow::text {

JsonPart::JsonPart(const nlohmann::json& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (!object.is_object()) {
    refuse(fmt::format("found {} where an object should be", shown_json(object)));
  }
}

const nlohmann::json& JsonPart::field(const char* key) const {
  static const nlohmann::json absent;
  const auto found = object_.find(key);
  return found == object_.end() ? absent : *found;
}

std::string JsonPart::type() const {
  const nlohmann::json& value = field("type");
  if (value.is_null()) return "";
  if (!value.is_string()) refuse_field("type", "a text");
  return value.get<std::string>();
}

bool JsonPart::boolean(const char* key, std::optional<bool> fallback) const {
  const nlohmann::json& value = field(key);
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_null() && fallback) return *fallback;
  refuse_field(key, "true or false");
}

std::int64_t JsonPart::integer(const char* key, std::optional<std::int64_t> fallback) const {
  const nlohmann::json& value = field(key);
  constexpr std::int64_t kMost = INT32_MAX;
  if (value.is_number_integer() && value >= -kMost && value <= kMost) {
    return value.get<std::int64_t>();
  }
  if (value.is_null() && fallback) return *fallback;
  refuse_field(key, "a whole number");
}

std::string JsonPart::text(const char* key, const std::optional<std::string>& fallback) const {
  const nlohmann::json& value = field(key);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null() && fallback) return *fallback;
  refuse_field(key, "a text");
}

std::optional<std::string> JsonPart::optional_text(const char* key) const {
  const nlohmann::json& value = field(key);
  if (value.is_null()) return std::nullopt;
  return text(key);
}

char32_t JsonPart::character(const char* key) const {
  const char32_t code = single_code_point(text(key));
  if (code == kCodePoints) refuse_field(key, "one character");
  return code;
}

std::vector<JsonPart> JsonPart::parts(const char* key) const {
  const nlohmann::json& list = field(key);
  if (!list.is_array()) refuse_field(key, "a list");
  std::vector<JsonPart> parts;
  // Behind the name of the file stands a colon, behind that of a part a point.
  const char* const joint = place_.find(": ") == std::string::npos ? ": " : ".";
  for (std::size_t i = 0; i < list.size(); ++i) {
    parts.emplace_back(list[i], fmt::format("{}{}{}[{}]", place_, joint, key, i));
  }
  return parts;
}

void JsonPart::refuse(const std::string& what) const {
  throw Error(ErrorKind::file, place_ + ": " + what);
}

void JsonPart::refuse_type(const char* supported) const {
  refuse(fmt::format("{} is not supported; supported are {}",
                     type().empty() ? shown_json(object_) : "type " + quoted_token(type()),
                     supported));
}

void JsonPart::refuse_field(const char* key, const char* expected) const {
  const nlohmann::json& value = field(key);
  refuse(fmt::format("\"{}\" is {}, expected {}", key,
                     value.is_null() ? "missing" : shown_json(value), expected));
}

}  // namespace lexirow::text
