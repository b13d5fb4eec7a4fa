#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "experiment/chart.h"
#include "experiment/html.h"
#include "experiment/report.h"
#include "experiment/report_style.h"
#include "experiment/table.h"
#include "experiment/tiny_text.h"
#include "lexirow/version.h"

namespace lexirow::experiment {
namespace {

constexpr const char* kIcon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath "
    "fill='%230b63b5' d='M1 2h14v3H1zm0 9h14v3H1z'/%3E%3Cpath fill='%23dd440c' d='M1 "
    "6.5h14v3H1z'/%3E%3C/svg%3E";

constexpr std::int64_t kProseLength = 20000;

/// The hash of the style as a content security policy spells it.
std::string base64_of_hex(const std::string& hex) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  // 3 bytes, 6 digits, become 4 letters.
  for (std::size_t at = 0; at < hex.size(); at += 6) {
    const std::string digits = hex.substr(at, 6);
    const std::size_t count = digits.size() / 2 + 1;
    std::uint32_t bits = static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16));
    bits <<= 4 * (6 - digits.size());
    for (std::size_t i = 0; i < 4; ++i) {
      text += i < count ? letters[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

std::string badge(const Outcome& outcome) {
  if (!outcome.error.empty()) {
    return "<span class=\"badge untried\"><span aria-hidden=\"true\">\xE2\x80\x93 </span>not tried"
           "</span>";
  }
  const bool holds = outcome.holds();
  return holds ? "<span class=\"badge holds\"><span aria-hidden=\"true\">\xE2\x9C\x93 </span>holds"
                 "</span>"
               : "<span class=\"badge fails\"><span aria-hidden=\"true\">\xE2\x9C\x97 </span>does "
                 "not hold</span>";
}

std::string relation_text(Relation relation) {
  switch (relation) {
    case Relation::at_most:
      return "\xE2\x89\xA4";
    case Relation::at_least:
      return "\xE2\x89\xA5";
    default:
      return escape_html(relation_sign(relation));
  }
}

std::string head_html(const Report& report) {
  const std::string title = report.records.size() == 1
                                ? "Lexirow experiment: " + report.records[0].experiment->name
                                : "Lexirow experiments";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<link rel=\"icon\" href=\"{}\">\n<style>{}</style>\n</head>\n",
      base64_of_hex(kReportStyleHash), escape_html(title), kIcon, kReportStyle);
}

/// A command whose lines break between its words only, and never inside "--quick".
std::string command_html(const std::string& command) {
  std::string html = "<code>";
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t end = std::min(command.find(' ', at), command.size());
    if (end > at) html += "<span>" + text_html(command.substr(at, end - at)) + "</span>";
    if (end < command.size()) html += ' ';
    at = end + 1;
  }
  return html + "</code>";
}

/// "19 of 21 claims hold, 1 does not, 1 could not be tried on this text."
std::string summary_html(const Report& report) {
  std::size_t held = 0, failed = 0, untried = 0;
  for (const Record& record : report.records) {
    ++(!record.outcome.error.empty() ? untried : record.outcome.holds() ? held : failed);
  }
  const std::size_t all = report.records.size();
  if (all == 1 && untried == 0) {
    return held == 1 ? "The claim <strong>holds</strong>."
                     : "The claim does <strong>not hold</strong>.";
  }
  if (held == all) return fmt::format("All {} claims <strong>hold</strong>.", all);
  std::string text = fmt::format("{} of {} claims hold", held, all);
  if (failed > 0) {
    text += fmt::format(", <strong>{} {} not</strong>", failed, failed == 1 ? "does" : "do");
  }
  if (untried > 0) text += fmt::format(", {} could not be tried on this text", untried);
  return text + ".";
}

std::string heading_html(const Report& report) {
  const Setting& setting = report.setting;
  const std::string text = setting.text == tiny_text() ? "built-in text of " : "a text of ";
  std::string html = fmt::format(
      "<header class=\"top\">\n<p class=\"kind\">Lexirow {}</p>\n<h1>Claims about token "
      "embeddings, tried"
      "</h1>\n<p class=\"summary\">{} Each verdict is computed from the "
      "figures shown, never assumed.</p>\n",
      kVersion, summary_html(report));
  html += fmt::format(
      "<dl class=\"facts\">\n<div><dt>Sizes</dt><dd>{}</dd></div>\n<div><dt>First seed</dt>"
      "<dd>{}</dd></div>\n<div><dt>Tiny corpus</dt><dd>{}{} bytes</dd></div>\n<div><dt>Time on "
      "this machine</dt><dd>{} s</dd></div>\n<div class=\"wide\"><dt>Run "
      "again</dt><dd>{}</dd></div>\n</dl>\n</header>\n",
      setting.quick ? "quick (<code>--quick</code>)" : "full",
      data_html(static_cast<std::int64_t>(setting.seed)), text,
      data_html(static_cast<std::int64_t>(setting.text.size())),
      data_html(total_seconds(report), fixed_text(total_seconds(report), 1)),
      command_html(report.command));
  return html;
}

std::string contents_html(const Report& report) {
  std::string html =
      "<nav class=\"contents\" id=\"contents\" aria-labelledby=\"verdicts\">\n<h2 "
      "class=\"eyebrow\" id=\"verdicts\">Claims and verdicts</h2>\n<ol>\n";
  for (const Record& record : report.records) {
    const std::string name = escape_html(record.experiment->name);
    html += fmt::format("<li><a href=\"#{0}\">{0}</a><p>{1}</p>{2}</li>\n", name,
                        text_html(record.experiment->claim), badge(record.outcome));
  }
  return html + "</ol>\n</nav>\n";
}

std::string conditions_html(const Outcome& outcome) {
  if (outcome.conditions.empty()) {
    return "<p class=\"nothing\">No condition was recorded, so the claim cannot hold.</p>\n";
  }
  std::string rows;
  for (const Condition& each : outcome.conditions) {
    const auto [figure, limit] = compared_texts(each.figure, each.limit);
    rows += fmt::format(
        "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">{}</th><td role=\"cell\" "
        "class=\"n\">{}</td><td role=\"cell\">{}</td><td role=\"cell\" class=\"n\">{}</td><td "
        "role=\"cell\" class=\"{}\">{}</td></tr>\n",
        text_html(each.text), data_html(each.figure, figure), relation_text(each.relation),
        data_html(each.limit, limit), each.holds() ? "holds" : "fails",
        each.holds() ? "\xE2\x9C\x93 yes" : "\xE2\x9C\x97 no");
  }
  // The roles are what they are anyway; narrow pages lay the rows out as grids, which would hide
  // it.
  return fmt::format(
      "<table role=\"table\" class=\"conditions\" aria-label=\"Conditions\">\n<thead "
      "role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\">Condition</th><th "
      "role=\"columnheader\" class=\"n\">Figure</th><th role=\"columnheader\"><span "
      "class=\"unseen\">Relation</span></th><th role=\"columnheader\" class=\"n\">Limit</th><th "
      "role=\"columnheader\">Met</th></tr></thead>\n<tbody "
      "role=\"rowgroup\">\n{}</tbody></table>\n",
      rows);
}

/// What an experiment found, in one table.
std::string figures_html(const Outcome& outcome) {
  if (outcome.figures.empty()) return {};
  Table table{"figures", "", {"Figure", "Value"}, {}};
  for (const Figure& figure : outcome.figures) table.rows.push_back({figure.name, figure.value});
  return table_html(table, false);
}

std::string tables_html(const std::string& first, const std::vector<Table>& tables) {
  std::string html = first;
  for (const Table& table : tables) html += table_html(table);
  return html.empty() ? html : "<div class=\"tables\">\n" + html + "</div>\n";
}

std::string pictures_html(const std::vector<Picture>& pictures, const std::string& prefix) {
  std::string html;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    html += picture_html(pictures[i], fmt::format("{}{}", prefix, i + 1));
  }
  return html.empty() ? html : "<div class=\"pictures\">\n" + html + "</div>\n";
}

