#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/outcome.h"

namespace lexirow::experiment {

/// Colours of series before they come again with another dash; shapes of markers likewise.
inline constexpr std::size_t kColours = 7;

/// "s3 d1": the classes of colour and dash of a series.
std::string series_class(std::size_t series);
/// The marker of a series at a place, "x" in any unit of SVG.
std::string marker_svg(std::size_t series, const std::string& x, double y,
                       const std::string& title = {});

/// "34.5%" of a share of 0..1.
std::string percent(double share);
/// A coordinate in pixels, without more digits than a screen has.
std::string pixels(double value);

/// <text> with its classes; `text` is plain.
std::string text_svg(std::string_view classes, const std::string& x, double y,
                     std::string_view text);
std::string line_svg(std::string_view classes, const std::string& x1, double y1,
                     const std::string& x2, double y2);

/// The class that leaves room at a side of the plot for labels of at most this many letters.
std::string left_room(std::size_t letters);
std::string right_room(std::size_t letters);

/// One entry of a legend: a sample and what it stands for.
struct LegendEntry {
  std::string sample;  ///< SVG of 28 x 14
  std::string name;    ///< plain
  std::string value;   ///< HTML, may be empty
};
std::string legend_html(const std::vector<LegendEntry>& entries);
/// The dashed line of a level with its name and value.
LegendEntry level_entry(const Level& level, std::size_t index);
/// The classes of a level's line.
std::string level_class(std::size_t index);

/// Numbers that a picture shows, as a table behind a line that opens it.
std::string numbers_html(const Table& table);

std::string line_chart_html(const LineChart& chart, const std::string& id);
std::string heat_map_html(const HeatMap& map, const std::string& id);
std::string bar_chart_html(const BarChart& chart, const std::string& id);

/// <figure> around a caption and what belongs to it.
std::string figure_html(const std::string& title, const std::string& kind, const std::string& body);
/// What stands in place of a picture with nothing to draw.
std::string nothing_html(const std::string& why);

}  // namespace lexirow::experiment
