#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "experiment/experiments.h"
#include "experiment/tiny_text.h"

namespace lexirow::experiment {

/// One experiment with --quick, on two threads.
inline Outcome run_quick(const std::string& name, const std::string& text = tiny_text(),
                         std::uint64_t seed = 1) {
  base::ThreadPool pool(2);
  Setting setting{.pool = pool, .quick = true, .seed = seed, .text = text};
  return find_experiment(name).run(setting);
}

inline void expect_holds(const Outcome& outcome) {
  EXPECT_FALSE(outcome.conditions.empty());
  for (const Condition& each : outcome.conditions) {
    EXPECT_TRUE(each.holds()) << each.text << ": " << each.figure << ' '
                              << relation_sign(each.relation) << ' ' << each.limit;
  }
}

/// The figure of that name; a failure and NaN when there is none.
inline double figure_of(const Outcome& outcome, const std::string& name) {
  for (const Figure& figure : outcome.figures) {
    if (figure.name == name) return figure.value;
  }
  ADD_FAILURE() << "no figure " << name;
  return std::nan("");
}

/// The table of that name; a failure and an empty one when there is none.
inline Table table_of(const Outcome& outcome, const std::string& name) {
  for (const Table& table : outcome.tables) {
    if (table.name == name) return table;
  }
  ADD_FAILURE() << "no table " << name;
  return {};
}

/// The character text of the worked examples; empty where it is absent.
inline std::string lantern_bay() {
  std::ifstream file(LEXIROW_SHARED_DIR "/cases/lantern-bay.txt", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace lexirow::experiment
