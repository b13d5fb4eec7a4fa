#include "text/token_model.h"

#include <nlohmann/json.hpp>

namespace lexirow::text {

const std::string& TokenModel::word_mark() const {
  static const std::string none;
  return none;
}

nlohmann::ordered_json vocab_json(const StringList& tokens) {
  // The vector below the ordered map: its own insertion looks through all keys each time.
  nlohmann::ordered_json::object_t vocab;
  std::vector<nlohmann::ordered_json::object_t::value_type>& entries = vocab;
  entries.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].empty()) entries.emplace_back(tokens[id], id);
  }
  return vocab;
}

}  // namespace lexirow::text
