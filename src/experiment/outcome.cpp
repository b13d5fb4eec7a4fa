#include "experiment/outcome.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace lexirow::experiment {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (double value : values) list.push_back(number(value));
  return list;
}

Json cell_to_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* value = std::get_if<double>(&cell)) return number(*value);
  return nullptr;
}

Json tables_to_json(const std::vector<Table>& tables) {
  Json object = Json::object();
  for (const Table& table : tables) {
    Json rows = Json::array();
    for (const std::vector<Cell>& cells : table.rows) {
      Json row = Json::object();
      for (std::size_t i = 0; i < cells.size(); ++i) row[table.columns[i]] = cell_to_json(cells[i]);
      rows.push_back(row);
    }
    object[table.name] = rows;
  }
  return object;
}

Json levels_to_json(const std::vector<Level>& levels) {
  Json object = Json::object();
  for (const Level& level : levels) object[level.name] = number(level.y);
  return object;
}

Json picture_to_json(const LineChart& chart) {
  Json lines = Json::array();
  for (const Line& line : chart.lines) {
    lines.push_back({{"name", line.name}, {"x", numbers(line.x)}, {"y", numbers(line.y)}});
  }
  return {{"title", chart.title},
          {"x", chart.x_label},
          {"y", chart.y_label},
          {"lines", lines},
          {"levels", levels_to_json(chart.levels)}};
}

Json picture_to_json(const HeatMap& map) {
  return {{"title", map.title}, {"low", number(map.low)}, {"high", number(map.high)},
          {"rows", map.rows},   {"columns", map.columns}, {"values", numbers(map.values)},
          {"unit", map.unit}};
}

Json picture_to_json(const BarChart& chart) {
  return {{"title", chart.title},
          {"y", chart.y_label},
          {"groups", chart.groups},
          {"series", chart.series},
          {"values", numbers(chart.values)},
          {"levels", levels_to_json(chart.levels)}};
}

Json pictures_to_json(const std::vector<Picture>& pictures) {
  Json list = Json::array();
  for (const Picture& picture : pictures) {
    list.push_back(std::visit([](const auto& each) { return picture_to_json(each); }, picture));
  }
  return list;
}

}  // namespace

std::string relation_sign(Relation relation) {
  switch (relation) {
    case Relation::less:
      return "<";
    case Relation::at_most:
      return "<=";
    case Relation::equal:
      return "=";
    case Relation::at_least:
      return ">=";
    case Relation::greater:
      return ">";
  }
  return "?";
}

bool Condition::holds() const {
  switch (relation) {
    case Relation::less:
      return figure < limit;
    case Relation::at_most:
      return figure <= limit;
    case Relation::equal:
      return figure == limit;
    case Relation::at_least:
      return figure >= limit;
    case Relation::greater:
      return figure > limit;
  }
  return false;
}

void Outcome::require(const std::string& text, double figure, Relation relation, double limit) {
  conditions.push_back({text, figure, relation, limit});
}

bool Outcome::holds() const {
  return !conditions.empty() && std::all_of(conditions.begin(), conditions.end(),
                                            [](const Condition& each) { return each.holds(); });
}

Json figures_to_json(const Outcome& outcome) {
  Json figures = Json::object();
  for (const Figure& figure : outcome.figures) figures[figure.name] = number(figure.value);
  Json conditions = Json::array();
  for (const Condition& each : outcome.conditions) {
    conditions.push_back({{"text", each.text},
                          {"figure", number(each.figure)},
                          {"relation", relation_sign(each.relation)},
                          {"limit", number(each.limit)},
                          {"holds", each.holds()}});
  }
  return {{"figures", figures},
          {"conditions", conditions},
          {"tables", tables_to_json(outcome.tables)},
          {"pictures", pictures_to_json(outcome.pictures)}};
}

Json measured_to_json(const Outcome& outcome) {
  return {{"tables", tables_to_json(outcome.measured_tables)},
          {"pictures", pictures_to_json(outcome.measured_pictures)}};
}

}  // namespace lexirow::experiment
