// What the beginning of a file of word vectors shows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "files/vector_lines.h"
#include "files/word_vectors.h"

namespace lexirow::files {

namespace {

constexpr std::int64_t kCheckedWords = 100;

/// A line that holds something.
struct SeenLine {
  std::int64_t number = 0;  ///< the first line of the file is 1
  std::string_view text;
  std::int64_t numbers = 0;  ///< behind its token
};

bool has_nul(std::string_view bytes) {
  return bytes.find('\0') != std::string_view::npos;
}

// The first lines of the bytes, whole ones.
std::vector<SeenLine> whole_lines(std::string_view head, bool whole) {
  std::vector<SeenLine> lines;
  for (std::int64_t number = 1; !head.empty() && std::int64_t(lines.size()) <= kCheckedWords;
       ++number) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && !whole) break;
    const std::string_view line = head.substr(0, end);
    if (!trimmed(line).empty()) {
      lines.push_back({number, line, has_nul(line) ? 0 : numbers_at_end(line)});
    }
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  }
  return lines;
}

using Lines = std::vector<SeenLine>;

// The number of numbers that more than half of the lines have; -1 where there is none.
std::int64_t agreed_width(const Lines& lines) {
  std::map<std::int64_t, std::size_t> times;
  for (const SeenLine& line : lines) ++times[line.numbers];
  for (const auto& [width, count] : times) {
    if (2 * count > lines.size()) return width;
  }
  return -1;
}

// The first line with fewer numbers than that; null: none.
const SeenLine* first_short(const Lines& lines, std::int64_t width) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const SeenLine& line) { return line.numbers < width; });
  return found == lines.end() ? nullptr : &*found;
}

std::string no_numbers(const SeenLine& line) {
  return fmt::format("line {} \"{}\" does not end with numbers behind a token", line.number,
                     shown_line(line.text));
}

