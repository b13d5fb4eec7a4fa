#include "experiment/odd_report.h"

#include <cmath>
#include <limits>

namespace lexirow::experiment_test {
namespace {

using namespace experiment;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Line decay(const std::string& name, double from, double to, int points, double last) {
  Line line{name, {}, {}};
  for (int i = 0; i < points; ++i) {
    const double share = i / (points - 1.0);
    line.x.push_back(share * last);
    line.y.push_back(to + (from - to) * std::exp(-5 * share));
  }
  return line;
}

/// Ordinary tables, and what was measured.
void add_tables(Outcome& outcome) {
  const Line widths{"lookup", {100, 1000, 10000, 50257}, {2e-5, 2e-4, 2e-3, 1e-2}};
  Table table{"losses", "Losses after 400 steps", {"mixer", "T", "loss, nats", "seed"}, {}};
  for (std::int64_t i = 0; i < 20; ++i) {
    table.rows.push_back({i % 2 == 0 ? "mean" : "none", std::int64_t{4} << (i % 5),
                          1.2 + 0.0371 * double(i), i / 5});
  }
  outcome.tables.push_back(table);
  outcome.measured_tables.push_back(
      {"time",
       "Time of a call",
       {"rows", "lookup, us", "product, us"},
       {{std::int64_t{100}, 1.25, 18.5}, {std::int64_t{50257}, 1.5, 25000.0}}});
  outcome.measured_pictures.emplace_back(LineChart{
      "Time by size, as measured", "vocabulary, rows", "seconds", true, true, {widths}, {}});
}

Outcome ordinary() {
  Outcome outcome;
  outcome.method = "Every curve is made up: losses fall from 3.3 to their ends over 400 steps.";
  outcome.reading =
      "The mean falls below the bigram entropy and the current token alone does not. The picture "
      "is what one of an ordinary experiment looks like.";
  outcome.figures = {{"bigram entropy, nats", 1.6515034316138937},
                     {"largest difference", 4.3778e-10}};
  outcome.require("mean, characters, T 8: loss", 1.3267, Relation::less, 1.6515);
  outcome.require("none, characters, T 8: loss over the bigram entropy", 1.65151,
                  Relation::at_least, 1.65150);
  outcome.pictures.emplace_back(
      LineChart{"Characters, T 8",
                "step",
                "loss, nats a token",
                false,
                false,
                {decay("none", 3.3, 1.66, 26, 400), decay("mean", 3.3, 1.32, 26, 400)},
                {{"unigram entropy", 2.82}, {"bigram entropy", 1.6515}}});
  Line widths{"lookup", {100, 316, 1000, 3162, 10000, 50257}, {2e-5, 6e-5, 2e-4, 6e-4, 2e-3, 1e-2}};
  Line product{"product", widths.x, {1e-4, 1e-3, 1e-2, 0.1, 1, 25}};
  outcome.pictures.emplace_back(
      LineChart{"Time by size", "vocabulary, rows", "seconds", true, true, {widths, product}, {}});
  outcome.pictures.emplace_back(LineChart{"Loss by length",
                                          "T, tokens",
                                          "loss, nats a token",
                                          true,
                                          false,
                                          {{"mean", {4, 8, 16, 32, 64}, {1.1, 1.3, 1.5, 1.8, 2.1}},
                                           {"window:4", {4, 8, 16, 32, 64}, {1.1, 1.05, 1, 1, 1}}},
                                          {{"bigram entropy", 1.65}}});
  const std::vector<std::string> words = {"cat", "dog", "miller", "baker", "river", "heron"};
  HeatMap map{"Cosine after training", "", "", words, words, {}, -1, 1, "cosine"};
  for (int i = 0; i < 36; ++i) {
    map.values.push_back(i % 7 == 0 ? 1 : std::cos(i / 6 * 1.3 + i % 6 * 1.3));
  }
  outcome.pictures.emplace_back(map);
  outcome.pictures.emplace_back(BarChart{"Parameters",
                                         "parameters",
                                         {"tied", "untied"},
                                         {"table", "head"},
                                         {3216448, 0, 3216448, 3216448},
                                         {}});
  outcome.pictures.emplace_back(BarChart{"Movement of the pad row after 20 steps",
                                         "distance",
                                         {"neither mask, no pad id", "attention mask only",
                                          "label mask only", "both masks and a pad id"},
                                         {"left padding", "right padding"},
                                         {0.53, 0.61, 0.22, 0.18, 0.05, 0.04, 0, 0},
                                         {{"movement of an ordinary row", 0.7}}});
  add_tables(outcome);
  return outcome;
}

Outcome hostile() {
  Outcome outcome;
  const std::vector<std::string> tokens = hostile_tokens();
  outcome.method = "Texts that try to break out: </style></p><script>alert(1)</script>";
  outcome.reading = "A quote \" and an ampersand & stay as they are.";
  HeatMap map{"Tokens <b>", "columns\n", "", tokens, tokens, {}, -1, 1, "cosine & more"};
  for (std::size_t i = 0; i < tokens.size() * tokens.size(); ++i) {
    map.values.push_back(i % 5 == 0 ? kNan : std::sin(static_cast<double>(i)));
  }
  outcome.pictures.emplace_back(map);
  Table table{"tokens", "Tokens", {"token", "<count>"}, {}};
  LineChart chart{"Lines \"quoted\"", "x <1>", "y & z", false, false, {}, {}};
  BarChart bars{"Bars", "value", tokens, {}, {}, {}};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    table.rows.push_back({tokens[i], static_cast<std::int64_t>(i)});
    chart.lines.push_back(decay(tokens[i], 3, 0.2 * static_cast<double>(i), 6, 10));
    chart.levels.push_back({tokens[i], 0.1 * static_cast<double>(i)});
    bars.values.push_back(static_cast<double>(i) - 3);
  }
  outcome.tables.push_back(table);
  outcome.pictures.emplace_back(chart);
  outcome.pictures.emplace_back(bars);
  outcome.require(tokens[0], 1, Relation::less, kNan);
  outcome.figures = {{tokens[1], 3}};
  return outcome;
}

/// Pictures with many parts.
void add_large(Outcome& outcome) {
  LineChart many{"Many lines", "step", "loss", false, false, {}, {}};
  for (int i = 0; i < 24; ++i) {
    many.lines.push_back(decay("T " + std::to_string(i), 3, 0.1 * i, 40, 1000));
  }
  outcome.pictures.emplace_back(many);
  HeatMap large{"40 x 40", "", "", {}, {}, {}, 0, 1, "share"};
  for (int i = 0; i < 40; ++i) {
    large.rows.push_back("row " + std::to_string(i));
    large.columns.push_back("c" + std::to_string(i));
    for (int j = 0; j < 40; ++j) large.values.push_back(std::fabs(std::sin(0.1 * i * j)));
  }
  outcome.pictures.emplace_back(large);
  HeatMap full{"16 x 16", "", "", {}, {}, {}, -1, 1, "cosine"};
  for (int i = 0; i < 16; ++i) {
    full.rows.push_back("token" + std::to_string(i));
    full.columns.push_back("token" + std::to_string(i));
    for (int j = 0; j < 16; ++j) full.values.push_back(i == j ? 1 : std::sin(i + 0.7 * j));
  }
  outcome.pictures.emplace_back(full);
}

Outcome unusual() {
  Outcome outcome;
  outcome.tables = {{"empty", "A table without rows", {"a", "b"}, {}},
                    {"bare", "A table without columns", {}, {}},
                    {"odd", "Odd values", {"value", "of", "kind"}, {}}};
  for (const double value : {kNan, kInf, -kInf, 0.0, -0.0, 1e300, -1e-300, 123456789.25, 1e-5}) {
    outcome.tables[2].rows.push_back({value, value, std::string("double")});
  }
  outcome.tables[2].rows.push_back({std::int64_t{-1234567890123}, Cell{}, std::string("whole")});
  outcome.pictures.emplace_back(LineChart{"No lines", "x", "y", false, false, {}, {}});
  outcome.pictures.emplace_back(LineChart{
      "Only NaN", "x", "y", false, false, {{"nan", {1, 2}, {kNan, kNan}}}, {{"level", 1}}});
  outcome.pictures.emplace_back(
      LineChart{"One point", "x", "y", false, false, {{"point", {5}, {7}}}, {}});
  outcome.pictures.emplace_back(LineChart{"Gaps",
                                          "x",
                                          "y",
                                          false,
                                          false,
                                          {{"gaps", {0, 1, 2, 3, 4, 5}, {1, 2, kNan, 3, kInf, 5}}},
                                          {}});
  outcome.pictures.emplace_back(LineChart{"Zero on a logarithmic axis",
                                          "x",
                                          "y",
                                          true,
                                          true,
                                          {{"powers", {0, 1, 10, 100}, {1, 0, -1, 1000}}},
                                          {{"zero", 0}}});
  outcome.pictures.emplace_back(LineChart{"Huge and constant",
                                          "x",
                                          "y",
                                          false,
                                          false,
                                          {{"huge", {-1e308, 1e308}, {1e308, -1e308}}},
                                          {}});
  outcome.pictures.emplace_back(
      LineChart{"Constant", "x", "y", false, false, {{"same", {0, 1, 2}, {0.3, 0.3, 0.3}}}, {}});
  add_large(outcome);
  outcome.pictures.emplace_back(HeatMap{"Nothing", "", "", {}, {}, {}, 0, 0, ""});
  outcome.pictures.emplace_back(BarChart{"No bars", "y", {}, {}, {}, {}});
  outcome.pictures.emplace_back(
      BarChart{"Odd bars", "y", {"nan", "less", "more"}, {}, {kNan, -2, 1e9}, {{"a level", 5e8}}});
  return outcome;
}

}  // namespace

