#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/string_list.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// A token of a pre-token and how many of its bytes it stands for.
struct ModelToken {
  Id id = kNoId;
  std::uint32_t length = 0;
};

/// The model of a tokenizer.json: it turns one pre-token into tokens. Immutable after construction.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  /// Appends the tokens of a pre-token (valid UTF-8, unless the model takes bytes). What has no
  /// token and no unknown token is left out, as Hugging Face does, and counted.
  virtual void encode(std::string_view piece, std::vector<ModelToken>& tokens,
                      EncodeCounts& counts) const = 0;

  /// A character such as U+2581 with which tokens only begin: merges never reach over a place
  /// before it that follows another character, so that a pre-token may be cut there. Empty: none is
  /// known.
  virtual const std::string& word_mark() const;

  /// Token spellings by id, as the file has them; an id that no token has is empty.
  virtual const StringList& tokens() const = 0;
  virtual Id unk() const = 0;  ///< kNoId without one

  /// The object "model" of tokenizer.json.
  virtual nlohmann::ordered_json to_json() const = 0;
};

/// The object "vocab" of a model: spellings and their ids; ids without a token are left out.
nlohmann::ordered_json vocab_json(const StringList& tokens);

}  // namespace lexirow::text
