#include "experiment/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiment/html.h"
#include "experiment/picture_parts.h"
#include "experiment/table.h"

namespace lexirow::experiment {
namespace {

/// Around the origin, about 9 pixels wide. A series keeps its shape in legend and picture, so that
/// colour is not all that tells it apart.
constexpr std::array<const char*, kColours> kMarkers = {
    "<circle id=\"m0\" r=\"4\"/>",
    "<path id=\"m1\" d=\"M-3.7-3.7h7.4v7.4h-7.4z\"/>",
    "<path id=\"m2\" d=\"M0-5 4.8 3.6h-9.6z\"/>",
    "<path id=\"m3\" d=\"M0-5.3 5.3 0 0 5.3-5.3 0z\"/>",
    "<path id=\"m4\" d=\"M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z\"/>",
    "<path id=\"m5\" d=\"M0 5-4.8-3.6h9.6z\"/>",
    "<circle id=\"m6\" r=\"3.2\" class=\"ring\"/>",
};

/// Over the bars of the second series and later ones; the first is plain.
constexpr std::array<const char*, 3> kHatches = {"M-2 2 2-2M0 8 8 0M6 10l4-4", "M0 4h8",
                                                 "M2 2h2v2h-2zM6 6h2v2h-2z"};

constexpr std::size_t kLevelDashes = 4;
constexpr std::size_t kMostLetters = 14;  // for which report.css leaves room

}  // namespace

std::string picture_shapes_html() {
  std::string svg = "<svg class=\"shapes\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>";
  for (const char* marker : kMarkers) svg += marker;
  for (std::size_t i = 0; i < kHatches.size(); ++i) {
    svg += fmt::format(
        "<pattern id=\"h{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><path "
        "class=\"hatch\" d=\"{}\"/></pattern>",
        i, kHatches[i]);
  }
  svg +=
      "<pattern id=\"hv\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path "
      "class=\"void-line\" d=\"M-1 1 1-1M0 6 6 0M5 7l2-2\"/></pattern>";
  return svg + "</defs></svg>\n";
}

std::string picture_html(const Picture& picture, const std::string& id) {
  struct Visitor {
    const std::string& id;
    std::string operator()(const LineChart& chart) const { return line_chart_html(chart, id); }
    std::string operator()(const HeatMap& map) const { return heat_map_html(map, id); }
    std::string operator()(const BarChart& chart) const { return bar_chart_html(chart, id); }
  };
  return std::visit(Visitor{id}, picture);
}

std::string series_class(std::size_t series) {
  return fmt::format("s{} d{}", series % kColours, series / kColours % 3);
}

std::string marker_svg(std::size_t series, const std::string& x, double y,
                       const std::string& title) {
  const std::string place =
      fmt::format("<use href=\"#m{}\" x=\"{}\" y=\"{}\"", series % kColours, x, pixels(y));
  if (title.empty()) return place + "/>";
  return place + "><title>" + escape_html(title) + "</title></use>";
}

std::string percent(double share) {
  return fmt::format("{:.4g}%", 100 * share);
}

std::string pixels(double value) {
  return fmt::format("{:.4g}", value);
}

std::string text_svg(std::string_view classes, const std::string& x, double y,
                     std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", classes, x, pixels(y),
                     escape_html(text));
}

std::string line_svg(std::string_view classes, const std::string& x1, double y1,
                     const std::string& x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>", classes, x1,
                     pixels(y1), x2, pixels(y2));
}

std::string left_room(std::size_t letters) {
  return fmt::format("left{}", std::min(letters, kMostLetters));
}

std::string right_room(std::size_t letters) {
  return fmt::format("right{}", std::min(letters, kMostLetters));
}

std::string legend_html(const std::vector<LegendEntry>& entries) {
  if (entries.empty()) return {};
  std::string html = "<ul class=\"legend\">";
  for (const LegendEntry& entry : entries) {
    html += fmt::format(
        "<li><svg class=\"key\" width=\"28\" height=\"14\" aria-hidden=\"true\">{}</svg>{}{}</li>",
        entry.sample, text_html(entry.name, 3 * kLabelLength),
        entry.value.empty() ? "" : " <span class=\"key-value\">" + entry.value + "</span>");
  }
  return html + "</ul>\n";
}

std::string level_class(std::size_t index) {
  return fmt::format("level v{}", index % kLevelDashes);
}

LegendEntry level_entry(const Level& level, std::size_t index) {
  return {line_svg(level_class(index), "0", 7, "28", 7), level.name, data_html(level.y)};
}

std::string numbers_html(const Table& table) {
  return "<details><summary>The numbers of this picture</summary>\n" + table_html(table) +
         "</details>\n";
}

std::string figure_html(const std::string& title, const std::string& kind,
                        const std::string& body) {
  return fmt::format("<figure class=\"picture {}\"><figcaption>{}</figcaption>\n{}</figure>\n",
                     kind, text_html(title), body);
}

std::string nothing_html(const std::string& why) {
  return "<p class=\"nothing\">" + escape_html(why) + "</p>\n";
}

}  // namespace lexirow::experiment
