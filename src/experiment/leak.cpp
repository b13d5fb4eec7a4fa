#include <fmt/format.h>

#include <cmath>
#include <map>
#include <span>

#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"
#include "generate/choose.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kLeakDim = 64;
constexpr std::int64_t kLeakBatch = 64;
constexpr std::int64_t kSampled = 48;  ///< tokens of a sample
constexpr double kTemperature = 0.7;
/// What rounding in float32 can take from a mean of some thousand losses.
constexpr double kLeakRounding = 1e-5;

/// One kind of token and the length of its pieces.
struct Part {
  text::TokenizerKind kind;
  std::int64_t length;
};

/// What became of one mixer.
struct Scores {
  double with_future = 0;
  double prefix_alone = 0;
  std::string sample;
};

/// Mean over the windows' labels of the entropy of the labels inside their own window: a vector
/// that is the same for all positions of a window cannot do better.
double window_label_entropy(const Trial& trial) {
  double sum = 0;
  std::int64_t labels = 0;
  std::vector<Id> ids;
  for (std::int64_t i = 0; i < trial.plan().size(); ++i) {
    const text::Window window = trial.plan().at(i);
    ids.resize(static_cast<std::size_t>(window.length + 1));
    trial.stream().read(window.begin, ids);
    std::map<Id, std::int64_t> counts;
    for (std::size_t t = 1; t < ids.size(); ++t) ++counts[ids[t]];
    for (const auto& [id, count] : counts) {
      const auto n = static_cast<double>(count);
      sum -= n * std::log(n / static_cast<double>(window.length));
    }
    labels += window.length;
  }
  return sum / static_cast<double>(labels);
}

/// Continues the text's beginning, each token drawn from what the tokens so far allow.
std::string sample(Trial& trial, const TextIds& text, std::int64_t length, std::uint64_t seed) {
  base::SplitMix random(seed);
  std::vector<Id> ids(text.ids.begin(),
                      text.ids.begin() + std::min<std::ptrdiff_t>(4, std::ssize(text.ids)));
  const std::int64_t vocab_size = trial.config().vocab_size;
  for (std::int64_t i = 0; i < kSampled; ++i) {
    const auto seen = std::min<std::ptrdiff_t>(length, std::ssize(ids));
    const std::vector<float> logits = trial.logits({ids.end() - seen, ids.end()});
    const std::span<const float> last(logits.end() - vocab_size, logits.end());
    ids.push_back(generate::choose(last, {}, {.temperature = kTemperature}, random));
  }
  return text.tokenizer->readable(ids);
}

Scores train(const Setting& setting, const TextIds& text, const Part& part, const char* mixer,
             double* entropy) {
  const std::int64_t steps = setting.quick ? 500 : 1500;
  Trial trial(setting.pool, text,
              trial_settings(mixer, part.length, kLeakDim, kLeakBatch, steps, setting.seed));
  trial.train_to(steps);
  if (entropy != nullptr) *entropy = window_label_entropy(trial);
  return {trial.loss(), trial.prefix_loss(), sample(trial, text, part.length, setting.seed)};
}

void judge_part(const Setting& setting, const Part& part, Outcome& outcome, Table& losses,
                Table& samples, BarChart& chart) {
  const TextIds text = encode_text(setting.text, part.kind);
  const std::string where = fmt::format("{}, T {}", text.unit(), part.length);
  const auto add = [&](const char* mixer, const Scores& cell, double honest) {
    losses.rows.push_back({where, std::string(mixer), cell.with_future, cell.prefix_alone,
                           std::string(cell.with_future < honest ? "yes" : "no"),
                           std::string(cell.prefix_alone > honest ? "yes" : "no")});
    samples.rows.push_back({where, std::string(mixer), cell.sample});
    chart.groups.push_back(fmt::format("{}, {}", mixer, text.unit()));
    chart.values.push_back(cell.with_future);
    chart.values.push_back(cell.prefix_alone);
  };
  const Scores mean = train(setting, text, part, "mean", nullptr);
  losses.rows.push_back({where, std::string("mean (honest)"), mean.with_future, mean.prefix_alone,
                         std::monostate{}, std::monostate{}});
  samples.rows.push_back({where, std::string("mean (honest)"), mean.sample});
  chart.groups.push_back(fmt::format("mean, {}", text.unit()));
  chart.values.push_back(mean.with_future);
  chart.values.push_back(mean.prefix_alone);
  double entropy = 0;
  const Scores full = train(setting, text, part, "full-mean", &entropy);
  const Scores centred = train(setting, text, part, "centred", nullptr);
  add("full-mean", full, mean.with_future);
  add("centred", centred, mean.with_future);
  outcome.figures.push_back({where + ": label entropy of a window", entropy});
  outcome.require(where + ": mean, loss from the prefix alone less the loss it was trained on",
                  std::abs(mean.prefix_alone - mean.with_future), Relation::at_most, kLeakRounding);
  outcome.require(where + ": full-mean, loss less the label entropy of a window",
                  full.with_future - entropy, Relation::at_least, -kLeakRounding);
  outcome.require(where + ": centred, loss with the future", centred.with_future, Relation::less,
                  centred.prefix_alone);
  outcome.require(where + ": centred, loss from the prefix alone", centred.prefix_alone,
                  Relation::greater, mean.prefix_alone);
}

}  // namespace

Outcome run_leak(const Setting& setting) {
  Outcome outcome;
  Table losses{
      "losses",
      "Loss over every training pair, nats a token",
      {"tokens", "mixer", "with what it reads", "from the prefix alone",
       "with the future better than the honest mean", "without it worse than the honest mean"},
      {}};
  Table samples{"samples", "What each writes, token by token", {"tokens", "mixer", "sample"}, {}};
  BarChart chart{"Loss with the future, and without it",
                 "loss, nats a token",
                 {},
                 {"with what it reads", "from the prefix alone"},
                 {},
                 {}};
  for (const Part& part :
       {Part{text::TokenizerKind::character, 16}, Part{text::TokenizerKind::word, 8}}) {
    judge_part(setting, part, outcome, losses, samples, chart);
  }
  outcome.tables = {losses, samples};
  outcome.pictures.emplace_back(chart);
  outcome.method = fmt::format(
      "Characters in pieces of 16 and words in pieces of 8 (D {}, {} steps of {} windows): the "
      "honest causal mean, full-mean (one mean of the whole piece for all its positions) and "
      "centred (mean of t-1, t and t+1). Each is scored as it was trained, and again with "
      "everything behind a position hidden, as it would have to predict in use.{}",
      kLeakDim, setting.quick ? 500 : 1500, kLeakBatch,
      encode_text(setting.text, text::TokenizerKind::character).note);
  outcome.reading =
      "A leak shows as soon as the future is hidden: the loss jumps, past that of an honest model. "
      "The training loss alone does not tell. One mean for a whole piece leaks little: all its "
      "positions share one prediction, which cannot be better than the mix of the piece's labels.";
  return outcome;
}

}  // namespace lexirow::experiment
