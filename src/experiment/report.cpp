#include "experiment/report.h"

#include <nlohmann/json.hpp>

#include "lexirow/version.h"

namespace lexirow::experiment {
namespace {

using Json = nlohmann::ordered_json;

Json heading(const Setting& setting) {
  return {{"version", kVersion}, {"quick", setting.quick}, {"seed", setting.seed}};
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string results_json(const std::vector<Record>& records, const Setting& setting) {
  Json json = heading(setting);
  json["experiments"] = Json::array();
  for (const Record& record : records) {
    Json entry = {{"name", record.experiment->name},   {"claim", record.experiment->claim},
                  {"holds", record.outcome.holds()},   {"method", record.outcome.method},
                  {"reading", record.outcome.reading}, {"command", record.command}};
    if (!record.outcome.error.empty()) entry["error"] = record.outcome.error;
    entry.update(figures_to_json(record.outcome));
    json["experiments"].push_back(entry);
  }
  return text_of(json);
}

std::string timings_json(const std::vector<Record>& records, const Setting& setting) {
  Json json = heading(setting);
  json["experiments"] = Json::array();
  for (const Record& record : records) {
    Json entry = {{"name", record.experiment->name}, {"seconds", record.seconds}};
    entry.update(measured_to_json(record.outcome));
    json["experiments"].push_back(entry);
  }
  return text_of(json);
}

std::string report_html(const std::vector<Record>& records, const Setting&) {
  std::string html =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Lexirow</title>";
  for (const Record& record : records) html += "<h2>" + record.experiment->name + "</h2>";
  return html + "</html>\n";
}

}  // namespace lexirow::experiment
