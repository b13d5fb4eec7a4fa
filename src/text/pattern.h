#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_part.h"
#include "text/traced_text.h"

struct pcre2_real_code_8;

namespace lexirow::text {

/// A stretch of a text: a match of a pattern, or what stands between matches.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool match = false;
};

/// A plain text or a regular expression, as tokenizer.json has them.
class Pattern {
 public:
  /// A plain text, not empty.
  static Pattern of_text(std::string text);
  /// A regular expression in the syntax of Hugging Face's files. Throws Error(argument) that names
  /// what is not supported or wrong in it.
  static Pattern of_regex(const std::string& regex);
  /// The field `key` of a part: {"String": ...} or {"Regex": ...}. Throws Error(file).
  static Pattern of_json(const JsonPart& part, const char* key);

  /// The whole of `text` (valid UTF-8) in stretches. An empty match counts unless it follows
  /// another match directly. Throws Error(argument) when a match would take unreasonably long.
  void find(std::string_view text, std::vector<Stretch>& stretches) const;

  /// The plain text; empty for a regular expression.
  const std::string& text() const { return text_; }
  /// The regular expression as it was given; empty for a plain text.
  const std::string& regex() const { return regex_; }
  bool is_regex() const { return code_ != nullptr; }

 private:
  Pattern() = default;
  void find_text(std::string_view text, std::vector<Stretch>& stretches) const;
  void find_regex(std::string_view text, std::vector<Stretch>& stretches) const;

  std::string text_;
  std::string regex_;
  std::shared_ptr<const pcre2_real_code_8> code_;
};

/// What becomes of the matches of a pattern when a text is cut by it.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// The field "behavior" of a part. Throws Error(file).
SplitBehavior behavior_of_json(const JsonPart& part, const char* fallback);

/// Cuts by stretches; `inverted` takes what lies between the matches for the matches.
void cut_by(SplitBehavior behavior, bool inverted, const std::vector<Stretch>& stretches,
            std::vector<ByteRange>& pieces);

}  // namespace lexirow::text
