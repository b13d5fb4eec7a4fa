#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "text/cut_rule.h"
#include "text/traced_text.h"

namespace lexirow::text {

/// A step that cuts a text into pre-tokens. Immutable after construction.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(TracedText& text) const = 0;
  virtual CutRule cut_rule() const = 0;
  /// True when nothing of the text is changed or left out, only cut.
  virtual bool keeps_text() const = 0;
  /// True when it puts a blank before each of its pieces: a cut that no step before it makes would
  /// be seen.
  virtual bool begins_pieces() const { return false; }
  /// True when it only cuts as GPT-2 does.
  virtual bool is_plain_gpt2() const { return false; }
  /// True when it needs to know where pieces come from.
  virtual bool needs_origins() const { return false; }
};

struct PreTokenizerOptions {
  /// Bytes are spelt as letters by a final ByteLevel; false: the model takes the bytes themselves.
  bool letters = true;
};

/// The field "pre_tokenizer" of a tokenizer.json; null for null. Throws Error(file) that names a
/// part that is not supported and those that are.
std::unique_ptr<const PreTokenizer> pre_tokenizer_of_json(const nlohmann::json& json,
                                                          const std::string& place,
                                                          const PreTokenizerOptions& options);

/// True when the last step of the pre-tokenizer turns bytes into letters and none before it does.
bool ends_in_byte_level(const nlohmann::json& json);

}  // namespace lexirow::text