std::string measured_html(const Record& record, const std::string& prefix) {
  const std::string seconds = data_html(record.seconds, fixed_text(record.seconds, 1));
  if (record.outcome.measured_tables.empty() && record.outcome.measured_pictures.empty()) {
    return "<p class=\"note\">Took " + seconds + " s on this machine.</p>\n";
  }
  return fmt::format(
      "<section class=\"measured\">\n<h3>On this machine</h3>\n<p>Times and memory measured while "
      "this ran; they differ elsewhere and no verdict depends on them. The experiment took {} "
      "s.</p>\n{}{}</section>\n",
      seconds, pictures_html(record.outcome.measured_pictures, prefix + "-measured-"),
      tables_html("", record.outcome.measured_tables));
}

/// Sentences with `commands` between backticks.
std::string prose_html(const std::string& text) {
  std::string html = text_html(text, kProseLength);
  for (std::size_t open = html.find('`'); open != std::string::npos; open = html.find('`', open)) {
    const std::size_t close = html.find('`', open + 1);
    if (close == std::string::npos) break;
    html.replace(close, 1, "</code>");
    html.replace(open, 1, "<code>");
  }
  return html;
}

std::string paragraph(const std::string& heading, const std::string& text) {
  if (text.empty()) return {};
  return "<h3>" + heading + "</h3>\n<p>" + prose_html(text) + "</p>\n";
}

