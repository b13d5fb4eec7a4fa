#include "experiment/experiments.h"

#include <fmt/format.h>

#include "lexirow/error.h"

namespace lexirow::experiment {

const std::vector<Experiment>& all_experiments() {
  static const std::vector<Experiment> experiments = {
      {"overfit",
       "A causal mean uses history: on short pieces of a tiny text it falls below the bigram "
       "entropy, which a model of the current token alone cannot pass.",
       run_overfit},
  };
  return experiments;
}

const Experiment& find_experiment(const std::string& name) {
  std::string names;
  for (const Experiment& each : all_experiments()) {
    if (each.name == name) return each;
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throw Error(ErrorKind::argument,
              fmt::format("there is no experiment \"{}\"; there are: {}, and all", name, names));
}

}  // namespace lexirow::experiment
