#include "files/projector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "files/atomic_write.h"
#include "files/vector_lines.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

constexpr std::string_view kEnding = ".tsv";
constexpr std::size_t kCheckedLines = 100;

// Characters that JavaScript's trim() takes for blank or that end a line somewhere, beyond ASCII;
// the projector passes over lines that are blank.
bool is_odd_blank(unsigned code) {
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000 ||
         code == 0xFEFF;
}

// The code point of a sequence of two or three bytes, all that can be odd; 0 for others.
unsigned short_code(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
  length = 1;
  if ((byte(0) & 0xE0U) == 0xC0U && tail(1)) {
    length = 2;
    return (byte(0) & 0x1FU) << 6 | (byte(1) & 0x3FU);
  }
  if ((byte(0) & 0xF0U) == 0xE0U && tail(1) && tail(2)) {
    length = 3;
    return (byte(0) & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
  }
  return 0;
}

void append_escaped(std::string& out, char letter) {
  switch (letter) {
    case '\t':
      out += "\\t";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\\':
      out += "\\\\";
      return;
    default:
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(letter));
  }
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | code >> 6);
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xE0U | code >> 12);
    out += static_cast<char>(0x80U | (code >> 6 & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view field_of(std::string_view line, std::size_t column) {
  for (; column > 0; --column) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return {};
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

std::string metadata_text(const RowSource& rows, const std::vector<LabelColumn>& columns,
                          const std::string& path) {
  std::string text;
  for (const LabelColumn& column : columns) {
    if (static_cast<std::int64_t>(column.labels.size()) != rows.rows()) {
      throw Error(ErrorKind::argument,
                  fmt::format("{}: column {} has {} labels, but there are {} rows", path,
                              column.name, column.labels.size(), rows.rows()));
    }
  }
  const auto add_line = [&](const auto& field) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += '\t';
      text += field(columns[i]);
    }
    text += '\n';
  };
  if (columns.size() > 1) {
    add_line([](const LabelColumn& column) { return projector_label(column.name); });
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.rows()); ++row) {
    add_line([row](const LabelColumn& column) { return projector_label(column.labels[row]); });
  }
  return text;
}

// The numbers between the tabs of a line; false where one is none.
bool parse_fields(std::string_view line, std::vector<float>& values) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (;;) {
    const std::string_view field = line.substr(0, line.find('\t'));
    float value = 0;
    if (!parse_number(field, value)) return false;
    values.push_back(value);
    if (field.size() == line.size()) return true;
    line.remove_prefix(field.size() + 1);
  }
}

// The width that most of the first lines have.
std::size_t projector_width(const std::vector<std::string_view>& lines) {
  std::map<std::size_t, std::size_t> times;
  for (std::size_t i = 0; i < std::min(kCheckedLines, lines.size()); ++i) {
    std::vector<float> values;
    if (parse_fields(lines[i], values) && values.size() >= 2) ++times[values.size()];
  }
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? 0 : most->first;
}

std::string_view without_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

}  // namespace

std::string metadata_path(const std::string& vectors_path) {
  const bool named = vectors_path.ends_with(kEnding);
  const std::size_t stem = vectors_path.size() - (named ? kEnding.size() : 0);
  return vectors_path.substr(0, stem) + "_metadata" + std::string(kEnding);
}

std::string projector_label(std::string_view token) {
  std::string out;
  const bool blank = token.find_first_not_of(' ') == std::string_view::npos;
  for (std::size_t i = 0; i < token.size();) {
    const char letter = token[i];
    std::size_t length = 1;
    const unsigned code = short_code(token.substr(i), length);
    if ((letter >= 0 && letter < ' ') || letter == '\\' || letter == '\x7f' ||
        (blank && letter == ' ')) {
      append_escaped(out, letter);
    } else if (code != 0 && is_odd_blank(code)) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += token.substr(i, length);
    }
    i += length;
  }
  // A line of nothing would be passed over.
  return out.empty() ? "\\e" : out;
}

std::string token_of_label(std::string_view label) {
  std::string out;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (label[i] != '\\' || i + 1 == label.size()) {
      out += label[i];
      continue;
    }
    const char kind = label[++i];
    unsigned code = 0;
    const char* digits = label.data() + i + 1;
    const bool hex = kind == 'u' && label.size() - i > 4 &&
                     std::from_chars(digits, digits + 4, code, 16).ptr == digits + 4;
    if (hex) {
      append_utf8(out, code);
      i += 4;
    } else if (kind != 'e') {
      out += kind == 't' ? '\t' : kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind;
    }
  }
  return out;
}

