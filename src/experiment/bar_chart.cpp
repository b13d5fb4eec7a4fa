#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/axis.h"
#include "experiment/html.h"
#include "experiment/picture_parts.h"

namespace lexirow::experiment {
namespace {

// In pixels.
constexpr double kBar = 16, kBarGap = 3, kGroupGap = 14, kNameLine = 20;
constexpr double kBarChartAround = 8 + 46;  // above and below the plot, as in report.css
constexpr std::size_t kMostBars = 200;
constexpr std::int64_t kName = 36;        // letters of a group's name
constexpr std::int64_t kNameBeside = 11;  // letters of a name that still stands beside its bars

/// What is drawn of a chart: groups below each other, bars to the right.
struct Bars {
  const BarChart& chart;
  std::size_t series = 1;
  std::size_t groups = 0;
  bool beside = true;       ///< names stand left of the bars, else above them
  std::size_t letters = 2;  ///< of the longest name beside

  explicit Bars(const BarChart& bars) : chart(bars) {
    series = std::max<std::size_t>(1, chart.series.size());
    groups = std::min(chart.groups.size(), std::max<std::size_t>(1, kMostBars / series));
    for (std::size_t i = 0; i < groups; ++i) {
      const std::int64_t length = length_of(short_text(chart.groups[i], kName));
      beside = beside && length <= kNameBeside;
      letters = std::max(letters, static_cast<std::size_t>(length));
    }
    if (!beside) letters = 1;
  }
  double group_height() const {
    return (beside ? 0 : kNameLine) + static_cast<double>(series) * (kBar + kBarGap) +
           (series > 1 || !beside ? kGroupGap : kGroupGap / 2);
  }
  double height() const { return static_cast<double>(groups) * group_height(); }
  double value(std::size_t group, std::size_t at) const {
    const std::size_t index = group * series + at;
    return index < chart.values.size() ? chart.values[index] : std::nan("");
  }
};

Axis value_axis(const BarChart& chart) {
  AxisWish wish;
  const auto widen = [&](double value) {
    if (!std::isfinite(value)) return;
    wish.low = std::min(wish.low, value);
    wish.high = std::max(wish.high, value);
  };
  for (const double value : chart.values) widen(value);
  for (const Level& level : chart.levels) widen(level.y);
  if (wish.low == 0 && wish.high == 0) wish.high = 1;
  wish.most_ticks = 5;
  wish.round_ends = false;
  return Axis(wish);
}

std::string bar_svg(const Bars& bars, const Axis& axis, std::size_t group, std::size_t at,
                    const std::string& shown, double y) {
  const double value = bars.value(group, at);
  const double zero = axis.place(0);
  const double end = std::isfinite(value) ? axis.place(value) : zero;
  std::string svg = "<g class=\"" + series_class(at) + "\">";
  const std::string box =
      fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", percent(std::min(zero, end)),
                  pixels(y), percent(std::fabs(end - zero)), kBar);
  std::string title = visible_text(bars.chart.groups[group], 2 * kLabelLength);
  if (at < bars.chart.series.size()) {
    title += ", " + visible_text(bars.chart.series[at], 2 * kLabelLength);
  }
  title += fmt::format("\n{}: {}", visible_text(bars.chart.y_label), number_text(value));
  svg += "<rect class=\"bar\" " + box + "><title>" + escape_html(title) + "</title></rect>";
  if (at % 4 != 0)
    svg += fmt::format("<rect class=\"over\" {} fill=\"url(#h{})\"/>", box, at % 4 - 1);
  svg += "</g>";
  return svg + fmt::format("<text class=\"bar-value haloed\" x=\"{}\" y=\"{}\" dx=\"6\">{}</text>",
                           percent(std::max(zero, end)), pixels(y + kBar - 4), escape_html(shown));
}

/// What stands behind each bar.
std::vector<std::string> value_texts(const Bars& bars) {
  std::vector<double> values;
  for (std::size_t i = 0; i < bars.groups * bars.series; ++i) {
    values.push_back(bars.value(i / bars.series, i % bars.series));
  }
  return column_texts(values);
}

std::string groups_svg(const Bars& bars, const Axis& axis, const std::vector<std::string>& shown) {
  std::string svg;
  for (std::size_t i = 0; i < bars.groups; ++i) {
    double y = static_cast<double>(i) * bars.group_height();
    const std::string name = short_text(bars.chart.groups[i], kName);
    if (bars.beside) {
      const double middle = y + static_cast<double>(bars.series) * (kBar + kBarGap) / 2;
      svg += text_svg("name end", "-8", middle + 3, name);
    } else {
      svg += text_svg("name haloed", "0", y + 13, name);
      y += kNameLine;
    }
    for (std::size_t j = 0; j < bars.series; ++j) {
      svg += bar_svg(bars, axis, i, j, shown[i * bars.series + j], y);
      y += kBar + kBarGap;
    }
  }
  return svg;
}

std::string axis_svg(const Bars& bars, const Axis& axis) {
  const double bottom = bars.height();
  std::string svg;
  for (const Tick& tick : axis.ticks()) {
    const std::string x = percent(tick.place);
    svg += line_svg(tick.value == 0 ? "base" : "grid", x, 0, x, bottom) +
           text_svg("tick middle", x, bottom + 17, tick.label);
  }
  return svg + text_svg("label middle", "50%", bottom + 38,
                        visible_text(bars.chart.y_label, 2 * kLabelLength));
}

std::string legend_of(const Bars& bars) {
  std::vector<LegendEntry> entries;
  if (bars.chart.series.size() > 1 ||
      (bars.chart.series.size() == 1 && !bars.chart.levels.empty())) {
    for (std::size_t i = 0; i < bars.chart.series.size(); ++i) {
      std::string sample = "<rect class=\"bar\" x=\"4\" y=\"1\" width=\"20\" height=\"12\"/>";
      if (i % 4 != 0) {
        sample += fmt::format(
            "<rect x=\"4\" y=\"1\" width=\"20\" height=\"12\" fill=\"url(#h{})\"/>", i % 4 - 1);
      }
      entries.push_back(
          {"<g class=\"" + series_class(i) + "\">" + sample + "</g>", bars.chart.series[i], ""});
    }
  }
  for (std::size_t i = 0; i < bars.chart.levels.size(); ++i) {
    entries.push_back(level_entry(bars.chart.levels[i], i));
  }
  return legend_html(entries);
}

Table numbers_of(const Bars& bars) {
  Table table;
  table.title = bars.chart.title;
  table.columns = {" "};
  for (std::size_t i = 0; i < bars.series; ++i) {
    table.columns.push_back(i < bars.chart.series.size() && bars.series > 1 ? bars.chart.series[i]
                                                                            : bars.chart.y_label);
  }
  for (std::size_t i = 0; i < bars.groups; ++i) {
    std::vector<Cell> row = {bars.chart.groups[i]};
    for (std::size_t j = 0; j < bars.series; ++j) row.emplace_back(bars.value(i, j));
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace

std::string bar_chart_html(const BarChart& chart, const std::string& id) {
  const Bars bars(chart);
  if (bars.groups == 0)
    return figure_html(chart.title, "bars", nothing_html("No bars: no groups."));
  const Axis axis = value_axis(chart);
  std::string levels;
  for (std::size_t i = 0; i < chart.levels.size(); ++i) {
    if (!std::isfinite(chart.levels[i].y)) continue;
    const std::string x = percent(axis.place(chart.levels[i].y));
    levels += line_svg(level_class(i), x, 0, x, bars.height());
  }
  const std::vector<std::string> shown = value_texts(bars);
  std::int64_t longest = 1;
  for (const std::string& text : shown) longest = std::max(longest, length_of(text));
  const std::string name =
      fmt::format("{}: {}", visible_text(chart.title, 100), visible_text(chart.y_label));
  std::string body = legend_of(bars);
  body += fmt::format(
      "<svg class=\"plot across {} {}\" id=\"{}\" height=\"{}\" role=\"img\" "
      "aria-label=\"{}\">{}{}{}</svg>\n",
      left_room(bars.letters), right_room(static_cast<std::size_t>(longest)), id,
      pixels(bars.height() + kBarChartAround), escape_html(name), axis_svg(bars, axis),
      groups_svg(bars, axis, shown), levels);
  if (bars.groups < chart.groups.size()) {
    body += nothing_html(fmt::format("The first {} of {} groups; results.json holds all.",
                                     bars.groups, chart.groups.size()));
  }
  return figure_html(chart.title, "bars", body + numbers_html(numbers_of(bars)));
}

}  // namespace lexirow::experiment
