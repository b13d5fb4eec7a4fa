#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "experiment/experiments.h"
#include "experiment/statistics.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kOverfitDim = 64;
constexpr std::int64_t kPointSteps = 25;  ///< between the points of a curve
constexpr std::int64_t kShownLength = 8;
constexpr std::int64_t kOverfitLabels = 512;  ///< of a step, whatever T is
/// Steps after which the lengths are compared: with enough of them any text is learned by heart.
constexpr std::int64_t kOverfitSteps = 400;
/// What rounding in float32 can take from a mean of some thousand losses.
constexpr double kOverfitRounding = 1e-5;

/// How much is trained.
struct Effort {
  explicit Effort(bool quick) : steps(quick ? kOverfitSteps : 1500), seeds(quick ? 2 : 5) {}
  std::int64_t steps, seeds;
};

/// Losses of one mixer at one T, a value a seed.
struct Losses {
  std::vector<double> values;  ///< after kOverfitSteps
  std::vector<double> later;   ///< after all steps
  double bigram = 0, unigram = 0;
  Line curve;
  double least() const { return *std::min_element(values.begin(), values.end()); }
  double most() const { return *std::max_element(values.begin(), values.end()); }
};

Losses train(const Setting& setting, const TextIds& text, const std::string& mixer,
             std::int64_t length) {
  const Effort effort(setting.quick);
  Losses losses;
  for (std::int64_t i = 0; i < effort.seeds; ++i) {
    Trial trial(setting.pool, text,
                trial_settings(mixer, length, kOverfitDim, kOverfitLabels / length, effort.steps,
                               setting.seed + static_cast<std::uint64_t>(i)));
    if (i == 0 && length == kShownLength) {
      losses.curve = trial.train_with_curve(mixer, effort.steps / kPointSteps);
      losses.values.push_back(losses.curve.y[kOverfitSteps / kPointSteps]);
    } else {
      trial.train_to(kOverfitSteps);
      losses.values.push_back(trial.loss());
    }
    trial.train_to(effort.steps);
    losses.later.push_back(trial.loss());
    const Entropies entropies = trial.entropies();
    losses.bigram = entropies.bigram;
    losses.unigram = entropies.unigram;
  }
  return losses;
}

/// One kind of token: curves at T 8, the mean's loss over T, and the current-token control.
class OverfitPart {
 public:
  OverfitPart(const Setting& setting, text::TokenizerKind kind, Outcome& outcome, Table& table)
      : setting_(setting), text_(encode_text(setting.text, kind)), outcome_(outcome) {
    none_ = train(setting, text_, "none", kShownLength);
    add_row(table, "none", kShownLength, none_);
    for (std::int64_t length : {4, 8, 16, 32, 64}) {
      means_.emplace_back(length, train(setting, text_, "mean", length));
      add_row(table, "mean", length, means_.back().second);
    }
    judge_none();
    draw();
  }

  const std::string& note() const { return text_.note; }
  /// Which pieces are short enough, as the figures have it.
  std::string reading() const {
    std::string below, not_below;
    for (const auto& [length, losses] : means_) {
      std::string& list = losses.most() < losses.bigram ? below : not_below;
      list += fmt::format("{}{}", list.empty() ? "T " : ", ", length);
    }
    return fmt::format("By {}, the mean is below it at {} and not at {}. ", text_.unit(),
                       below.empty() ? "no T" : below, not_below.empty() ? "any other" : not_below);
  }
  const Losses& mean(std::int64_t length) const {
    return std::find_if(means_.begin(), means_.end(),
                        [&](const auto& each) { return each.first == length; })
        ->second;
  }
  std::string name(std::int64_t length) const {
    return fmt::format("mean, {}, T {}", text_.unit(), length);
  }

 private:
  void add_row(Table& table, const std::string& mixer, std::int64_t length, const Losses& losses) {
    table.rows.push_back({text_.unit(), mixer, length, mean_of(losses.values), losses.least(),
                          losses.most(), losses.bigram, losses.unigram,
                          std::string(losses.most() < losses.bigram ? "yes" : "no"),
                          mean_of(losses.later)});
  }

  void judge_none() {
    outcome_.require(fmt::format("none, {}: least loss less the bigram entropy", text_.unit()),
                     none_.least() - none_.bigram, Relation::at_least, -kOverfitRounding);
  }

  void draw() {
    const Losses& shown = mean(kShownLength);
    const std::vector<Level> levels = {{"unigram entropy", shown.unigram},
                                       {"bigram entropy", shown.bigram}};
    outcome_.pictures.emplace_back(LineChart{
        fmt::format("By {}, T {}: learning the text by heart", text_.unit(), kShownLength),
        "step",
        "loss over every training pair, nats",
        false,
        false,
        {none_.curve, shown.curve},
        levels});
    Line line{"mean", {}, {}};
    for (const auto& [length, losses] : means_) {
      line.x.push_back(static_cast<double>(length));
      line.y.push_back(mean_of(losses.values));
    }
    outcome_.pictures.emplace_back(
        LineChart{fmt::format("By {}: longer pieces", text_.unit()),
                  "piece length T",
                  fmt::format("loss after {} steps, nats", kOverfitSteps),
                  true,
                  false,
                  {line},
                  {{"bigram entropy", shown.bigram}}});
  }

  const Setting& setting_;
  TextIds text_;
  Outcome& outcome_;
  Losses none_;
  std::vector<std::pair<std::int64_t, Losses>> means_;
};

}  // namespace

Outcome run_overfit(const Setting& setting) {
  Outcome outcome;
  const Effort effort(setting.quick);
  const std::string end = fmt::format("mean of the seeds after {} steps", effort.steps);
  Table table{"losses",
              fmt::format("Loss over every training pair after {} steps, nats", kOverfitSteps),
              {"tokens", "mixer", "piece length T", "mean of the seeds", "least", "most",
               "bigram entropy", "unigram entropy", "below the bigram entropy for every seed", end},
              {}};
  const OverfitPart characters(setting, text::TokenizerKind::character, outcome, table);
  const OverfitPart words(setting, text::TokenizerKind::word, outcome, table);
  for (std::int64_t length : {4, 8}) {
    outcome.require(characters.name(length) + ": most of the seeds' losses",
                    characters.mean(length).most(), Relation::less, characters.mean(length).bigram);
  }
  outcome.require(characters.name(64) + ": least of the seeds' losses", characters.mean(64).least(),
                  Relation::greater, characters.mean(64).bigram);
  outcome.require(words.name(8) + ": most of the seeds' losses", words.mean(8).most(),
                  Relation::less, words.mean(8).bigram);
  outcome.tables.push_back(std::move(table));
  outcome.method = fmt::format(
      "A model of the current token (none) and a causal mean (D {}) learn the text by heart: {} "
      "steps of {} labels, {} seeds, characters and words, pieces of T 4 to 64. They are judged "
      "after {} steps: with more and more of them longer pieces pass the bigram entropy too. "
      "Losses are over every training pair; the entropies are counted from those same pairs.{}",
      kOverfitDim, effort.steps, kOverfitLabels, effort.seeds, kOverfitSteps, characters.note());
  outcome.reading =
      "A current-token model can learn which token follows which, and no more: the bigram entropy "
      "is its floor. " +
      characters.reading() + words.reading() +
      "A mean of many rows dilutes the current one, the more the longer the piece.";
  return outcome;
}

}  // namespace lexirow::experiment