std::string article_html(const Record& record, std::size_t number) {
  const Outcome& outcome = record.outcome;
  const std::string name = escape_html(record.experiment->name);
  const auto met =
      static_cast<std::size_t>(std::count_if(outcome.conditions.begin(), outcome.conditions.end(),
                                             [](const Condition& each) { return each.holds(); }));
  std::string html = fmt::format(
      "<article id=\"{0}\" aria-labelledby=\"{0}-title\">\n<header><h2 id=\"{0}-title\"><span "
      "class=\"number\">{1}</span> {0}</h2>{2}<a class=\"back\" href=\"#contents\">Contents</a>"
      "</header>\n<p class=\"claim\">{3}</p>\n",
      name, number, badge(outcome), text_html(record.experiment->claim));
  if (!outcome.error.empty()) {
    html += "<p><strong>Not tried:</strong> " + text_html(outcome.error) + "</p>\n";
    return html + "<h3>Run it again</h3>\n<pre>" + command_html(record.command) +
           "</pre>\n</article>\n";
  }
  html += pictures_html(outcome.pictures, name + "-picture-");
  html += paragraph("What the figures say", outcome.reading);
  html += fmt::format("<h3>Conditions: {} of {} met</h3>\n", met, outcome.conditions.size()) +
          conditions_html(outcome);
  const std::string tables = tables_html(figures_html(outcome), outcome.tables);
  if (!tables.empty()) html += "<h3>Figures</h3>\n" + tables;
  html += paragraph("How it was tried", outcome.method);
  html += "<h3>Run it again</h3>\n<pre>" + command_html(record.command) + "</pre>\n";
  return html + measured_html(record, name) + "</article>\n";
}

}  // namespace

std::string report_html(const Report& report) {
  std::string html = head_html(report) +
                     "<body>\n<a class=\"skip\" href=\"#experiments\">Skip to "
                     "the experiments</a>\n" +
                     picture_shapes_html() + heading_html(report) + contents_html(report) +
                     "<main id=\"experiments\">\n";
  for (std::size_t i = 0; i < report.records.size(); ++i) {
    html += article_html(report.records[i], i + 1);
  }
  return html +
         "</main>\n<footer class=\"end-note\"><p>Every number of this page stands unrounded in "
         "results.json beside it, those measured on this machine in timings.json. The same command "
         "with the same seed writes the same results.json.</p></footer>\n</body>\n</html>\n";
}

}  // namespace lexirow::experiment