// Tokens with blanks explain lines with more numbers than others, never those with fewer.
VectorShape shape_without_header(const Lines& lines) {
  VectorShape shape;
  if (lines.empty()) {
    shape.reason = "there is no line in it";
    return shape;
  }
  const std::int64_t width = agreed_width(lines);
  if (width < 1) {
    const SeenLine* bare = first_short(lines, 1);
    const auto other = std::find_if(lines.begin(), lines.end(), [&](const SeenLine& line) {
      return line.numbers != lines[0].numbers;
    });
    shape.reason = bare != nullptr
                       ? no_numbers(*bare)
                       : fmt::format(
                             "no width that more than half of its lines have: line {} ends with {} "
                             "numbers, line {} with {}",
                             lines[0].number, lines[0].numbers, other->number, other->numbers);
    return shape;
  }
  shape.dim = width;
  if (const SeenLine* damaged = first_short(lines, width)) {
    const auto others = std::count_if(lines.begin(), lines.end(),
                                      [&](const SeenLine& line) { return line.numbers == width; });
    shape.damage = fmt::format(
        "line {} does not hold {} numbers behind a token, as {} of the first {} lines do: {}: "
        "\"{}\"",
        damaged->number, width, others, lines.size(), line_fault(damaged->text, width),
        shown_line(damaged->text));
    return shape;
  }
  shape.form = "text without a header";
  shape.reason = fmt::format(
      "{} with a token and {} numbers, without a line 'count dim' first",
      lines.size() == 1 ? "its line begins" : fmt::format("its first {} lines begin", lines.size()),
      width);
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

// Text holds no controls but blanks and line ends, and of vectors most letters are those of
// numbers. The four bytes of a binary number are so by a rare chance only.
bool reads_as_text(std::string_view body) {
  constexpr std::size_t kLooked = std::size_t{1} << 16;
  body = body.substr(0, kLooked);
  std::size_t numeric = 0;
  for (const char letter : body) {
    const bool blank = letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
    if (!blank && ((letter >= 0 && letter < ' ') || letter == '\x7f')) return false;
    const bool of_number = (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' ||
                           letter == ',' || letter == '+' || letter == 'e';
    numeric += blank || of_number ? 1 : 0;
  }
  return 2 * numeric >= body.size();
}

/// What a file is whose first line is "count dim".
struct Announced {
  std::string_view body;  ///< behind the first line
  const Lines& lines;     ///< all, the first one too
  std::int64_t rows = 0;
  std::int64_t dim = 0;
};

VectorShape text_shape(const Announced& announced, VectorHeader header) {
  VectorShape shape;
  shape.header = true;
  shape.stated_rows = announced.rows;
  shape.dim = announced.dim;
  const Lines body(announced.lines.begin() + 1, announced.lines.end());
  const std::int64_t width = agreed_width(body);
  // A table of one number a token may begin with two numbers, too.
  const bool trusted = header == VectorHeader::yes || body.empty() || width == announced.dim ||
                       (width < 0 && body[0].numbers >= announced.dim);
  if (!trusted) {
    VectorShape plain = shape_without_header(announced.lines);
    if (!plain.form.empty()) return plain;
    const SeenLine& odd = *std::find_if(body.begin(), body.end(), [&](const SeenLine& line) {
      return line.numbers != announced.dim;
    });
    shape.damage = fmt::format(
        "the header says {} numbers, line {} has {}: \"{}\"; {}", announced.dim, odd.number,
        odd.numbers, shown_line(odd.text),
        odd.numbers < announced.dim
            ? line_fault(odd.text, announced.dim)
            : "--header yes trusts the header and takes what stands before its numbers for a token "
              "with blanks");
    return shape;
  }
  shape.form = "word2vec text";
  shape.reason = fmt::format("its first line is 'count dim' ({} {}) and text follows",
                             announced.rows, announced.dim);
  return shape;
}

VectorShape binary_shape(const Announced& announced, VectorHeader header) {
  VectorShape shape;
  shape.header = true;
  shape.stated_rows = announced.rows;
  shape.dim = announced.dim;
  const std::string fault = binary_fault(announced.body, announced.dim, announced.rows);
  if (!fault.empty()) {
    VectorShape plain = shape_without_header(announced.lines);
    if (header == VectorHeader::detect && !plain.form.empty()) return plain;
    shape.reason = fmt::format(
        "the first line is 'count dim' ({} {}), but the next one does not hold {} numbers, and {}",
        announced.rows, announced.dim, announced.dim, fault);
    return shape;
  }
  shape.binary = true;
  shape.form = "word2vec binary";
  shape.reason = fmt::format("its first line is 'count dim' ({} {}) and no text follows",
                             announced.rows, announced.dim);
  return shape;
}

}  // namespace

VectorShape vector_shape(std::string_view head, bool whole, VectorHeader header) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const Lines lines = whole_lines(head, whole);
  const std::string_view first = head.substr(0, head.find('\n'));
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  const bool announces = !lines.empty() && parse_vector_header(first, rows, dim);
  if (header == VectorHeader::no || !announces) {
    VectorShape shape;
    if (header == VectorHeader::yes) {
      shape.reason = "the first line is no 'count dim'";
      return shape;
    }
    if (lines.empty() && !whole) {
      shape.reason = fmt::format("its first line is longer than {} bytes", head.size());
      return shape;
    }
    return shape_without_header(lines);
  }
  const Announced announced{head.substr(std::min(head.size(), first.size() + 1)), lines, rows, dim};
  std::vector<float> values(static_cast<std::size_t>(dim));
  std::string_view token;
  const bool fits = lines.size() > 1 && !has_nul(lines[1].text) &&
                    cut_line(lines[1].text, dim, token, values.data());
  const bool text = trimmed(announced.body).empty() || fits || reads_as_text(announced.body);
  return text ? text_shape(announced, header) : binary_shape(announced, header);
}

}  // namespace lexirow::files
