#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "experiment/experiments.h"
#include "inspect/neighbours.h"

namespace lexirow::experiment {
namespace {

using Vector = std::vector<double>;

// Rounding of a few operations in float64.
constexpr double kDirectionsRounding = 1e-12;

inspect::Similarity compare(const Vector& a, const Vector& b) {
  const auto view = [](const Vector& vector) {
    return base::View1<const double>(vector.data(), {static_cast<std::int64_t>(vector.size())});
  };
  return inspect::similarity(view(a), view(b));
}

Vector scaled(const Vector& vector, double factor) {
  // Adding 0 makes -0 a 0.
  return {factor * vector[0] + 0, factor * vector[1] + 0};
}

std::string text_of(const Vector& vector) {
  return fmt::format("({:g}, {:g})", vector[0], vector[1]);
}

bool is_zero(const Vector& vector) {
  return vector[0] == 0 && vector[1] == 0;
}

void add_row(Table& table, const std::string& what, const Vector& a, const Vector& b) {
  const inspect::Similarity s = compare(a, b);
  const Cell cosine = s.cosine ? Cell(*s.cosine) : Cell(std::monostate{});
  table.rows.push_back({what, text_of(a), text_of(b), s.norm_a, s.norm_b, s.dot, cosine,
                        s.euclidean, s.cosine ? Cell(std::monostate{}) : Cell(s.reason)});
}

/// What holds for any vector with a direction.
void require_directions(Outcome& outcome, Table& table, const Vector& a) {
  const Vector opposite = scaled(a, -1);
  const Vector turned = {0 - a[1], a[0]};
  add_row(table, "a vector and itself", a, a);
  add_row(table, "a vector and its opposite", a, opposite);
  add_row(table, "a vector and itself turned by a right angle", a, turned);
  outcome.require("a vector and itself: cosine", compare(a, a).cosine.value_or(0), Relation::equal,
                  1);
  outcome.require("a vector and its opposite: cosine", compare(a, opposite).cosine.value_or(0),
                  Relation::equal, -1);
  outcome.require("a vector and itself turned by a right angle: cosine",
                  compare(a, turned).cosine.value_or(1), Relation::equal, 0);
}

/// What a change of length does to two vectors with directions.
void require_lengths(Outcome& outcome, Table& table, const Vector& a, const Vector& b) {
  constexpr double kFactor = 10;
  const Vector longer = scaled(a, kFactor);
  const inspect::Similarity before = compare(a, b);
  const inspect::Similarity after = compare(longer, b);
  add_row(table, "a ten times as long, and b", longer, b);
  outcome.require("a ten times as long: change of the cosine",
                  std::abs(after.cosine.value_or(2) - before.cosine.value_or(-2)),
                  Relation::at_most, kDirectionsRounding);
  outcome.require("a ten times as long: dot over ten times the dot before, difference over lengths",
                  std::abs(after.dot - kFactor * before.dot) / (after.norm_a * after.norm_b),
                  Relation::at_most, kDirectionsRounding);
  const double sides = before.norm_a * before.norm_a + before.norm_b * before.norm_b;
  outcome.require("Euclidean squared against lengths squared less twice the dot, difference",
                  std::abs(before.euclidean * before.euclidean - (sides - 2 * before.dot)) / sides,
                  Relation::at_most, kDirectionsRounding);
}

LineChart picture(const Vector& a, const Vector& b) {
  LineChart chart{"The two vectors", "first value", "second value", false, false, {}, {}};
  chart.lines.push_back({"a " + text_of(a), {0, a[0]}, {0, a[1]}});
  chart.lines.push_back({"b " + text_of(b), {0, b[0]}, {0, b[1]}});
  chart.lines.push_back({"from a to b: the Euclidean distance", {a[0], b[0]}, {a[1], b[1]}});
  return chart;
}

std::string reading(const Vector& a, const Vector& b, const inspect::Similarity& s) {
  if (!s.cosine) {
    return fmt::format(
        "{} and {} have no cosine ({}). It is left out, never shown as 0 or as NaN; dot and "
        "distance are defined all the same.",
        text_of(a), text_of(b), s.reason);
  }
  return fmt::format(
      "Of {} and {} the dot is {:g}, the cosine {:g} and the Euclidean distance {:g}. Cosine asks "
      "only whether two vectors point the same way, the distance also how long they are, and the "
      "dot grows with both: which rows are similar depends on the measure.",
      text_of(a), text_of(b), s.dot, *s.cosine, s.euclidean);
}

}  // namespace

Outcome run_directions(const Setting& setting) {
  Outcome outcome;
  const Vector& a = setting.a;
  const Vector& b = setting.b;
  const Vector zero = {0, 0};
  const inspect::Similarity s = compare(a, b);
  outcome.figures = {{"dot", s.dot}, {"length of a", s.norm_a}, {"length of b", s.norm_b}};
  if (s.cosine) outcome.figures.push_back({"cosine", *s.cosine});
  outcome.figures.push_back({"Euclidean", s.euclidean});
  Table table{"pairs",
              "Pairs of vectors",
              {"pair", "first", "second", "length of first", "length of second", "dot", "cosine",
               "Euclidean", "why there is no cosine"},
              {}};
  add_row(table, "a and b", a, b);
  if (!is_zero(a) && !is_zero(b)) require_lengths(outcome, table, a, b);
  if (!is_zero(a) || !is_zero(b)) require_directions(outcome, table, is_zero(a) ? b : a);
  add_row(table, "a and zero", a, zero);
  outcome.require("the zero vector with a, b and itself: cosines that are given",
                  static_cast<double>(compare(a, zero).cosine.has_value() +
                                      compare(zero, b).cosine.has_value() +
                                      compare(zero, zero).cosine.has_value()),
                  Relation::equal, 0);
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(picture(a, b));
  outcome.method =
      "Dot, cosine and Euclidean distance of a and b, as given with --a and --b, and of vectors "
      "made "
      "from them, in float64.";
  outcome.reading = reading(a, b, s);
  return outcome;
}

}  // namespace lexirow::experiment
