#include "files/vector_lines.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace lexirow::files {

namespace {

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t';
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

std::int64_t count_fields(std::string_view line) {
  std::int64_t count = 0;
  for (line = trimmed(line); !line.empty(); line = without_blanks_behind(line)) {
    take_last(line);
    ++count;
  }
  return count;
}

}  // namespace

bool parse_number(std::string_view field, float& value, NarrowingLoss* loss) {
  if (field.starts_with('+')) field.remove_prefix(1);
  const char* end = field.data() + field.size();
  const auto [rest, error] = std::from_chars(field.data(), end, value);
  if (rest != end || field.empty()) return false;
  if (error == std::errc::result_out_of_range) {
    // Too small or too large for a float; from_chars does not say which.
    value = static_cast<float>(std::strtod(std::string(field).c_str(), nullptr));
    if (loss == nullptr) return true;
    ++loss->changed;
    ++(std::isinf(value) ? loss->overflowed : loss->underflowed);
    return true;
  }
  return error == std::errc();
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (is_blank(line.back()) || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

bool parse_vector_header(std::string_view line, std::int64_t& rows, std::int64_t& dim) {
  line = trimmed(line);
  const auto number = [](std::string_view field, std::int64_t& value) {
    const char* end = field.data() + field.size();
    const auto [rest, error] = std::from_chars(field.data(), end, value);
    return error == std::errc() && rest == end && !field.empty();
  };
  const std::string_view second = take_last(line);
  line = without_blanks_behind(line);
  return number(line, rows) && number(second, dim) && rows >= 0 && dim >= 1 &&
         dim <= static_cast<std::int64_t>(kVectorLineCap / 2);
}

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

bool cut_line(std::string_view line, std::int64_t dim, std::string_view& token, float* values,
              NarrowingLoss* loss) {
  line = trimmed(line);
  for (std::int64_t i = dim - 1; i >= 0; --i) {
    if (i < dim - 1) line = without_blanks_behind(line);
    if (!parse_number(take_last(line), values[i], loss)) return false;
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

std::string line_fault(std::string_view line, std::int64_t dim) {
  const std::int64_t fields = count_fields(line);
  const std::int64_t there = fields > 0 ? fields - 1 : 0;
  if (there < dim)
    return fmt::format("{} there", there == 1 ? "1 is" : fmt::format("{} are", there));
  std::string_view rest = trimmed(line);
  float value = 0;
  for (std::int64_t i = 0; i < dim; ++i) {
    const std::string_view field = take_last(rest);
    rest = without_blanks_behind(rest);
    if (parse_number(field, value)) continue;
    const bool comma = field.find(',') != std::string_view::npos;
    return fmt::format("\"{}\" is no number{}", shown_line(field),
                       comma ? "; a fraction is written with a point" : "");
  }
  return fmt::format("{} are there", there);
}

}  // namespace lexirow::files
