#pragma once

#include <string>
#include <vector>

#include "experiment/experiments.h"
#include "experiment/outcome.h"

namespace lexirow::experiment {

/// One experiment that was run.
struct Record {
  const Experiment* experiment = nullptr;
  Outcome outcome;
  std::string command;  ///< repeats this one alone
  double seconds = 0;   ///< of the whole experiment; a measured figure
};

/// A run of experiments: what its three files are made from.
struct Report {
  const Setting& setting;
  std::string command;  ///< repeats the whole run
  std::vector<Record> records;
};

/// Of all experiments together.
double total_seconds(const Report& report);

/// results.json: every number, the same bytes for the same command and seed on one type of CPU.
std::string results_json(const Report& report);
/// timings.json: times and measured memory of this machine.
std::string timings_json(const Report& report);
/// report.html: one file that asks for nothing from outside and has no script. Every number in its
/// tables is one of results.json or timings.json.
std::string report_html(const Report& report);

}  // namespace lexirow::experiment
