#include "files/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "lexirow/error.h"

namespace lexirow::files {

namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;
constexpr std::size_t kLineCap = std::size_t{16} << 20;
constexpr std::size_t kWordCap = std::size_t{1} << 12;
constexpr std::int64_t kCheckedWords = 100;

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t';
}

// Without blanks and a carriage return at its end.
std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (is_blank(line.back()) || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

bool parse_number(std::string_view field, float& value) {
  if (field.starts_with('+')) field.remove_prefix(1);
  const char* end = field.data() + field.size();
  const auto [rest, error] = std::from_chars(field.data(), end, value);
  if (rest != end || field.empty()) return false;
  if (error == std::errc::result_out_of_range) {
    // Too small or too large for a float: a double tells which.
    double wide = 0;
    std::from_chars(field.data(), end, wide);
    value = static_cast<float>(wide);
    return true;
  }
  return error == std::errc();
}

// Cuts the last field off a line without blanks at its end.
std::string_view take_last(std::string_view& line) {
  std::size_t begin = line.size();
  while (begin > 0 && !is_blank(line[begin - 1])) --begin;
  const std::string_view field = line.substr(begin);
  line = line.substr(0, begin);
  return field;
}

std::string_view without_blanks_behind(std::string_view line) {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

// "count dim" and nothing else.
bool parse_header(std::string_view line, std::int64_t& rows, std::int64_t& dim) {
  line = trimmed(line);
  const auto number = [](std::string_view field, std::int64_t& value) {
    const char* end = field.data() + field.size();
    const auto [rest, error] = std::from_chars(field.data(), end, value);
    return error == std::errc() && rest == end && !field.empty();
  };
  const std::string_view second = take_last(line);
  line = without_blanks_behind(line);
  return number(line, rows) && number(second, dim) && rows >= 0 && dim >= 1 &&
         dim <= static_cast<std::int64_t>(kLineCap / 2);
}

// How many fields at the end of a line are numbers, one for the token left out.
std::int64_t numbers_at_end(std::string_view line) {
  const bool blank_first = !line.empty() && is_blank(line.front());
  line = trimmed(line);
  std::int64_t count = 0;
  float value = 0;
  while (!line.empty()) {
    if (!parse_number(take_last(line), value)) return count;
    ++count;
    line = without_blanks_behind(line);
  }
  return blank_first ? count : count - 1;
}

// Cuts a line into its token and `dim` numbers, counted from the right. False where they are not
// there.
bool cut_line(std::string_view line, std::int64_t dim, std::string_view& token, float* values) {
  line = trimmed(line);
  for (std::int64_t i = dim - 1; i >= 0; --i) {
    if (i < dim - 1) line = without_blanks_behind(line);
    if (!parse_number(take_last(line), values[i])) return false;
  }
  if (line.empty()) return false;  // no token and no blank for it
  token = line.substr(0, line.size() - 1);
  const std::string_view plain = without_blanks_behind(token);
  if (!plain.empty()) token = plain;
  return true;
}

std::string shown_line(std::string_view line) {
  std::string shown;
  for (char letter : line.substr(0, 60)) {
    shown += letter >= ' ' && letter < '\x7f' ? letter : '?';
  }
  return line.size() > 60 ? shown + "..." : shown;
}

// The first lines of the bytes, whole ones.
std::vector<std::string_view> whole_lines(std::string_view head, bool whole, std::size_t count) {
  std::vector<std::string_view> lines;
  while (!head.empty() && lines.size() < count) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && !whole) break;
    lines.push_back(head.substr(0, end));
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  }
  return lines;
}

bool has_nul(std::string_view bytes) {
  return bytes.find('\0') != std::string_view::npos;
}

VectorShape shape_without_header(const std::vector<std::string_view>& lines) {
  VectorShape shape;
  std::int64_t dim = std::numeric_limits<std::int64_t>::max();
  std::int64_t seen = 0;
  for (std::string_view line : lines) {
    if (trimmed(line).empty()) continue;
    ++seen;
    dim = std::min(dim, has_nul(line) ? 0 : numbers_at_end(line));
    if (dim >= 1) continue;
    shape.reason = fmt::format("line {} \"{}\" does not end with numbers behind a token", seen,
                               shown_line(line));
    return shape;
  }
  if (seen == 0) {
    shape.reason = "there is no line in it";
    return shape;
  }
  shape.dim = dim;
  shape.form = "text without a header";
  shape.reason = fmt::format(
      "{} with a token and {} numbers, without a line 'count dim' first",
      seen == 1 ? "its line begins" : fmt::format("its first {} lines begin", seen), dim);
  return shape;
}

