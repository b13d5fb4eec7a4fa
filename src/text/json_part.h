#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lexirow::text {

/// One object of a tokenizer.json while it is read: typed fields, and errors that name file, part
/// and field.
class JsonPart {
 public:
  /// `place` names file and part, such as "tokenizer.json: pre_tokenizer". Borrows the object.
  /// Throws Error(file) when it is none.
  JsonPart(const nlohmann::json& object, std::string place);

  const nlohmann::json& json() const { return object_; }
  const std::string& place() const { return place_; }
  /// The field "type"; empty without one.
  std::string type() const;
  /// A field, or null.
  const nlohmann::json& field(const char* key) const;
  /// Without `fallback` a missing field is an error.
  bool boolean(const char* key, std::optional<bool> fallback = std::nullopt) const;
  std::int64_t integer(const char* key, std::optional<std::int64_t> fallback = std::nullopt) const;
  std::string text(const char* key,
                   const std::optional<std::string>& fallback = std::nullopt) const;
  /// A text or null.
  std::optional<std::string> optional_text(const char* key) const;
  /// A text of one character.
  char32_t character(const char* key) const;
  /// A list of objects, each with its place.
  std::vector<JsonPart> parts(const char* key) const;

  /// Throws Error(file): place, then `what`.
  [[noreturn]] void refuse(const std::string& what) const;
  /// Throws Error(file): this part has a type that is not supported; `supported` are.
  [[noreturn]] void refuse_type(const char* supported) const;

 private:
  [[noreturn]] void refuse_field(const char* key, const char* expected) const;

  const nlohmann::json& object_;
  std::string place_;
};

}  // namespace lexirow::text
