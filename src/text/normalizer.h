#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "text/cut_rule.h"
#include "text/traced_text.h"

namespace lexirow::text {

/// A step that changes a text before it is cut. Immutable after construction.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(TracedText& text) const = 0;
  /// Where a text may be cut and both halves normalised each for itself, with blanks, line ends and
  /// letters at the cut left what they are: `depends`, `blanks` or `lines`.
  virtual CutRule cut_rule() const = 0;
  /// True when blanks become something else: then no step behind it sees them.
  virtual bool replaces_blanks() const { return false; }
};

/// The field "normalizer" of a tokenizer.json; null for null. Throws Error(file) that names a part
/// that is not supported and those that are.
std::unique_ptr<const Normalizer> normalizer_of_json(const nlohmann::json& json,
                                                     const std::string& place);

}  // namespace lexirow::text
