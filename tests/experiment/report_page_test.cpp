#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "experiment/chart.h"
#include "experiment/odd_report.h"
#include "experiment/report.h"

namespace lexirow::experiment_test {
namespace {

using namespace experiment;

const OddReport& odd() {
  static const OddReport report;
  return report;
}

const std::string& page() {
  static const std::string html = report_html(odd().report());
  return html;
}

/// The page without its stylesheet.
std::string body_of(const std::string& html) {
  return html.substr(html.find("<body>"));
}

struct Tag {
  std::string name;
  bool closing = false, empty = false;
  std::map<std::string, std::string> attributes;
};

/// Reads the tags of a page that is written as strictly as XML: quoted attributes, no stray "<".
std::vector<Tag> tags_of(const std::string& html) {
  static const std::regex attribute("([a-zA-Z][a-zA-Z0-9-]*)=\"([^\"<>]*)\"");
  std::vector<Tag> tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    EXPECT_NE(end, std::string::npos);
    std::string inner = html.substr(at + 1, end - at - 1);
    Tag tag;
    tag.closing = inner.starts_with('/');
    tag.empty = inner.ends_with('/');
    if (tag.closing) inner.erase(0, 1);
    tag.name = inner.substr(0, inner.find_first_of(" /"));
    std::string rest = inner.substr(tag.name.size());
    for (std::sregex_iterator match(rest.begin(), rest.end(), attribute), none; match != none;
         ++match) {
      tag.attributes[(*match)[1]] = (*match)[2];
    }
    EXPECT_EQ(std::regex_replace(rest, attribute, "").find_first_not_of(" /"), std::string::npos)
        << inner;
    tags.push_back(tag);
  }
  return tags;
}

void add_numbers(const nlohmann::json& json, std::multiset<double>& numbers) {
  if (json.is_number()) numbers.insert(json.get<double>());
  if (json.is_structured()) {
    for (const auto& each : json) add_numbers(each, numbers);
  }
}

std::multiset<double> numbers_of_files(const Report& report) {
  std::multiset<double> numbers;
  add_numbers(nlohmann::json::parse(results_json(report)), numbers);
  add_numbers(nlohmann::json::parse(timings_json(report)), numbers);
  return numbers;
}

std::multiset<double> numbers_of_page(const std::string& html) {
  static const std::regex data("<data value=\"([^\"]*)\">");
  std::multiset<double> numbers;
  for (std::sregex_iterator match(html.begin(), html.end(), data), none; match != none; ++match) {
    numbers.insert(std::stod((*match)[1]));
  }
  return numbers;
}

TEST(ReportPage, IsWellFormedAndHasOnlyItsOwnElements) {
  const std::set<std::string> known = {"a",          "article",
                                       "bdi",        "body",
                                       "caption",    "circle",
                                       "code",       "data",
                                       "dd",         "defs",
                                       "details",    "div",
                                       "dl",         "dt",
                                       "figcaption", "figure",
                                       "footer",     "g",
                                       "h1",         "h2",
                                       "h3",         "header",
                                       "html",       "li",
                                       "line",       "linearGradient",
                                       "main",       "nav",
                                       "ol",         "p",
                                       "path",       "pattern",
                                       "pre",        "rect",
                                       "section",    "span",
                                       "stop",       "strong",
                                       "summary",    "svg",
                                       "table",      "tbody",
                                       "td",         "text",
                                       "th",         "thead",
                                       "title",      "tr",
                                       "ul",         "use"};
  std::vector<std::string> open;
  for (const Tag& tag : tags_of("<html>" + body_of(page()))) {
    ASSERT_TRUE(known.contains(tag.name)) << tag.name;
    for (const auto& [name, value] : tag.attributes) {
      EXPECT_FALSE(name.starts_with("on") || name == "style" || name == "src") << name;
      if (name == "href" || name == "fill") {
        EXPECT_TRUE(value.starts_with("#") || value.starts_with("url(#")) << value;
      }
    }
    if (tag.closing) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.name);
      open.pop_back();
    } else if (!tag.empty) {
      open.push_back(tag.name);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(ReportPage, AsksForNothingFromOutside) {
  EXPECT_EQ(page().find("<script"), std::string::npos);
  EXPECT_EQ(page().find("@import"), std::string::npos);
  const std::string head = page().substr(0, page().find("<body>"));
  EXPECT_NE(head.find("default-src 'none'; style-src 'sha256-"), std::string::npos);
  // The only address is the name space inside the icon.
  std::string rest = page();
  rest.replace(rest.find("http://www.w3.org/2000/svg"), 26, "");
  EXPECT_EQ(rest.find("://"), std::string::npos);
  EXPECT_LT(page().size(), 2'000'000u);
}

TEST(ReportPage, EveryIdIsUniqueAndEveryReferenceLeadsToOne) {
  std::set<std::string> ids, references;
  for (const Tag& tag : tags_of(body_of(page()))) {
    if (tag.attributes.contains("id")) {
      EXPECT_TRUE(ids.insert(tag.attributes.at("id")).second) << tag.attributes.at("id");
    }
    for (const auto& [name, value] : tag.attributes) {
      if (name == "aria-labelledby") references.insert(value);
      if (value.starts_with("#")) references.insert(value.substr(1));
      if (value.starts_with("url(#")) references.insert(value.substr(5, value.size() - 6));
    }
  }
  EXPECT_FALSE(references.empty());
  for (const std::string& reference : references) EXPECT_TRUE(ids.contains(reference)) << reference;
}

TEST(ReportPage, EveryNumberOfItsTablesStandsInTheFiles) {
  const std::multiset<double> files = numbers_of_files(odd().report());
  const std::multiset<double> numbers = numbers_of_page(page());
  EXPECT_GT(numbers.size(), 300u);
  for (const double number : numbers) EXPECT_TRUE(files.contains(number)) << number;
}

TEST(ReportPage, EveryNumberOfTheFilesStandsOnThePage) {
  // Every one of a small report is shown; large maps are cut.
  Outcome outcome;
  outcome.figures = {{"a", 0.1}, {"b", -1.5e-9}};
  outcome.require("c", 2.25, Relation::less, 3.5);
  outcome.tables.push_back({"t", "T", {"x", "y"}, {{std::int64_t{12345}, 6.75}}});
  outcome.pictures.emplace_back(
      LineChart{"L", "x", "y", false, false, {{"l", {10, 20}, {0.3, 0.4}}}, {{"level", 0.35}}});
  outcome.pictures.emplace_back(HeatMap{"H", "", "", {"r"}, {"c"}, {0.625}, -1, 1, "u"});
  outcome.pictures.emplace_back(BarChart{"B", "y", {"g"}, {"s", "z"}, {7.5, 8.5}, {{"m", 8.25}}});
  outcome.measured_tables.push_back({"m", "M", {"seconds"}, {{0.0078125}}});
  outcome.measured_pictures.emplace_back(
      LineChart{"N", "x", "s", false, false, {{"n", {1, 2}, {0.7, 0.8}}}, {}});
  const Experiment experiment{"small", "A claim.", nullptr};
  base::ThreadPool pool(1);
  const Setting setting{.pool = pool, .seed = 5, .text = "abcd"};
  const Report report{setting, "command", {{&experiment, outcome, "command", 0.125}}};
  const std::string html = report_html(report);
  const std::multiset<double> numbers = numbers_of_page(html);
  for (const double number : numbers_of_files(report)) {
    // The ends of a heat map's scale and a level that is named in the picture are no data elements.
    if (number == -1 || number == 1 || number == 0.35) continue;
    EXPECT_TRUE(numbers.contains(number)) << number;
  }
  EXPECT_NE(html.find("level 0.35"), std::string::npos);
}

TEST(ReportPage, SaysEveryVerdictInWords) {
  const std::string html = body_of(page());
  EXPECT_NE(html.find("1 of 5 claims hold, <strong>3 do not</strong>, 1 could not be tried"),
            std::string::npos);
  for (const Record& record : odd().report().records) {
    const std::string article = html.substr(html.find("<article id=\"" + record.experiment->name));
    const std::string header = article.substr(0, article.find("</header>"));
    const bool tried = record.outcome.error.empty();
    EXPECT_EQ(header.find("not tried") == std::string::npos, tried);
    EXPECT_EQ(header.find("does not hold") == std::string::npos, record.outcome.holds() || !tried);
  }
}

TEST(ReportPage, TextsStayTexts) {
  const std::string html = body_of(page());
  EXPECT_NE(html.find("&lt;img src=x onerror=alert(1)&gt;"), std::string::npos);
  EXPECT_NE(html.find("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
  EXPECT_NE(html.find("<span class=\"chip\">\\u202e</span>drow"), std::string::npos);
  EXPECT_EQ(html.find("\xE2\x80\xAE"), std::string::npos);
  EXPECT_EQ(html.find('\0'), std::string::npos);
  EXPECT_NE(html.find("(10000 characters)"), std::string::npos);
}

TEST(ReportPage, TheSameReportIsTheSamePage) {
  EXPECT_EQ(report_html(odd().report()), page());
}

TEST(ReportPage, PicturesWithoutValuesSaySo) {
  const auto html = [](const Picture& picture) { return picture_html(picture, "id"); };
  EXPECT_NE(html(LineChart{}).find("No curve"), std::string::npos);
  EXPECT_NE(html(HeatMap{}).find("No map"), std::string::npos);
  EXPECT_NE(html(BarChart{}).find("No bars"), std::string::npos);
  const double nan = std::nan("");
  EXPECT_NE(html(LineChart{"", "", "", false, false, {{"a", {1}, {nan}}}, {}}).find("No curve"),
            std::string::npos);
  // Lengths that do not fit: what is there is drawn.
  EXPECT_NE(html(LineChart{"", "", "", false, false, {{"a", {1, 2}, {3}}}, {}}).find("<path"),
            std::string::npos);
  EXPECT_NE(html(HeatMap{"", "", "", {"r"}, {"c"}, {}, 0, 1, ""}).find("undefined"),
            std::string::npos);
  EXPECT_NE(html(BarChart{"", "", {"g"}, {}, {}, {}}).find("undefined"), std::string::npos);
}

TEST(ReportPage, ALineBreaksAtAGap) {
  const double nan = std::nan("");
  const std::string html = picture_html(
      LineChart{"", "", "", false, false, {{"a", {0, 1, 2, 3, 4}, {1, 2, nan, 2, 1}}}, {}}, "id");
  static const std::regex path("class=\"curve\" d=\"([^\"]*)\"");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(html, match, path));
  const std::string d = match[1];
  EXPECT_EQ(std::count(d.begin(), d.end(), 'M'), 2);
  EXPECT_EQ(std::count(d.begin(), d.end(), 'L'), 2);
}

}  // namespace
}  // namespace lexirow::experiment_test
