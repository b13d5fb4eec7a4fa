#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "experiment/axis.h"
#include "experiment/html.h"
#include "experiment/picture_parts.h"

namespace lexirow::experiment {
namespace {

constexpr double kHeight = 250;                            // of the plot, in pixels
constexpr double kLineChartAround = 28 + 46;               // above and below it, as in report.css
constexpr double kUnits = 1000;                            // of the stretched coordinates along x
constexpr double kUsualWidth = 400, kLineChartLetter = 7;  // to guess what a name would cover
constexpr std::size_t kMarkersALine = 9;                   // about as many stand on a line
constexpr std::size_t kMostHits = 1500;                    // points with a tooltip of their own

/// A point of a line on the plot.
struct Place {
  double x = 0, y = 0;  ///< 0..1 from the left, pixels from the top
  std::size_t index = 0;
};

/// The finite values of a chart and the scales that hold them.
class Plot {
 public:
  explicit Plot(const LineChart& chart) : chart_(chart) {
    for (const Line& line : chart.lines) {
      for (std::size_t i = 0; i < size_of(line); ++i) add_point(line.x[i], line.y[i]);
    }
    const bool any = !xs_.empty();
    for (const Level& level : chart.levels) {
      if (any && can_stand(level.y, chart.log_y)) ys_.push_back(level.y);
    }
    if (!any) return;
    const auto [low, high] = std::minmax_element(ys_.begin(), ys_.end());
    const bool from_zero = !chart.log_y && *low > 0 && *low <= 0.5 * *high;
    x_.emplace(AxisWish{*xs_.begin(), *xs_.rbegin(), chart.log_x, false, 6,
                        std::vector<double>(xs_.begin(), xs_.end())});
    y_.emplace(AxisWish{from_zero ? 0 : *low, *high, chart.log_y, true, 6, {}});
  }

  static std::size_t size_of(const Line& line) { return std::min(line.x.size(), line.y.size()); }
  bool empty() const { return xs_.empty(); }
  std::size_t left_out() const { return left_out_; }
  const Axis& x() const { return *x_; }
  const Axis& y() const { return *y_; }
  double y_pixels(double value) const { return kHeight * (1 - y_->place(value)); }

  bool can_show(const Level& level) const { return can_stand(level.y, chart_.log_y); }

  /// The points of a line in runs without a gap.
  std::vector<std::vector<Place>> runs(const Line& line) const {
    std::vector<std::vector<Place>> runs(1);
    for (std::size_t i = 0; i < size_of(line); ++i) {
      if (can_stand(line.x[i], chart_.log_x) && can_stand(line.y[i], chart_.log_y)) {
        runs.back().push_back({x_->place(line.x[i]), y_pixels(line.y[i]), i});
      } else if (!runs.back().empty()) {
        runs.emplace_back();
      }
    }
    if (runs.back().empty()) runs.pop_back();
    return runs;
  }

 private:
  static bool can_stand(double value, bool logarithmic) {
    return std::isfinite(value) && (!logarithmic || value > 0);
  }
  void add_point(double x, double y) {
    if (can_stand(x, chart_.log_x) && can_stand(y, chart_.log_y)) {
      xs_.insert(x);
      ys_.push_back(y);
    } else if (std::isfinite(x) && std::isfinite(y)) {
      ++left_out_;
    }
  }

  const LineChart& chart_;
  std::set<double> xs_;
  std::vector<double> ys_;
  std::size_t left_out_ = 0;
  std::optional<Axis> x_, y_;
};

std::string axes_svg(const LineChart& chart, const Plot& plot, std::size_t letters) {
  std::string svg;
  for (const Tick& tick : plot.y().ticks()) {
    const double y = kHeight * (1 - tick.place);
    svg += line_svg("grid", "0", y, "100%", y) + text_svg("tick end", "-8", y + 4, tick.label);
  }
  for (const Tick& tick : plot.x().ticks()) {
    const std::string x = percent(tick.place);
    svg += line_svg("mark", x, kHeight, x, kHeight + 5) +
           text_svg("tick middle", x, kHeight + 19, tick.label);
  }
  svg += line_svg("base", "0", kHeight, "100%", kHeight);
  const double room = 12 + 7.5 * static_cast<double>(letters);
  svg += text_svg("label", pixels(-room), -14, visible_text(chart.y_label, 2 * kLabelLength));
  return svg + text_svg("label middle", "50%", kHeight + 40,
                        visible_text(chart.x_label, 2 * kLabelLength));
}

std::string curve_svg(const std::vector<std::vector<Place>>& runs) {
  std::string path;
  for (const std::vector<Place>& run : runs) {
    double last_x = -kUnits, last_y = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
      const double x = kUnits * run[i].x, y = run[i].y;
      const bool end = i == 0 || i + 1 == run.size();
      if (!end && std::fabs(x - last_x) < 0.5 && std::fabs(y - last_y) < 0.5) continue;
      path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x, y);
      last_x = x;
      last_y = y;
    }
  }
  return "<path class=\"curve\" d=\"" + path + "\"/>";
}

