#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "experiment/outcome.h"

namespace lexirow::experiment {

/// What a run of experiments is given.
struct Setting {
  base::ThreadPool& pool;
  bool quick = false;      ///< smaller sizes, so that all of them end within 3 minutes on 2 cores
  std::uint64_t seed = 1;  ///< the first of the seeds that are used
  std::string text;        ///< the tiny corpus
  std::vector<double> a = {1, 0}, b = {2, 0};  ///< the vectors of `directions`, 2 values each
};

/// One claim and how it is tried. The claim is one sentence for people who do not know the code.
struct Experiment {
  std::string name;
  std::string claim;
  Outcome (*run)(const Setting& setting);
};

/// Every experiment, in the order of the report: from the id to the model.
const std::vector<Experiment>& all_experiments();
/// Throws Error(argument) with the names when there is none of that name.
const Experiment& find_experiment(const std::string& name);

// One a file.
Outcome run_blocks(const Setting& setting);
Outcome run_capacity(const Setting& setting);
Outcome run_context(const Setting& setting);
Outcome run_coordinates(const Setting& setting);
Outcome run_counts(const Setting& setting);
Outcome run_directions(const Setting& setting);
Outcome run_ids(const Setting& setting);
Outcome run_leak(const Setting& setting);
Outcome run_no_future(const Setting& setting);
Outcome run_one_hot(const Setting& setting);
Outcome run_overfit(const Setting& setting);
Outcome run_padding(const Setting& setting);
Outcome run_positions(const Setting& setting);
Outcome run_rare_rows(const Setting& setting);
Outcome run_row_gradients(const Setting& setting);
Outcome run_same_word(const Setting& setting);
Outcome run_scatter(const Setting& setting);
Outcome run_similarity(const Setting& setting);
Outcome run_sizes(const Setting& setting);
Outcome run_tying(const Setting& setting);
Outcome run_width(const Setting& setting);

}  // namespace lexirow::experiment