// Why these are no words of the binary form; empty: they are.
std::string binary_fault(std::string_view head, std::int64_t dim, std::int64_t rows) {
  const auto bytes = static_cast<std::size_t>(dim) * sizeof(float);
  for (std::int64_t i = 0; i < std::min(rows, kCheckedWords); ++i) {
    while (head.starts_with('\n')) head.remove_prefix(1);
    const std::string_view ahead = head.substr(0, kWordCap);
    const std::size_t blank = ahead.find(' ');
    if (blank == std::string_view::npos && head.size() < kWordCap) return "";
    const std::string_view word = ahead.substr(0, blank);
    if (blank == std::string_view::npos || blank == 0 || !is_plain_word(word)) {
      return fmt::format("word {} of the binary form would be \"{}\"", i + 1, shown_line(word));
    }
    if (head.size() < blank + 1 + bytes) return "";
    head.remove_prefix(blank + 1 + bytes);
  }
  return "";
}

[[noreturn]] void refuse_vectors(const std::string& where, const std::string& text) {
  throw Error(ErrorKind::file, fmt::format("{}: {}", where, text));
}

class WordVectorReader {
 public:
  WordVectorReader(const ByteReader& read, const WordVectorRules& rules, const std::string& where)
      : reader_(read), rules_(rules), where_(where) {}

  WordVectors read() {
    const std::string_view head = reader_.peek(kHeadBytes);
    shape_ = vector_shape(head, head.size() < kHeadBytes, rules_.header);
    if (shape_.form.empty()) refuse_vectors(where_, "no word vectors: " + shape_.reason);
    out_.binary = shape_.binary;
    out_.dim = shape_.dim;
    out_.form = shape_.form;
    out_.reason = shape_.reason;
    out_.stated_rows = shape_.stated_rows;
    reserve(head);
    row_.resize(static_cast<std::size_t>(shape_.dim));
    if (shape_.header) {
      std::string_view ignored;
      reader_.line(ignored, kLineCap);
    }
    while (out_.read_rows != rules_.limit) {
      if (shape_.binary ? !read_record() : !read_line()) break;
    }
    const bool limited = out_.read_rows == rules_.limit;
    if (shape_.header && !limited && !rules_.lenient && out_.read_rows < shape_.stated_rows) {
      refuse_count(fmt::format("{}", out_.read_rows));
    }
    out_.rows = out_.tokens.size();
    return std::move(out_);
  }

