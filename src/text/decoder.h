#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lexirow::text {

/// A step from the spellings of tokens back to text. Immutable after construction. In difference to
/// Hugging Face's, bytes stay as they are where they are not UTF-8, so that nothing is lost.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void apply(std::vector<std::string>& tokens) const = 0;
};

/// The field "decoder" of a tokenizer.json; null for null. Throws Error(file) that names a part
/// that is not supported and those that are.
std::unique_ptr<const Decoder> decoder_of_json(const nlohmann::json& json,
                                               const std::string& place);

/// The byte of a token such as <0x0A>, or -1.
int fallback_byte(const std::string& token);

}  // namespace lexirow::text