/// Markers here and there along a line, beginning further right for each line so that lines on top
/// of each other can still be told apart; and on points that no line reaches.
std::string markers_svg(const std::vector<std::vector<Place>>& runs, std::size_t series,
                        std::size_t points) {
  const std::size_t every = std::max<std::size_t>(1, points / kMarkersALine);
  std::string svg;
  for (const std::vector<Place>& run : runs) {
    for (const Place& place : run) {
      const bool lone = run.size() == 1;
      if (!lone && (place.index + every - series % every) % every != 0) continue;
      svg += marker_svg(series, percent(place.x), place.y);
    }
  }
  return svg;
}

std::string hits_svg(const LineChart& chart, const Line& line,
                     const std::vector<std::vector<Place>>& runs) {
  std::string svg;
  for (const std::vector<Place>& run : runs) {
    for (const Place& place : run) {
      const std::string title =
          fmt::format("{}\n{}: {}\n{}: {}", visible_text(line.name, 2 * kLabelLength),
                      visible_text(chart.x_label), number_text(line.x[place.index]),
                      visible_text(chart.y_label), number_text(line.y[place.index]));
      svg += fmt::format(
          "<circle class=\"hit\" cx=\"{}\" cy=\"{}\" r=\"7\"><title>{}</title></circle>",
          percent(place.x), pixels(place.y), escape_html(title));
    }
  }
  return svg;
}

/// The name of a level, on its line at one end of it.
struct LevelName {
  double y = 0;  ///< of its foot, in pixels
  bool right = true;
  double share = 0;  ///< of the plot's width
};

/// How bad a place is: points and lines that the name would cover; nothing when it cannot stand
/// there at all.
std::optional<std::size_t> cost_of(const LevelName& name, const LineChart& chart, const Plot& plot,
                                   const std::vector<Place>& places,
                                   const std::vector<LevelName>& taken) {
  if (name.y < 10 || name.y > kHeight - 4 || name.share > 1) return std::nullopt;
  for (const LevelName& other : taken) {
    const bool apart = other.right != name.right && other.share + name.share < 0.95;
    if (!apart && std::fabs(other.y - name.y) < 14) return std::nullopt;
  }
  const double middle = name.y - 4;
  auto cost =
      static_cast<std::size_t>(std::count_if(places.begin(), places.end(), [&](const Place& place) {
        return std::fabs(place.y - middle) < 11 &&
               (name.right ? place.x > 1 - name.share : place.x < name.share);
      }));
  for (const Level& level : chart.levels) {
    if (plot.can_show(level) && std::fabs(plot.y_pixels(level.y) - middle) < 7) cost += 5;
  }
  return cost;
}

/// The best of four places for the name of a level: left or right, above or below its line.
std::optional<LevelName> best_name(const LineChart& chart, const Plot& plot,
                                   const std::vector<Place>& places,
                                   const std::vector<LevelName>& taken, double line, double share) {
  std::optional<LevelName> best;
  std::size_t least = 0;
  for (const LevelName& name :
       {LevelName{line - 5, true, share}, LevelName{line - 5, false, share},
        LevelName{line + 14, true, share}, LevelName{line + 14, false, share}}) {
    const std::optional<std::size_t> cost = cost_of(name, chart, plot, places, taken);
    if (cost && (!best || *cost < least)) {
      best = name;
      least = *cost;
    }
  }
  return best;
}

/// Dashed lines with their names. False when one of them found no place, or was cut.
bool add_levels(const LineChart& chart, const Plot& plot, const std::vector<Place>& places,
                std::string& svg) {
  std::vector<LevelName> taken;
  bool all = true;
  for (std::size_t i = 0; i < chart.levels.size(); ++i) {
    const Level& level = chart.levels[i];
    if (!plot.can_show(level)) {
      all = false;
      continue;
    }
    const double line = plot.y_pixels(level.y);
    svg += line_svg(level_class(i), "0", line, "100%", line);
    const std::string text = short_text(level.name, kLabelLength) + " " + number_text(level.y);
    const double share = kLineChartLetter * static_cast<double>(length_of(text)) / kUsualWidth;
    const std::optional<LevelName> name = best_name(chart, plot, places, taken, line, share);
    all = all && name && length_of(level.name) <= kLabelLength;
    if (!name) continue;
    taken.push_back(*name);
    svg +=
        text_svg(name->right ? "haloed end" : "haloed", name->right ? "100%" : "4", name->y, text);
  }
  return all;
}

