#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/wording.h"
#include "text/tokenizer.h"

namespace lexirow::cli {

using Json = nlohmann::ordered_json;

/// The reader of standard output went away: the program ends quietly.
struct BrokenPipe {};

/// Writes results to standard output. Throws BrokenPipe, or Error(io) when it cannot be written.
void print(std::string_view text);
/// Hands everything printed so far to the system.
void flush_output();
/// JSON in one line; what is not UTF-8 becomes U+FFFD.
std::string json_text(const Json& json);
/// The same of an object, and a line end.
void print_json(const Json& json);

/// Messages for people on standard error.
void say(std::string_view line);

/// True when the stream is a terminal; with `colour`, NO_COLOR and TERM=dumb are asked too.
bool terminal(int descriptor);
bool colour(int descriptor);
/// The text in bold where colour is wanted.
std::string bold(std::string_view text, int descriptor);

/// Words of `text` in lines of at most `width` bytes, each with its line end: the first after
/// `first`, the others after `indent` spaces.
std::string wrapped_lines(const std::string& first, std::size_t indent, const std::string& text,
                          std::size_t width);

/// Columns padded to the width of their widest cell (in code points), numbers to the right.
class Table {
 public:
  /// `right`: one letter a column, 'r' right or 'l' left.
  Table(std::vector<std::string> head, std::string alignment);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::string alignment_;
};

/// Puts a token's text under `key`, and its bytes in hex under `bytes_key` where the text loses
/// some.
void put_token(Json& json, const std::string& key, const std::string& bytes_key,
               std::string_view token);
/// What people see of a token: controls and spaces made visible.
std::string shown(std::string_view token);
/// The same, but bytes that are no UTF-8 as \xff and so on, as arguments may spell them.
std::string shown_bytes(std::string_view token);
/// The same for tables: every blank made visible, wherever it stands.
std::string visible(std::string_view token);
/// How wide a text is, in code points.
std::size_t code_points(std::string_view text);

using base::counted;
using base::shell_word;
/// 3400000 as "3.4 million".
std::string rounded(std::int64_t count);
/// Bytes as "1.5 MiB".
std::string bytes_text(std::int64_t bytes);
/// Seconds as "3 s", "2 min 05 s", "1 h 10 min".
std::string duration(double seconds);
/// A number for people: 4 significant digits after the point for small ones, no exponent where
/// avoidable.
std::string figure(double value);

/// Bytes of a file, or of standard input for "-". Nothing is changed. Throws Error(io).
std::string read_bytes(const std::string& path);

}  // namespace lexirow::cli
