#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/token_index.h"

namespace lexirow::text {

/// The two large lists in the model of a tokenizer's file, without a JSON value for every token.
struct ModelLists {
  TokenIndex tokens;
  /// Left and right, in the order of the file: views of what `memory` holds.
  std::vector<std::pair<std::string_view, std::string_view>> merges;
  bool has_merges = false;  ///< the file has a list of them, be it empty
  std::shared_ptr<const void> memory;
};

/// The highest id that a vocabulary of so many tokens may have, plus one: reserved rows make holes.
std::size_t id_limit(std::size_t tokens);

/// A file whose lists were lifted out.
struct LiftedFile {
  ModelLists lists;
  /// All the rest: `vocab` and `merges` are missing in its model. Null for a plain vocabulary, an
  /// object of tokens and ids such as GPT-2's encoder.json.
  std::unique_ptr<nlohmann::json> rest;
};

/// Reads a tokenizer.json or a plain vocabulary ten times as fast as parse_json() does. Nothing
/// where the text is neither, is not valid, has a key or a token twice, or has anything odd in its
/// lists: parse_json() and what follows it then say what is wrong.
///   readable_behind  bytes behind the text that may be read; a few dozen save a copy of it
std::optional<LiftedFile> lift_json(std::string_view text, std::int64_t readable_behind = 0);

/// Moves the lists out of a model that is read already; each stays where anything in it is odd.
ModelLists lift_lists(nlohmann::json& model);

}  // namespace lexirow::text