Table numbers_of(const LineChart& chart) {
  Table table;
  table.title = chart.title;
  table.columns = {chart.x_label};
  std::map<double, std::vector<Cell>> rows;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    table.columns.push_back(chart.lines[i].name);
    for (std::size_t j = 0; j < Plot::size_of(chart.lines[i]); ++j) {
      if (!std::isfinite(chart.lines[i].x[j])) continue;
      std::vector<Cell>& row = rows[chart.lines[i].x[j]];
      row.resize(chart.lines.size());
      row[i] = chart.lines[i].y[j];
    }
  }
  for (const auto& [x, cells] : rows) {
    std::vector<Cell> row = {x};
    row.insert(row.end(), cells.begin(), cells.end());
    table.rows.push_back(row);
  }
  return table;
}

std::string legend_of(const LineChart& chart, const Plot& plot, bool with_levels) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const bool empty = plot.runs(chart.lines[i]).empty();
    entries.push_back({fmt::format("<g class=\"{}\">{}{}</g>", series_class(i),
                                   line_svg("curve", "0", 7, "28", 7), marker_svg(i, "14", 7)),
                       chart.lines[i].name, empty ? "(no value)" : ""});
  }
  for (std::size_t i = 0; with_levels && i < chart.levels.size(); ++i) {
    entries.push_back(level_entry(chart.levels[i], i));
  }
  return legend_html(entries);
}

/// The points of a run and of the lines between them.
void add_places(const std::vector<Place>& run, std::vector<Place>& places) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    places.push_back(run[i]);
    if (i + 1 == run.size() || run.size() > 200) continue;
    const double dx = run[i + 1].x - run[i].x, dy = run[i + 1].y - run[i].y;
    const int steps = static_cast<int>(std::hypot(dx * kUsualWidth, dy) / 8);
    for (int step = 1; step < steps; ++step) {
      const double share = static_cast<double>(step) / steps;
      places.push_back({run[i].x + share * dx, run[i].y + share * dy, i});
    }
  }
}

std::string lines_svg(const LineChart& chart, const Plot& plot, std::vector<Place>& places) {
  std::string curves, markers, hits;
  std::size_t points = 0;
  for (const Line& line : chart.lines) points += Plot::size_of(line);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const auto runs = plot.runs(chart.lines[i]);
    const std::string group = "<g class=\"" + series_class(i) + "\">";
    curves += group + curve_svg(runs) + "</g>";
    markers += group + markers_svg(runs, i, Plot::size_of(chart.lines[i])) + "</g>";
    if (points <= kMostHits) hits += group + hits_svg(chart, chart.lines[i], runs) + "</g>";
    for (const auto& run : runs) add_places(run, places);
  }
  return fmt::format(
             "<svg class=\"stretched\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {1} {0}\" "
             "preserveAspectRatio=\"none\">{2}</svg>",
             kHeight, kUnits, curves) +
         markers + hits;
}

}  // namespace

std::string line_chart_html(const LineChart& chart, const std::string& id) {
  const Plot plot(chart);
  if (plot.empty()) {
    return figure_html(chart.title, "lines",
                       nothing_html("No curve: none of its values is a number that can be drawn."));
  }
  std::size_t letters = 2;
  for (const Tick& tick : plot.y().ticks()) {
    letters = std::max(letters, static_cast<std::size_t>(length_of(tick.label)));
  }
  std::vector<Place> places;
  const std::string lines = lines_svg(chart, plot, places);
  std::string levels;
  const bool named = add_levels(chart, plot, places, levels);
  const std::string name = fmt::format("{}: {} over {}", visible_text(chart.title, 100),
                                       visible_text(chart.y_label), visible_text(chart.x_label));
  std::string body = legend_of(chart, plot, !named);
  body += fmt::format(
      "<svg class=\"plot {}\" id=\"{}\" height=\"{}\" role=\"img\" "
      "aria-label=\"{}\">{}{}{}</svg>\n",
      left_room(letters), id, kHeight + kLineChartAround, escape_html(name),
      axes_svg(chart, plot, letters), lines, levels);
  if (plot.left_out() > 0) {
    body +=
        nothing_html(fmt::format("{} values that are not above 0 have no place on a "
                                 "logarithmic axis.",
                                 plot.left_out()));
  }
  return figure_html(chart.title, "lines", body + numbers_html(numbers_of(chart)));
}

}  // namespace lexirow::experiment
