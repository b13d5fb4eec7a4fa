#include "experiment/report.h"

#include <nlohmann/json.hpp>

#include "lexirow/version.h"

namespace lexirow::experiment {
namespace {

using Json = nlohmann::ordered_json;

Json heading(const Report& report) {
  return {{"version", kVersion},
          {"command", report.command},
          {"quick", report.setting.quick},
          {"seed", report.setting.seed},
          {"text_bytes", report.setting.text.size()}};
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

double total_seconds(const Report& report) {
  double seconds = 0;
  for (const Record& record : report.records) seconds += record.seconds;
  return seconds;
}

std::string results_json(const Report& report) {
  Json json = heading(report);
  json["experiments"] = Json::array();
  for (const Record& record : report.records) {
    Json entry = {{"name", record.experiment->name},   {"claim", record.experiment->claim},
                  {"holds", record.outcome.holds()},   {"method", record.outcome.method},
                  {"reading", record.outcome.reading}, {"command", record.command}};
    if (!record.outcome.error.empty()) entry["error"] = record.outcome.error;
    entry.update(figures_to_json(record.outcome));
    json["experiments"].push_back(entry);
  }
  return text_of(json);
}

std::string timings_json(const Report& report) {
  Json json = heading(report);
  json["seconds"] = total_seconds(report);
  json["experiments"] = Json::array();
  for (const Record& record : report.records) {
    Json entry = {{"name", record.experiment->name}, {"seconds", record.seconds}};
    entry.update(measured_to_json(record.outcome));
    json["experiments"].push_back(entry);
  }
  return text_of(json);
}

}  // namespace lexirow::experiment