 private:
  // Memory for the rows that the header or the first lines promise, as far as the file can hold
  // them: pages that are not used cost nothing.
  void reserve(std::string_view head) {
    if (rules_.keep || rules_.file_bytes == 0) return;
    const std::size_t lines = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));
    const std::int64_t row_bytes =
        shape_.binary
            ? shape_.dim * 4 + 2
            : std::max<std::int64_t>(2 * shape_.dim + 1,
                                     static_cast<std::int64_t>(head.size() / (lines + 1)));
    std::int64_t rows = rules_.file_bytes / row_bytes + 1;
    if (shape_.header) rows = std::min(rows, shape_.stated_rows);
    if (rules_.limit >= 0) rows = std::min(rows, rules_.limit);
    out_.values.reserve(static_cast<std::size_t>(rows * shape_.dim));
  }

  [[noreturn]] void refuse_count(const std::string& found) const {
    refuse_vectors(where_,
                   fmt::format("the header says {} words, but the file has {}; it is cut short or "
                               "was put together by hand; --lenient takes what is there",
                               shape_.stated_rows, found));
  }

  void take(std::string_view token) {
    ++out_.read_rows;
    if (shape_.header && !rules_.lenient && out_.read_rows > shape_.stated_rows) {
      refuse_count("more");
    }
    if (rules_.keep && !rules_.keep(token)) return;
    if (token.find(' ') != std::string_view::npos) ++out_.spaced_tokens;
    out_.tokens.push(token);
    out_.values.insert(out_.values.end(), row_.begin(), row_.end());
  }

  bool read_line() {
    std::string_view line;
    do {
      if (!reader_.line(line, kLineCap)) return false;
      ++line_;
      if (line.size() > kLineCap) {
        refuse_vectors(where_,
                       fmt::format("line {} is longer than {} bytes; these are no word vectors",
                                   line_ + (shape_.header ? 1 : 0), kLineCap));
      }
    } while (trimmed(line).empty());
    std::string_view token;
    if (!cut_line(line, shape_.dim, token, row_.data())) {
      refuse_vectors(where_,
                     fmt::format("line {} does not end with {} numbers behind a token: \"{}\"; {}",
                                 line_ + (shape_.header ? 1 : 0), shape_.dim, shown_line(line),
                                 shape_.header ? "the header says so" : "the first lines do"));
    }
    take(token);
    return true;
  }

  bool read_record() {
    const auto bytes = static_cast<std::size_t>(shape_.dim) * sizeof(float);
    while (reader_.peek(1).starts_with('\n')) reader_.skip(1);
    const std::string_view ahead = reader_.peek(kWordCap + bytes);
    if (ahead.empty()) return false;
    const std::size_t blank = ahead.substr(0, kWordCap).find(' ');
    if (blank == std::string_view::npos && ahead.size() >= kWordCap) {
      refuse_vectors(where_, fmt::format("word {} is longer than {} bytes; the file is damaged",
                                         out_.read_rows + 1, kWordCap));
    }
    if (blank == std::string_view::npos || ahead.size() < blank + 1 + bytes) {
      if (rules_.lenient) return false;
      refuse_count(fmt::format("{} and a part of one more", out_.read_rows));
    }
    const std::string token(ahead.substr(0, blank));
    std::memcpy(row_.data(), ahead.data() + blank + 1, bytes);
    reader_.skip(blank + 1 + bytes);
    take(token);
    return true;
  }

  BufferedReader reader_;
  const WordVectorRules& rules_;
  const std::string& where_;
  VectorShape shape_;
  WordVectors out_;
  std::vector<float> row_;
  std::int64_t line_ = 0;
};

}  // namespace

VectorShape vector_shape(std::string_view head, bool whole, VectorHeader header) {
  const auto lines = whole_lines(head, whole, static_cast<std::size_t>(kCheckedWords) + 1);
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  VectorShape shape;
  if (header == VectorHeader::no || lines.empty() || !parse_header(lines[0], rows, dim)) {
    if (header == VectorHeader::yes) {
      shape.reason = "the first line is no 'count dim'";
      return shape;
    }
    if (lines.empty()) {
      shape.reason = head.empty()
                         ? "there is no line in it"
                         : fmt::format("its first line is longer than {} bytes", head.size());
      return shape;
    }
    return shape_without_header({lines.begin(), lines.end()});
  }
  shape.header = true;
  shape.stated_rows = rows;
  shape.dim = dim;
  std::vector<float> values(static_cast<std::size_t>(dim));
  std::string_view token;
  const std::string_view body = head.substr(std::min(head.size(), lines[0].size() + 1));
  const bool text = trimmed(body).empty() || (lines.size() > 1 && !has_nul(lines[1]) &&
                                              cut_line(lines[1], dim, token, values.data()));
  if (text) {
    shape.form = "word2vec text";
    shape.reason = fmt::format("its first line is 'count dim' ({} {}) and text follows", rows, dim);
    return shape;
  }
  const std::string fault = binary_fault(body, dim, rows);
  if (!fault.empty()) {
    // A file of one number a token may begin with two numbers too.
    VectorShape plain = shape_without_header({lines.begin(), lines.end()});
    if (header == VectorHeader::detect && !plain.form.empty()) return plain;
    shape.reason = fmt::format(
        "the first line is 'count dim' ({} {}), but the next one does not "
        "hold {} numbers, and {}",
        rows, dim, dim, fault);
    return shape;
  }
  shape.binary = true;
  shape.form = "word2vec binary";
  shape.reason =
      fmt::format("its first line is 'count dim' ({} {}) and no text follows", rows, dim);
  return shape;
}

WordVectors read_word_vectors(const ByteReader& read, const WordVectorRules& rules,
                              const std::string& where) {
  return WordVectorReader(read, rules, where).read();
}

bool is_plain_word(std::string_view token) {
  return !token.empty() && token.size() < kWordCap &&
         std::none_of(token.begin(), token.end(), [](char letter) {
           return (letter >= 0 && letter <= ' ') || letter == '\x7f';
         });
}

}  // namespace lexirow::files
