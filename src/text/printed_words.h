#pragma once

#include <string>
#include <string_view>

namespace lexirow::text {

/// Words and marks set as in print, for WordSplit::unicode.
///   - No space before , . ; : ! ? ) ] } % and closing quotes; none after ( [ { $ # and opening
///     quotes. Straight double quotes open and close in turn, anew after an empty line.
///   - An apostrophe, hyphen, slash or underscore right behind a letter or digit stands close on
///   both
///     sides (don't, well-known); so do hyphens in a row, dashes, and a full stop or colon between
///     digits. An apostrophe elsewhere opens what follows.
///   - Chinese and Japanese marks stand close on both sides.
///   - A line end is a line end.
/// Whether a space is set depends on the tokens before and the one behind it only, so the text only
/// ever grows.
class PrintedWords {
 public:
  void add(std::string_view token);
  void line_end();
  const std::string& text() const { return text_; }

 private:
  struct Sides {
    bool before = false;  // stands close to what came before
    bool after = false;   // and to what follows
  };

  Sides sides_of(char32_t mark);
  Sides quote_sides(char32_t mark);

  std::string text_;
  char32_t last_ = '\n';      // the last character
  bool close_ = true;         // no space before the next token
  bool close_digit_ = false;  // none if it begins with a digit
  bool quote_open_ = false;   // a straight double quote
  bool single_open_ = false;  // U+2018 seen, U+2019 not yet
};

}  // namespace lexirow::text
