#include "experiment/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/html.h"

namespace lexirow::experiment {
namespace {

constexpr std::size_t kTall = 24;       // rows from which a table scrolls
constexpr std::int64_t kSentence = 24;  // letters from which a text may be wrapped

/// What is known of a column before its cells are written.
struct Column {
  bool numbers = false;            ///< holds a number in some row
  std::vector<std::string> texts;  ///< of its doubles, in the order of the rows
};

const Cell& cell_at(const std::vector<Cell>& row, std::size_t column) {
  static const Cell nothing;
  return column < row.size() ? row[column] : nothing;
}

Column look_at(const Table& table, std::size_t column, bool like) {
  Column seen;
  std::vector<double> values;
  for (const std::vector<Cell>& row : table.rows) {
    const Cell& cell = cell_at(row, column);
    if (const auto* value = std::get_if<double>(&cell)) values.push_back(*value);
    seen.numbers = seen.numbers || cell.index() >= 2;
  }
  if (like) {
    seen.texts = column_texts(values);
  } else {
    for (const double value : values) seen.texts.push_back(number_text(value));
  }
  return seen;
}

std::string cell_html(const Cell& cell, bool numbers, bool first, const std::string& shown) {
  std::string inner, classes = numbers ? "n" : "";
  if (const auto* text = std::get_if<std::string>(&cell)) {
    inner = text_html(*text);
    if (length_of(*text) > kSentence) classes = "sentence";
  } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    inner = data_html(*whole);
  } else if (const auto* value = std::get_if<double>(&cell)) {
    inner = data_html(*value, shown);
  } else {
    inner = "<span class=\"none\">\xE2\x80\x93</span>";
  }
  const std::string attribute = classes.empty() ? "" : " class=\"" + classes + "\"";
  if (first) return fmt::format("<th scope=\"row\"{}>{}</th>", attribute, inner);
  return fmt::format("<td{}>{}</td>", attribute, inner);
}

}  // namespace

std::string table_html(const Table& table, bool like) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back(look_at(table, i, like));
  }
  std::string html = "<div class=\"table\">";
  if (!table.title.empty()) html += "<p class=\"caption\">" + text_html(table.title) + "</p>\n";
  html += fmt::format(
      "<div class=\"scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>",
      table.rows.size() > kTall ? " tall" : "",
      table.title.empty() ? "Figures" : escape_html(visible_text(table.title, 100)));
  html += "<thead><tr>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = table.columns[i];
    html += fmt::format("<th scope=\"col\"{}>{}</th>", columns[i].numbers ? " class=\"n\"" : "",
                        name == " " ? "" : text_html(name, 80));
  }
  html += "</tr></thead>\n<tbody>\n";
  std::vector<std::size_t> used(columns.size());
  for (const std::vector<Cell>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Cell& cell = cell_at(row, i);
      const bool is_double = std::holds_alternative<double>(cell);
      const std::string shown = is_double ? columns[i].texts[used[i]++] : "";
      html += cell_html(cell, columns[i].numbers, i == 0, shown);
    }
    html += "</tr>\n";
  }
  if (table.rows.empty()) {
    html += fmt::format("<tr><td class=\"none\" colspan=\"{}\">no rows</td></tr>\n",
                        std::max<std::size_t>(1, columns.size()));
  }
  return html + "</tbody></table></div></div>\n";
}

}  // namespace lexirow::experiment
