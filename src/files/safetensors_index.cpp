#include "files/safetensors_index.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"

namespace lexirow::files {

std::map<std::string, std::string> read_safetensors_index(const std::string& path) {
  constexpr int kDeepest = 8;
  using Json = nlohmann::json;
  const std::string text = read_file(path);
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::file, fmt::format("{}: {}", path, base::shown_name(what)));
  };
  std::set<std::string> names;
  std::string section;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kDeepest) fail(fmt::format("JSON nested more than {} deep", kDeepest));
    if (event != Json::parse_event_t::key) return true;
    if (depth == 1) section = value.get<std::string>();
    if (depth == 2 && section == "weight_map" && !names.insert(value.get<std::string>()).second) {
      fail(fmt::format("duplicate tensor name {}", value.get<std::string>()));
    }
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, watch);
  } catch (const Json::exception& error) {
    fail(fmt::format("not valid JSON: {}", error.what()));
  }
  const auto found = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || found == json.end() || !found->is_object()) {
    fail("no object \"weight_map\" stands in it; it is no index of shards");
  }
  std::map<std::string, std::string> shards;
  for (const auto& [name, shard] : found->items()) {
    const std::string file = shard.is_string() ? shard.get<std::string>() : std::string();
    const bool plain = !file.empty() && file != "." && file != ".." &&
                       file.find('/') == std::string::npos && file.find('\0') == std::string::npos;
    if (!plain) {
      fail(fmt::format("tensor {}: its shard is {}, expected the name of a file beside the index",
                       name, shard.dump(-1, ' ', true)));
    }
    shards[name] = file;
  }
  return shards;
}

}  // namespace lexirow::files
