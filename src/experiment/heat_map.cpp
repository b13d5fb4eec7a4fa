#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/axis.h"
#include "experiment/html.h"
#include "experiment/picture_parts.h"

namespace lexirow::experiment {
namespace {

constexpr std::size_t kPrinted = 16;       // rows and columns up to which values stand in the cells
constexpr std::size_t kHeatMapShown = 64;  // rows and columns that are drawn at most
constexpr std::int64_t kRowName = 18, kColumnName = 20;  // letters
constexpr double kWide = 480;    // pixels from which a map takes the whole width of the page
constexpr double kLetter = 7.3;  // pixels

/// Sizes in pixels of a map that is drawn.
struct Layout {
  std::size_t rows = 0, columns = 0;
  bool printed = false;
  bool upright = false;  ///< names of columns stand on end
  double cell_width = 0, cell_height = 0;
  double left = 0, top = 0;
  double width() const { return left + cell_width * static_cast<double>(columns) + 2; }
  double height() const { return top + cell_height * static_cast<double>(rows) + 2; }
};

/// The share of full colour of a value, below 0 for the second colour.
double strength(const HeatMap& map, double value) {
  if (map.low < 0 && map.high > 0) {
    return std::clamp(value / std::max(-map.low, map.high), -1.0, 1.0);
  }
  if (!(map.high > map.low)) return 0;
  return std::clamp((value - map.low) / (map.high - map.low), 0.0, 1.0);
}

std::string cell_text(const HeatMap& map, double value) {
  const double span = std::max(std::fabs(map.low), std::fabs(map.high));
  if (!std::isfinite(value)) return "\xE2\x80\x93";
  if (value == 0) return "0";  // to be told from what is rounded to it
  if (span > 1e4) return tick_labels({value}).front();
  if (span <= 2) return fixed_text(value, 2);
  return fixed_text(value, span <= 20 ? 1 : 0);
}

/// The classes of a number on a cell: where the colour is strong it is white in light pages, and
/// dark in dark ones.
const char* ink_class(double share) {
  const double size = std::fabs(share);
  if (size < 0.62) return "value faint";
  return size < 0.88 ? "value middling" : "value strong";
}

/// A row's name; a long one in two lines where rows are high enough.
std::vector<std::string> row_name(const std::string& name, bool high) {
  const std::string text = short_text(name, high ? 2 * kRowName : kRowName);
  if (!high || length_of(text) <= kRowName) return {text};
  // At the space nearest to the middle; without one, cut.
  std::size_t best = std::string::npos;
  const auto off = [&](std::size_t at) { return std::max(at, text.size() - at); };
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    if (best == std::string::npos || off(at) < off(best)) best = at;
  }
  if (best == std::string::npos) return {short_text(name, kRowName)};
  return {text.substr(0, best), text.substr(best + 1)};
}

/// Letters of the longest line.
double longest(const std::vector<std::string>& lines) {
  std::int64_t most = 1;
  for (const std::string& line : lines) most = std::max(most, length_of(line));
  return static_cast<double>(most);
}

double value_at(const HeatMap& map, std::size_t row, std::size_t column) {
  const std::size_t at = row * map.columns.size() + column;
  return at < map.values.size() ? map.values[at] : std::nan("");
}

Layout layout_of(const HeatMap& map) {
  Layout layout;
  layout.rows = std::min(map.rows.size(), kHeatMapShown);
  layout.columns = std::min(map.columns.size(), kHeatMapShown);
  layout.printed = layout.rows <= kPrinted && layout.columns <= kPrinted;
  layout.cell_width = layout.columns <= 32 ? 18 : 13;
  layout.cell_height = layout.rows <= 32 ? 18 : 13;
  if (layout.printed) {
    double letters = 4;
    for (const double value : map.values) {
      letters = std::max(letters, static_cast<double>(length_of(cell_text(map, value))));
    }
    layout.cell_width = letters * kLetter + 6;
    layout.cell_height = 28;
  }
  std::vector<std::string> rows, columns;
  for (std::size_t i = 0; i < layout.rows; ++i) {
    for (const std::string& line : row_name(map.rows[i], layout.printed)) rows.push_back(line);
  }
  for (std::size_t i = 0; i < layout.columns; ++i) {
    columns.push_back(short_text(map.columns[i], kColumnName));
  }
  layout.left = longest(rows) * kLetter + 10;
  const double across = longest(columns) * kLetter;
  layout.upright = across > layout.cell_width - 2;
  layout.top = layout.upright ? across + 10 : 22;
  return layout;
}

std::string names_svg(const HeatMap& map, const Layout& layout) {
  std::string svg;
  for (std::size_t i = 0; i < layout.rows; ++i) {
    const double y = layout.top + (static_cast<double>(i) + 0.5) * layout.cell_height + 4;
    const std::vector<std::string> lines = row_name(map.rows[i], layout.printed);
    for (std::size_t j = 0; j < lines.size(); ++j) {
      const double up = lines.size() == 2 ? 6.5 - 13 * static_cast<double>(j) : 0;
      svg += text_svg("name end", pixels(layout.left - 8), y - up, lines[j]);
    }
  }
  for (std::size_t i = 0; i < layout.columns; ++i) {
    const double x = layout.left + (static_cast<double>(i) + 0.5) * layout.cell_width;
    const std::string name = short_text(map.columns[i], kColumnName);
    if (layout.upright) {
      svg += fmt::format(
          "<text class=\"name\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>",
          x + 4, layout.top - 7, escape_html(name));
    } else {
      svg += text_svg("name middle", pixels(x), layout.top - 8, name);
    }
  }
  return svg;
}

std::string cell_svg(const HeatMap& map, const Layout& layout, std::size_t row,
                     std::size_t column) {
  const double value = value_at(map, row, column);
  const double x = layout.left + static_cast<double>(column) * layout.cell_width;
  const double y = layout.top + static_cast<double>(row) * layout.cell_height;
  const double share = std::isfinite(value) ? strength(map, value) : 0;
  const std::string title =
      fmt::format("{}, {}\n{} {}", visible_text(map.rows[row]), visible_text(map.columns[column]),
                  number_text(value), map.unit);
  std::string svg =
      fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"",
                  !std::isfinite(value) ? "cell void" : (share < 0 ? "cell below" : "cell above"),
                  x, y, layout.cell_width - 1, layout.cell_height - 1);
  if (std::isfinite(value)) svg += fmt::format(" fill-opacity=\"{:.3g}\"", std::fabs(share));
  svg += "><title>" + escape_html(title) + "</title></rect>";
  if (!layout.printed) return svg;
  return svg + text_svg(ink_class(share), pixels(x + (layout.cell_width - 1) / 2),
                        y + layout.cell_height / 2 + 4, cell_text(map, value));
}