void write_projector(const std::string& vectors_path, const RowSource& rows,
                     const std::vector<LabelColumn>& columns) {
  const std::string path = metadata_path(vectors_path);
  if (columns.empty()) {
    throw Error(ErrorKind::argument,
                fmt::format("{}: no labels; the projector shows rows by their tokens", path));
  }
  const std::string text = metadata_text(rows, columns, path);
  AtomicFile vectors(vectors_path);
  for_each_block(rows, [&](std::int64_t, std::int64_t count, const float* values) {
    std::string out;
    for (std::int64_t i = 0; i < count * rows.dim(); ++i) {
      fmt::format_to(std::back_inserter(out), "{}{}", values[i],
                     (i + 1) % rows.dim() == 0 ? '\n' : '\t');
    }
    vectors.write(out);
  });
  vectors.commit();
  write_file_atomically(path, text);
  const std::string written = read_file(path);
  const auto lines = static_cast<std::int64_t>(std::count(written.begin(), written.end(), '\n'));
  const std::int64_t expected = rows.rows() + (columns.size() > 1 ? 1 : 0);
  if (lines != expected) {
    throw Error(ErrorKind::file, fmt::format("{}: {} lines were written for {} rows, expected {}",
                                             path, lines, rows.rows(), expected));
  }
}

TokenList read_metadata(const std::string& path, std::int64_t rows) {
  const std::string text = read_file(path);
  std::vector<std::string_view> lines = lines_of(without_mark(text));
  std::size_t column = 0;
  if (!lines.empty() && static_cast<std::int64_t>(lines.size()) == rows + 1 &&
      lines[0].find('\t') != std::string_view::npos) {
    const auto columns =
        static_cast<std::size_t>(std::count(lines[0].begin(), lines[0].end(), '\t')) + 1;
    for (std::size_t i = 0; i < columns; ++i) {
      if (field_of(lines[0], i) == "token") column = i;
    }
    lines.erase(lines.begin());
  }
  if (static_cast<std::int64_t>(lines.size()) != rows) {
    throw Error(ErrorKind::file,
                fmt::format("{}: {} lines for {} rows of vectors; one line a row, and a first line "
                            "of names only where there are several columns",
                            path, lines.size(), rows));
  }
  TokenList tokens;
  for (std::string_view line : lines) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    tokens.push(token_of_label(field_of(line, column)));
  }
  return tokens;
}

bool looks_like_projector(std::string_view head, bool whole, bool has_labels) {
  std::vector<std::string_view> lines =
      lines_of(without_mark(head).substr(0, std::size_t{1} << 20));
  if ((!whole || head.size() > std::size_t{1} << 20) && !lines.empty()) lines.pop_back();
  lines.resize(std::min(kCheckedLines, lines.size()));
  const std::size_t width = projector_width(lines);
  if (width == 0) return false;
  std::size_t fitting = 0;
  std::size_t fractions = 0;
  for (const std::string_view line : lines) {
    std::vector<float> values;
    if (!parse_fields(line, values) || values.size() != width) continue;
    ++fitting;
    if (field_of(line, 0).find('.') != std::string_view::npos) ++fractions;
  }
  if (fitting == lines.size()) return true;
  return 2 * fitting > lines.size() && (has_labels || 2 * fractions > lines.size());
}

std::shared_ptr<const RowSource> read_projector_vectors(std::string_view bytes,
                                                        const std::string& where) {
  std::vector<float> values;
  std::int64_t rows = 0;
  const std::vector<std::string_view> lines = lines_of(without_mark(bytes));
  const std::size_t dim = projector_width(lines);
  for (std::string_view line : lines) {
    const std::size_t before = values.size();
    const bool numbers = parse_fields(line, values);
    if (!numbers || values.size() - before != dim) {
      throw Error(ErrorKind::file,
                  fmt::format("{}: line {} does not hold {} numbers between tabs and nothing else, "
                              "as the other lines do",
                              where, rows + 1, dim));
    }
    ++rows;
  }
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  const base::View2<const float> view(owner->data(), {rows, static_cast<std::int64_t>(dim)});
  return rows_of_view(view, std::move(owner));
}

}  // namespace lexirow::files
