#include "text/model_lists.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/system.h"

namespace lexirow::text {
namespace {

using nlohmann::json;
namespace dom = simdjson::dom;

/// Puts lists together; every function is false where something is odd.
class ListBuilder {
 public:
  void expect_tokens(std::size_t count) {
    limit_ = id_limit(count);
    spellings_.reserve(count);
  }
  bool add_token(std::string_view token, std::int64_t id) {
    const auto at = static_cast<std::size_t>(id);
    if (token.empty() || id < 0 || at >= limit_) return false;
    if (at >= spellings_.size()) spellings_.resize(at + 1);
    if (!spellings_[at].empty()) return false;
    spellings_[at] = token;
    bytes_ += token.size();
    ++count_;
    return true;
  }
  bool take_tokens(TokenIndex& tokens) const {
    StringList list;
    list.reserve(spellings_.size(), bytes_);
    for (const std::string_view spelling : spellings_) list.push_back(spelling);
    tokens = TokenIndex(std::move(list));
    return tokens.distinct() == count_;
  }

 private:
  std::vector<std::string_view> spellings_;  // by id, where they were read
  std::size_t bytes_ = 0;
  std::size_t limit_ = 0;
  std::size_t count_ = 0;
};

bool add_line(std::string_view line, ModelLists& lists) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank == 0 || blank + 1 == line.size() ||
      line.find(' ', blank + 1) != std::string_view::npos) {
    return false;
  }
  lists.merges.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  return true;
}

bool lift_tokens(const dom::object& vocab, TokenIndex& tokens) {
  ListBuilder builder;
  std::size_t count = 0;  // size() says 16777215 for more
  for (auto entry = vocab.begin(); entry != vocab.end(); ++entry) ++count;
  builder.expect_tokens(count);
  for (const auto& [token, value] : vocab) {
    std::int64_t id = 0;
    if (value.get(id) != simdjson::SUCCESS || !builder.add_token(token, id)) return false;
  }
  return builder.take_tokens(tokens);
}

bool lift_merges(const dom::element& value, ModelLists& lists) {
  dom::array merges;
  if (value.get(merges) != simdjson::SUCCESS) return false;
  lists.merges.reserve(merges.size());
  for (const dom::element merge : merges) {
    std::string_view left;
    std::string_view right;
    dom::array pair;
    if (merge.get(left) == simdjson::SUCCESS) {
      if (!add_line(left, lists)) return false;
    } else if (merge.get(pair) == simdjson::SUCCESS && pair.size() == 2 &&
               pair.at(0).get(left) == simdjson::SUCCESS &&
               pair.at(1).get(right) == simdjson::SUCCESS) {
      lists.merges.emplace_back(left, right);
    } else {
      return false;
    }
  }
  return lists.has_merges = true;
}

/// As parse_json() would have it; false for a key that stands twice.
bool plain_json(const dom::element& value, json& out) {
  switch (value.type()) {
    case dom::element_type::OBJECT:
      out = json::object();
      for (const auto& [key, field] : dom::object(value)) {
        const auto [place, fresh] = out.emplace(std::string(key), nullptr);
        if (!fresh || !plain_json(field, *place)) return false;
      }
      return true;
    case dom::element_type::ARRAY:
      out = json::array();
      for (const dom::element entry : dom::array(value)) {
        out.emplace_back();
        if (!plain_json(entry, out.back())) return false;
      }
      return true;
    case dom::element_type::INT64: {
      const std::int64_t number = value;
      if (number >= 0) {
        out = static_cast<std::uint64_t>(number);
      } else {
        out = number;
      }
      return true;
    }
    case dom::element_type::UINT64:
      out = std::uint64_t(value);
      return true;
    case dom::element_type::DOUBLE:
      out = double(value);
      return true;
    case dom::element_type::STRING:
      out = std::string(std::string_view(value));
      return true;
    case dom::element_type::BOOL:
      out = bool(value);
      return true;
    case dom::element_type::NULL_VALUE:
      out = nullptr;
      return true;
  }
  return false;
}

