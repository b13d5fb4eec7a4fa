#pragma once

#include "base/thread_pool.h"
#include "experiment/report.h"

namespace lexirow::experiment_test {

/// A report of made-up experiments: ordinary pictures of every kind, hostile texts, and values that
/// cannot be drawn.
class OddReport {
 public:
  OddReport();
  experiment::Report report() const { return {setting_, "lexirow experiment all", records_}; }

 private:
  void add(const std::string& name, const std::string& claim, experiment::Outcome outcome);

  mutable base::ThreadPool pool_{1};
  experiment::Setting setting_;
  std::vector<experiment::Experiment> experiments_;
  std::vector<experiment::Record> records_;
};

/// Tokens that try to break a page: markup, quotes, controls, direction marks, half a letter, and a
/// very long one.
std::vector<std::string> hostile_tokens();

}  // namespace lexirow::experiment_test