/// The scale from low to high, and what hatching means where there is some.
std::string scale_html(const HeatMap& map, const std::string& id) {
  const bool both = map.low < 0 && map.high > 0;
  const double middle = both ? -map.low / (map.high - map.low) : 0;
  std::string stops;
  for (const double at : {0.0, middle, 1.0}) {
    const double share = strength(map, map.low + at * (map.high - map.low));
    stops += fmt::format("<stop class=\"{}\" offset=\"{}\" stop-opacity=\"{:.3g}\"/>",
                         at < middle ? "below" : "above", percent(at), std::fabs(share));
    if (both && at == middle)
      stops = stops + "<stop class=\"above\" offset=\"" + percent(at) + "\" stop-opacity=\"0\"/>";
  }
  std::string html = fmt::format(
      "<p class=\"scale\"><span>{}</span><svg width=\"160\" height=\"12\" aria-hidden=\"true\">"
      "<defs><linearGradient id=\"{}-scale\">{}</linearGradient></defs><rect class=\"ramp\" "
      "x=\"0.5\" y=\"0.5\" width=\"159\" height=\"11\" fill=\"url(#{}-scale)\"/></svg>"
      "<span>{}</span> <span class=\"unit\">{}</span>",
      number_text(map.low), id, stops, id, number_text(map.high), text_html(map.unit));
  if (std::any_of(map.values.begin(), map.values.end(),
                  [](double v) { return !std::isfinite(v); })) {
    html +=
        "<span class=\"void-key\"><svg width=\"18\" height=\"12\" aria-hidden=\"true\"><rect "
        "class=\"cell void\" width=\"18\" height=\"12\"/></svg> undefined</span>";
  }
  return html + "</p>\n";
}

Table numbers_of(const HeatMap& map, const Layout& layout) {
  Table table;
  table.title = map.title;
  table.columns = {map.y_label.empty() ? " " : map.y_label};
  table.columns.insert(table.columns.end(), map.columns.begin(),
                       map.columns.begin() + static_cast<std::ptrdiff_t>(layout.columns));
  for (std::size_t i = 0; i < layout.rows; ++i) {
    std::vector<Cell> row = {map.rows[i]};
    for (std::size_t j = 0; j < layout.columns; ++j) row.emplace_back(value_at(map, i, j));
    table.rows.push_back(row);
  }
  return table;
}

std::string notes_html(const HeatMap& map, const Layout& layout) {
  std::string notes;
  if (!map.y_label.empty()) notes += "rows: " + text_html(map.y_label);
  if (!map.x_label.empty()) {
    notes += (notes.empty() ? "columns: " : "; columns: ") + text_html(map.x_label);
  }
  if (layout.rows < map.rows.size() || layout.columns < map.columns.size()) {
    notes += fmt::format("{}the first {} x {} of {} x {}; results.json holds all",
                         notes.empty() ? "" : "; ", layout.rows, layout.columns, map.rows.size(),
                         map.columns.size());
  }
  return notes.empty() ? notes : "<p class=\"note\">" + notes + "</p>\n";
}

}  // namespace

std::string heat_map_html(const HeatMap& map, const std::string& id) {
  if (map.rows.empty() || map.columns.empty()) {
    return figure_html(map.title, "heat", nothing_html("No map: it has no cells."));
  }
  const Layout layout = layout_of(map);
  std::string cells;
  for (std::size_t i = 0; i < layout.rows; ++i) {
    for (std::size_t j = 0; j < layout.columns; ++j) cells += cell_svg(map, layout, i, j);
  }
  const std::string name =
      escape_html(fmt::format("{}: {} of {} rows and {} columns", visible_text(map.title, 100),
                              map.unit, layout.rows, layout.columns));
  std::string body = notes_html(map, layout);
  body += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><svg id=\"{1}\" "
      "class=\"map\" width=\"{2:.0f}\" height=\"{3:.0f}\" role=\"img\" "
      "aria-label=\"{0}\">{4}{5}</svg></div>\n",
      name, id, layout.width(), layout.height(), cells, names_svg(map, layout));
  body += scale_html(map, id);
  return figure_html(map.title, layout.width() > kWide ? "heat wide" : "heat",
                     body + numbers_html(numbers_of(map, layout)));
}

}  // namespace lexirow::experiment
