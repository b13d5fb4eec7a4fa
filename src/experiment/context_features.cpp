#include "experiment/context_features.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "experiment/statistics.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kDim = 32, kLength = 32, kBatch = 16;
constexpr std::int64_t kLeastHeldOut = 2 * kLength;  ///< tokens
constexpr const char* kCurrent = "none";
const std::vector<std::string> kFeatures = {kCurrent, "window:4", "decay:0.7:0.9", "mean"};

/// A mean of seeds with the half width of its 95 % interval.
struct Estimate {
  double mean = 0;
  double half = 0;
  double low() const { return mean - half; }
};

Estimate estimate_of(const std::vector<double>& values) {
  // 0.975 quantiles of Student's t for 1 to 4 degrees of freedom.
  constexpr double kQuantiles[] = {12.706, 4.303, 3.182, 2.776};
  Estimate result;
  result.mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const auto freedom = static_cast<double>(values.size() - 1);
  result.half = kQuantiles[values.size() - 2] *
                std::sqrt(squares / freedom / static_cast<double>(values.size()));
  return result;
}

/// The features joined, without the one at `left_out`; all where that is none of them.
std::string joined(std::size_t left_out) {
  std::string mixer;
  for (std::size_t i = 0; i < kFeatures.size(); ++i) {
    if (i != left_out) mixer += (mixer.empty() ? "" : "+") + kFeatures[i];
  }
  return mixer;
}

/// The text in two: what is trained on, and the tenth behind it.
struct Halves {
  TextIds train, held_out;
};

Halves split(TextIds text) {
  Halves halves;
  const auto cut = text.ids.begin() + text.size() * 9 / 10;
  halves.held_out.ids.assign(cut, text.ids.end());
  text.ids.erase(cut, text.ids.end());
  halves.train = std::move(text);
  return halves;
}

class Measurement {
 public:
  Measurement(const Setting& setting, const Halves& halves, std::int64_t steps, int seeds)
      : setting_(setting), halves_(halves), steps_(steps), seeds_(seeds) {}

  /// Held-out losses, one a seed.
  std::vector<double> losses(const std::string& mixer) const {
    std::vector<double> result;
    for (int i = 0; i < seeds_; ++i) {
      const auto seed = setting_.seed + static_cast<std::uint64_t>(i);
      Trial trial(setting_.pool, halves_.train,
                  trial_settings(mixer, kLength, kDim, kBatch, steps_, seed));
      trial.train_to(steps_);
      result.push_back(trial.loss_of(halves_.held_out));
    }
    return result;
  }

 private:
  const Setting& setting_;
  const Halves& halves_;
  std::int64_t steps_;
  int seeds_;
};

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] - b[i]);
  return result;
}

}  // namespace

void measure_features(const Setting& setting, Outcome& outcome) {
  const Halves halves = split(encode_text(setting.text, text::TokenizerKind::character));
  Table table{
      "features", "", {"mixer", "held-out loss, nats", "cost of leaving out, nats", "+-"}, {}};
  if (halves.held_out.size() < kLeastHeldOut) {
    table.title = "Features: the text is too short to hold a tenth of it out";
    outcome.tables.push_back(std::move(table));
    return;
  }
  const std::int64_t steps = setting.quick ? 300 : 1500;
  const int seeds = setting.quick ? 3 : 5;
  table.title = fmt::format(
      "What each feature is worth (characters, D {}, T {}, {} steps, {} seeds, the last tenth held "
      "out; +- is the 95 % interval over seeds)",
      kDim, kLength, steps, seeds);
  const Measurement measurement(setting, halves, steps, seeds);
  const std::vector<double> whole = measurement.losses(joined(kFeatures.size()));
  table.rows.push_back({joined(kFeatures.size()), mean_of(whole), {}, {}});
  BarChart chart{"Leaving a feature out costs", "nats a character", {}, {"cost"}, {}, {}};
  for (std::size_t i = 0; i < kFeatures.size(); ++i) {
    const std::vector<double> without = measurement.losses(joined(i));
    const Estimate cost = estimate_of(differences(without, whole));
    table.rows.push_back({"without " + kFeatures[i], mean_of(without), cost.mean, cost.half});
    chart.groups.push_back(kFeatures[i]);
    chart.values.push_back(cost.mean);
    outcome.figures.push_back({"cost without " + kFeatures[i], cost.mean});
    if (kFeatures[i] == kCurrent) {
      outcome.require("without the current row: least cost, 95 %", cost.low(), Relation::greater,
                      0);
    }
  }
  const std::vector<double> alone = measurement.losses(kCurrent);
  const Estimate gain = estimate_of(differences(alone, whole));
  table.rows.push_back({std::string(kCurrent) + " alone", mean_of(alone), gain.mean, gain.half});
  outcome.require("the current row alone: least cost, 95 %", gain.low(), Relation::greater, 0);
  outcome.tables.push_back(std::move(table));
  outcome.pictures.emplace_back(std::move(chart));
}

}  // namespace lexirow::experiment
