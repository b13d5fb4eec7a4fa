#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "lexirow/error.h"
#include "measure/case.h"
#include "measure/machine.h"
#include "measure/zipf.h"

namespace lexirow::measure {
namespace {

TEST(Repeat, GivesTheMedianOfTheWorkAlone) {
  using namespace std::chrono_literals;
  int prepared = 0;
  int worked = 0;
  const Timing timing = repeat(
      0.05,
      [&] {
        ++worked;
        std::this_thread::sleep_for(2ms);
      },
      [&] {
        ++prepared;
        std::this_thread::sleep_for(20ms);
      });
  EXPECT_EQ(timing.repetitions, 5);
  EXPECT_EQ(worked, 6);  // the first one is not counted
  EXPECT_EQ(prepared, worked);
  EXPECT_GE(timing.seconds, 2e-3);
  EXPECT_LT(timing.seconds, 20e-3);
  EXPECT_GE(timing.spread, 0);
}

TEST(ZipfIds, ShareFallsWithTheRank) {
  const std::vector<Id> ids = zipf_ids(1000, 200000, 3);
  std::map<Id, int> counts;
  for (const Id id : ids) ++counts[id];
  EXPECT_GE(counts.begin()->first, 0);
  EXPECT_LT(counts.rbegin()->first, 1000);
  // The harmonic sum of 1000 is 7.485.
  EXPECT_NEAR(counts[0], 200000 / 7.485, 800);
  EXPECT_NEAR(counts[1], 200000 / 7.485 / 2, 600);
  EXPECT_NEAR(counts[9], 200000 / 7.485 / 10, 300);
  EXPECT_EQ(zipf_ids(1000, 50, 3), std::vector<Id>(ids.begin(), ids.begin() + 50));
  EXPECT_NE(zipf_ids(1000, 50, 4), std::vector<Id>(ids.begin(), ids.begin() + 50));
}

CaseSizes small_sizes() {
  CaseSizes sizes;
  sizes.vocab_size = 60;
  sizes.seconds = 0;
  sizes.settings.dim = 8;
  sizes.settings.hidden = 8;
  sizes.settings.batch = 3;
  sizes.settings.context = 5;
  sizes.settings.stride = 5;
  return sizes;
}

TEST(MeasureCase, EveryCaseOfTheListRuns) {
  base::ThreadPool pool(2);
  for (const CaseEntry& entry : case_list()) {
    if (entry.name == "tokenize") continue;
    SCOPED_TRACE(entry.name);
    const Measurement measurement = measure_case(pool, entry.name, small_sizes());
    EXPECT_GT(measurement.timing.seconds, 0);
    EXPECT_EQ(measurement.timing.repetitions, 5);
    EXPECT_EQ(measurement.tokens, entry.name == "generate" ? 1 : 15);
    EXPECT_GT(measurement.work, 0);
    EXPECT_DOUBLE_EQ(measurement.tokens_per_second(),
                     static_cast<double>(measurement.tokens) / measurement.timing.seconds);
  }
}

TEST(MeasureCase, CountsTheWorkOfTheSizes) {
  base::ThreadPool pool(1);
  EXPECT_EQ(measure_case(pool, "lookup", small_sizes()).work, 2 * 15 * 8 * 4);
  EXPECT_EQ(measure_case(pool, "mixer", small_sizes()).work, 15 * 5 * 8 * 4);
  EXPECT_EQ(measure_case(pool, "head", small_sizes()).work, 6 * 15 * 60 * 8);
  EXPECT_EQ(measure_case(pool, "step", small_sizes()).work, 6 * 15 * (60 * 8 + 2 * 8 * 8));
  EXPECT_EQ(measure_case(pool, "generate", small_sizes()).work, 4 * (60 * 8 + 2 * 8 * 8));
  // AdamW: value and two moments of every row read and written, 15 rows of gradients read.
  EXPECT_EQ(measure_case(pool, "optimizer", small_sizes()).work, (6 * 60 + 15) * 8 * 4);
  CaseSizes lazy = small_sizes();
  lazy.settings.row_updates = "lazy";
  EXPECT_EQ(measure_case(pool, "optimizer", lazy).work, 7 * 15 * 8 * 4);
}

TEST(MeasureCase, RefusesSizesByName) {
  base::ThreadPool pool(1);
  CaseSizes sizes = small_sizes();
  sizes.settings.dim = 0;
  try {
    measure_case(pool, "lookup", sizes);
    FAIL() << "a width of 0 was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--dim: got 0"), std::string::npos) << error.what();
  }
  EXPECT_THROW(measure_case(pool, "lookups", small_sizes()), Error);
}

TEST(Machine, RatesAreThoseOfAComputer) {
  base::ThreadPool pool(2);
  EXPECT_GT(copy_bandwidth(pool), 1e8);
  EXPECT_GT(matrix_rate(pool), 1e8);
}

}  // namespace
}  // namespace lexirow::measure
