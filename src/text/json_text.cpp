#include "text/json_text.h"

#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "lexirow/error.h"
#include "text/tokenizer.h"

namespace lexirow::text {
namespace {

using nlohmann::json;

/// Looks at the keys of every object while it is parsed.
class KeyWatch {
 public:
  explicit KeyWatch(const std::string& where) : where_(where) {}

  bool operator()(int, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
        open();
        break;
      case json::parse_event_t::array_start:
        note_value(json::array());
        deeper();
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        levels_.pop_back();
        break;
      case json::parse_event_t::key:
        levels_.back().key = parsed.get<std::string>();
        break;
      case json::parse_event_t::value:
        note_value(parsed);
        break;
    }
    return true;
  }

 private:
  static constexpr std::size_t kDeepest = 128;  // as Hugging Face's reader
  struct Level {
    bool object = false;
    std::string key;
    std::unordered_map<std::string, json> values;
  };

  void open() {
    note_value(json::object());
    deeper();
    levels_.back().object = true;
  }

  // What reads the parts recurses, and a file from anywhere must not exhaust the stack.
  void deeper() {
    levels_.emplace_back();
    if (levels_.size() <= kDeepest) return;
    throw Error(ErrorKind::file,
                fmt::format("{}: more than {} objects and lists inside one another; this is no "
                            "tokenizer",
                            where_, kDeepest));
  }

  void note_value(const json& value) {
    if (levels_.empty() || !levels_.back().object) return;
    Level& level = levels_.back();
    const auto [found, fresh] = level.values.try_emplace(level.key);
    if (fresh) {
      found->second = value;
      return;
    }
    throw Error(
        ErrorKind::file,
        fmt::format("{}: \"{}\" stands twice in one object, with {} and with {}; keep one of them",
                    where_, display_text(level.key, true), shown_json(found->second),
                    shown_json(value)));
  }

  const std::string& where_;
  std::vector<Level> levels_;
};

}  // namespace

json parse_json(std::string_view text, const std::string& where) {
  try {
    return json::parse(text, KeyWatch(where));
  } catch (const json::exception& error) {
    // Its text begins with the library's own code in brackets.
    const std::string what = error.what();
    const std::size_t code = what.find("] ");
    throw Error(ErrorKind::file, where + ": not valid JSON: " +
                                     (code == std::string::npos ? what : what.substr(code + 2)));
  }
}

std::string shown_json(const json& part) {
  std::string text = part.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

std::string quoted_token(std::string_view token) {
  return fmt::format("\"{}\"", display_text(token, true));
}

}  // namespace lexirow::text
