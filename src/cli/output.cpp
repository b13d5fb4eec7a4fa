#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"

namespace lexirow::cli {
namespace {

[[noreturn]] void refuse_write() {
  if (errno == EPIPE) throw BrokenPipe();
  throw Error(ErrorKind::io, fmt::format("cannot write to standard output: {}", strerror(errno)));
}

}  // namespace

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) refuse_write();
}

void flush_output() {
  if (std::fflush(stdout) != 0) refuse_write();
}

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print_json(const Json& json) {
  print(json_text(json));
  print("\n");
  flush_output();
}

void say(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool terminal(int descriptor) {
  return isatty(descriptor) == 1;
}

bool colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return terminal(descriptor);
}

std::string bold(std::string_view text, int descriptor) {
  return colour(descriptor) ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string wrapped_lines(const std::string& first, std::size_t indent, const std::string& text,
                          std::size_t width) {
  std::string result;
  std::string line = first;
  line.resize(std::max(first.size(), indent), ' ');
  bool empty = true;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!empty && line.size() + 1 + word.size() > width) {
      result += line + '\n';
      line.assign(indent, ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return result + line + '\n';
}

Table::Table(std::vector<std::string> head, std::string alignment)
    : alignment_(std::move(alignment)) {
  rows_.push_back(std::move(head));
}

void Table::add(std::vector<std::string> row) {
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], code_points(row[i]));
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - code_points(row[i]), ' ');
      if (i > 0) line += "  ";
      line += alignment_[i] == 'r' ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

void put_token(Json& json, const std::string& key, const std::string& bytes_key,
               std::string_view token) {
  json[key] = text::display_text(token, false);
  if (text::display_loses(token)) json[bytes_key] = text::hex_bytes(token);
}

std::string shown(std::string_view token) {
  return text::display_text(token, true);
}

std::string shown_bytes(std::string_view token) {
  return text::display_loses(token) ? base::shown_name(token) : shown(token);
}

std::string visible(std::string_view token) {
  std::string text;
  for (const char byte : shown(token)) {
    if (byte == ' ') {
      text += "\xE2\x90\xA3";  // U+2423 OPEN BOX
    } else {
      text += byte;
    }
  }
  return text;
}

std::string rounded(std::int64_t count) {
  const auto value = static_cast<double>(count);
  if (count < 100000) return std::to_string(count);
  if (count < 1000000) return fmt::format("{:.0f} thousand", value / 1e3);
  if (count < 1000000000) return fmt::format("{:.1f} million", value / 1e6);
  return fmt::format("{:.1f} billion", value / 1e9);
}

std::string bytes_text(std::int64_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string duration(double seconds) {
  if (!(seconds >= 0)) seconds = 0;
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e12)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string figure(double value) {
  if (value == 0) return "0";
  const double size = std::fabs(value);
  return size >= 1e-3 && size < 1e6 ? fmt::format("{:.4f}", value) : fmt::format("{:.3g}", value);
}

std::string read_bytes(const std::string& path) {
  if (path != "-") {
    if (std::filesystem::is_directory(path)) {
      throw Error(ErrorKind::io, fmt::format("{} is a folder; a file is expected", path));
    }
    return files::read_file(path);
  }
  std::string bytes;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, stdin)) {
    bytes.append(buffer, count);
  }
  if (std::ferror(stdin) != 0) {
    throw Error(ErrorKind::io, fmt::format("cannot read standard input: {}", strerror(errno)));
  }
  return bytes;
}

}  // namespace lexirow::cli