bool lift_model(const dom::object& model, json& rest, ModelLists& lists) {
  rest = json::object();
  bool has_tokens = false;
  for (const auto& [key, value] : model) {
    dom::object vocab;
    if (key == "vocab") {
      if (has_tokens || value.get(vocab) != simdjson::SUCCESS) return false;
      if (!lift_tokens(vocab, lists.tokens)) return false;
      has_tokens = true;
    } else if (key == "merges" && !value.is_null()) {
      if (lists.has_merges || rest.contains("merges") || !lift_merges(value, lists)) return false;
    } else {
      if (lists.has_merges && key == "merges") return false;
      const auto [place, fresh] = rest.emplace(std::string(key), nullptr);
      if (!fresh || !plain_json(value, *place)) return false;
    }
  }
  return has_tokens;
}

bool lift_root(const dom::object& root, LiftedFile& file) {
  dom::element model;
  dom::object object;
  if (root["model"].get(model) != simdjson::SUCCESS || model.is<std::int64_t>()) {
    return lift_tokens(root, file.lists.tokens) && file.lists.tokens.distinct() > 0;
  }
  file.rest = std::make_unique<json>(json::object());
  for (const auto& [key, value] : root) {
    const auto [place, fresh] = file.rest->emplace(std::string(key), nullptr);
    if (!fresh) return false;
    if (key != "model") {
      if (!plain_json(value, *place)) return false;
    } else if (value.get(object) != simdjson::SUCCESS || !lift_model(object, *place, file.lists)) {
      return false;
    }
  }
  return true;
}

bool lift_tokens(const json& vocab, TokenIndex& tokens) {
  if (!vocab.is_object()) return false;
  ListBuilder builder;
  builder.expect_tokens(vocab.size());
  for (const auto& [token, id] : vocab.items()) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    if (!id.is_number_integer() || id > kMost) return false;
    if (!builder.add_token(token, id.get<std::int64_t>())) return false;
  }
  return builder.take_tokens(tokens);
}

bool lift_merges(const json& merges, ModelLists& lists) {
  if (!merges.is_array()) return false;
  for (const json& merge : merges) {
    if (merge.is_string()) {
      if (!add_line(merge.get_ref<const std::string&>(), lists)) return false;
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      lists.merges.emplace_back(merge[0].get_ref<const std::string&>(),
                                merge[1].get_ref<const std::string&>());
    } else {
      return false;
    }
  }
  return lists.has_merges = true;
}

}  // namespace

std::size_t id_limit(std::size_t tokens) {
  constexpr std::size_t kHoles = 1 << 16;  // reserved rows of the largest vocabularies
  return std::min<std::size_t>(2 * tokens + kHoles, std::numeric_limits<Id>::max());
}

std::optional<LiftedFile> lift_json(std::string_view text, std::int64_t readable_behind) {
  const auto parser = std::make_shared<dom::parser>();
  const bool copy = readable_behind < static_cast<std::int64_t>(simdjson::SIMDJSON_PADDING);
  // Of what is set aside a part is filled, from the front: with 4 KiB pages that is half the time.
  if (parser->allocate(text.size()) == simdjson::SUCCESS &&
      parser->doc.allocate(text.size()) == simdjson::SUCCESS) {
    const auto size = static_cast<std::int64_t>(text.size());
    base::prefer_huge_pages(parser->doc.tape.get(), 8 * size);
    base::prefer_huge_pages(parser->doc.string_buf.get(), size);
    base::prefer_huge_pages(parser->implementation->structural_indexes.get(), 4 * size);
  }
  dom::object root;
  if (parser->parse(text.data(), text.size(), copy).get(root) != simdjson::SUCCESS)
    return std::nullopt;
  std::optional<LiftedFile> file(std::in_place);
  if (!lift_root(root, *file)) return std::nullopt;
  file->lists.memory = parser;
  return file;
}

ModelLists lift_lists(json& model) {
  ModelLists lists;
  if (!model.is_object()) return lists;
  if (const auto vocab = model.find("vocab"); vocab != model.end()) {
    if (lift_tokens(*vocab, lists.tokens)) {
      model.erase(vocab);
    } else {
      lists.tokens = {};
    }
  }
  const auto merges = model.find("merges");
  if (merges == model.end()) return lists;
  const auto held = std::make_shared<json>(std::move(*merges));
  if (lift_merges(*held, lists)) {
    lists.memory = held;
    model.erase(merges);
  } else {
    lists.merges.clear();
    *merges = std::move(*held);
  }
  return lists;
}

}  // namespace lexirow::text
