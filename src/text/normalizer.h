#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "text/traced_text.h"

namespace lexirow::text {

/// A step that changes a text before it is cut. Immutable after construction.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(TracedText& text) const = 0;
  /// True when the text may be cut before a blank that follows visible text, and both halves
  /// normalised each for itself.
  virtual bool cuts_at_blanks() const = 0;
};

/// The field "normalizer" of a tokenizer.json; null for null. Throws Error(file) that names a part
/// that is not supported and those that are.
std::unique_ptr<const Normalizer> normalizer_of_json(const nlohmann::json& json,
                                                     const std::string& place);

}  // namespace lexirow::text
