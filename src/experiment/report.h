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
  double seconds = 0;   ///< of the whole experiment; goes to timings.json only
};

/// results.json: every number, the same bytes for the same command and seed on one type of CPU.
std::string results_json(const std::vector<Record>& records, const Setting& setting);
/// timings.json: times and measured memory of this machine.
std::string timings_json(const std::vector<Record>& records, const Setting& setting);
/// report.html: one file that asks for nothing from outside.
std::string report_html(const std::vector<Record>& records, const Setting& setting);

}  // namespace lexirow::experiment