std::vector<std::string> hostile_tokens() {
  return {"<img src=x onerror=alert(1)>",
          "\" onfocus=\"alert(1)\" autofocus=\"",
          "</script><script>alert(1)</script>",
          "</style><style>*{display:none}",
          std::string("nul\0nul", 7),
          "\xE2\x80\xAE"
          "drow",                              // right-to-left override
          "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",  // a right-to-left word
          "\t",
          " ",
          "",
          "\xE2\x82",  // two bytes of three
          std::string(10000, 'w')};
}

OddReport::OddReport() : setting_{.pool = pool_, .quick = true, .seed = 7, .text = "abcd"} {
  experiments_.reserve(5);
  add("ordinary", "What an ordinary experiment looks like.", ordinary());
  add("hostile", "Texts that <i>try</i> to break the page stay texts & nothing else.", hostile());
  add("unusual", "Values that cannot be drawn leave gaps, and say so.", unusual());
  Outcome untried;
  untried.error = "the text has 4 tokens, <at least> 9 are needed";
  add("untried", "What cannot be tried has no verdict.", untried);
  add("bare", "An experiment that found nothing does not hold.", {});
}

void OddReport::add(const std::string& name, const std::string& claim, Outcome outcome) {
  experiments_.push_back({name, claim, nullptr});
  records_.push_back({&experiments_.back(), std::move(outcome), "lexirow experiment " + name, 1.5});
}

}  // namespace lexirow::experiment_test
