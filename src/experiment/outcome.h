#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace lexirow::experiment {

/// A cell of a table: nothing (shown as a dash), a text, a whole number or a number.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

/// Figures that belong together, a row each. `name` is its key in results.json.
struct Table {
  std::string name;
  std::string title;
  std::vector<std::string> columns;  ///< with their units
  std::vector<std::vector<Cell>> rows;
};

/// One curve; a value that is not finite is a gap.
struct Line {
  std::string name;
  std::vector<double> x, y;
};

/// A horizontal line to compare with, such as an entropy.
struct Level {
  std::string name;
  double y = 0;
};

/// Curves over one axis. Labels carry the units.
struct LineChart {
  std::string title;
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Line> lines;
  std::vector<Level> levels;
};

/// A grid of coloured cells with a scale from `low` to `high`; a value that is not finite has no
/// colour.
struct HeatMap {
  std::string title;
  std::string x_label, y_label;  ///< may be empty
  std::vector<std::string> rows, columns;
  std::vector<double> values;  ///< [rows, columns]
  double low = -1, high = 1;
  std::string unit;  ///< what a value is, e.g. "cosine"
};

/// Bars in groups, one bar of each group a series.
struct BarChart {
  std::string title;
  std::string y_label;
  std::vector<std::string> groups, series;
  std::vector<double> values;  ///< [groups, series]
  std::vector<Level> levels;
};

using Picture = std::variant<LineChart, HeatMap, BarChart>;

enum class Relation { less, at_most, equal, at_least, greater };
/// "<", "<=", "=", ">=", ">".
std::string relation_sign(Relation relation);

/// One condition of a claim, judged from its figure and nothing else.
struct Condition {
  std::string text;  ///< what is compared, e.g. "mean, T 8: loss over the bigram entropy"
  double figure = 0;
  Relation relation = Relation::less;
  double limit = 0;
  /// A figure or limit that is not a number never holds.
  bool holds() const;
};

/// A named number of an experiment.
struct Figure {
  std::string name;
  double value = 0;
};

/// What one experiment found. Times and measured memory stand only in the `measured_` parts: they
/// go to timings.json and no condition may use them.
struct Outcome {
  std::string method;   ///< how the figures came about, with the sizes that were used
  std::string reading;  ///< what the figures say, one to three sentences; may be empty
  std::string error;    ///< why it could not be tried on this text; empty where it was
  std::vector<Figure> figures;
  std::vector<Condition> conditions;
  std::vector<Table> tables;
  std::vector<Picture> pictures;
  std::vector<Table> measured_tables;
  std::vector<Picture> measured_pictures;

  /// Records a figure and a condition on it.
  void require(const std::string& text, double figure, Relation relation, double limit);
  /// The verdict: every condition holds, and there is one at least.
  bool holds() const;
};

/// {"figures": {name: value}, "conditions": [], "tables": {name: [rows]}, "pictures": []}, numbers
/// that are not finite as null. The order is that of the outcome.
nlohmann::ordered_json figures_to_json(const Outcome& outcome);
/// {"tables", "pictures"} of what was measured.
nlohmann::ordered_json measured_to_json(const Outcome& outcome);

}  // namespace lexirow::experiment
