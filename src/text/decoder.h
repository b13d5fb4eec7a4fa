#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lexirow::text {

/// A step from the spellings of tokens back to text. Immutable after construction. In difference to
/// Hugging Face's, byte letters that are not UTF-8 stay the bytes that they are: nothing is lost.
class Decoder {
 public:
  virtual ~Decoder() = default;
  ///   goes_on  more tokens may follow, so that bytes of an unfinished character stay as they are
  virtual void apply(std::vector<std::string>& tokens, bool goes_on) const = 0;
};

/// The field "decoder" of a tokenizer.json; null for null. Throws Error(file) that names a part
/// that is not supported and those that are.
std::unique_ptr<const Decoder> decoder_of_json(const nlohmann::json& json,
                                               const std::string& place);

/// The byte of a token such as <0x0A>, or -1.
int fallback_byte(std::string_view token);

}  // namespace lexirow::text
