#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiment/batch_model.h"
#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kPositionsLength = 8;
constexpr std::int64_t kPositionsDim = 32;
constexpr Id kNouns = 8;
constexpr Id kThen = kNouns;
constexpr Id kIt = kNouns + 1;
constexpr int kPronounSteps = 400;
constexpr double kPositionsRounding = 1e-5;

/// Largest change of the last position's logits, over the largest logit, when the tokens before it
/// change their order.
double effect_of_order(const Setting& setting, const TextIds& text, const char* mixer,
                       std::int64_t steps) {
  Trial trial(setting.pool, text,
              trial_settings(mixer, kPositionsLength, kPositionsDim, 32, steps, setting.seed));
  trial.train_to(steps);
  const std::int64_t vocab_size = text.vocab_size();
  double change = 0, largest = 0;
  for (std::int64_t begin = 0; begin + kPositionsLength <= std::min<std::int64_t>(text.size(), 256);
       begin += kPositionsLength) {
    std::vector<Id> ids(text.ids.begin() + begin, text.ids.begin() + begin + kPositionsLength);
    const std::vector<float> before = trial.logits(ids);
    std::reverse(ids.begin(), ids.end() - 1);
    const std::vector<float> after = trial.logits(ids);
    for (std::size_t i = before.size() - static_cast<std::size_t>(vocab_size); i < before.size();
         ++i) {
      change = std::max(change, std::abs(static_cast<double>(before[i]) - double{after[i]}));
      largest = std::max(largest, std::abs(static_cast<double>(before[i])));
    }
  }
  return change / largest;
}

/// "A then B it" for all pairs of different nouns: behind "it" comes the noun that stood last.
text::Batch pronoun_batch() {
  text::Batch batch;
  batch.length = 4;
  for (Id first = 0; first < kNouns; ++first) {
    for (Id last = 0; last < kNouns; ++last) {
      if (first == last) continue;
      ++batch.rows;
      batch.ids.insert(batch.ids.end(), {first, kThen, last, kIt});
      batch.labels.insert(batch.labels.end(), {kIgnoredLabel, kIgnoredLabel, kIgnoredLabel, last});
    }
  }
  batch.mask.assign(batch.ids.size(), 1);
  return batch;
}

Line learn_pronouns(const Setting& setting, const char* mixer) {
  model::ModelConfig config;
  config.vocab_size = kIt + 1;
  config.dim = kPositionsDim;
  config.hidden = kPositionsDim;
  config.mixer = context::parse_mixer(mixer);
  BatchModel<float> model(setting.pool, config);
  model.draw(setting.seed);
  const text::Batch batch = pronoun_batch();
  const model::BatchView view{batch.ids_view(), batch.mask_view(), batch.labels_view()};
  Line line{mixer, {}, {}};
  for (int step = 0; step <= kPronounSteps; ++step) {
    if (step % 20 == 0) {
      line.x.push_back(step);
      line.y.push_back(model.loss(view));
    }
    if (step < kPronounSteps) model.step(view, 5e-3);
  }
  return line;
}

/// Values of the row of one id that differ between any two positions of one sequence.
std::int64_t rows_that_differ(const Setting& setting, const TextIds& text) {
  Trial trial(setting.pool, text,
              trial_settings("mean", kPositionsLength, kPositionsDim, 32, 1, setting.seed));
  const Id id = commonest_tokens(text, 1).front();
  const std::vector<float> rows = trial.rows(std::vector<Id>(kPositionsLength, id));
  std::int64_t differ = 0;
  for (std::size_t i = kPositionsDim; i < rows.size(); ++i)
    differ += rows[i] != rows[i - kPositionsDim];
  return differ;
}

void judge_pronouns(const Setting& setting, Outcome& outcome) {
  const Line mean = learn_pronouns(setting, "mean");
  const Line concat = learn_pronouns(setting, "concat:4");
  outcome.figures.push_back({"pronoun: loss of mean, nats", mean.y.back()});
  outcome.figures.push_back({"pronoun: loss of concat:4, nats", concat.y.back()});
  outcome.require("mean: loss behind \"it\" less ln 2, the doubt between two nouns",
                  mean.y.back() - std::numbers::ln2, Relation::at_least, -kPositionsRounding);
  outcome.require("concat:4: loss behind \"it\"", concat.y.back(), Relation::less,
                  std::numbers::ln2);
  outcome.pictures.emplace_back(LineChart{"Which of two nouns came last",
                                          "step",
                                          "loss behind \"it\", nats",
                                          false,
                                          false,
                                          {mean, concat},
                                          {{"ln 2", std::numbers::ln2}}});
}

}  // namespace

Outcome run_positions(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_readably(setting.text);
  const std::int64_t steps = setting.quick ? 100 : 500;
  outcome.require("values of one id's row that differ between positions",
                  static_cast<double>(rows_that_differ(setting, text)), Relation::equal, 0);
  Table table{"order",
              "What reversing the history does to the next scores",
              {"mixer", "largest change over the largest score"},
              {}};
  for (const char* mixer : {"mean", "concat:8"}) {
    const double effect = effect_of_order(setting, text, mixer, steps);
    const bool blind = std::string_view(mixer) == "mean";
    outcome.require(
        fmt::format("{}: change of the scores when the history is reversed, relative", mixer),
        effect, blind ? Relation::at_most : Relation::greater, kPositionsRounding);
    table.rows.push_back({std::string(mixer), effect});
  }
  outcome.tables.push_back(std::move(table));
  judge_pronouns(setting, outcome);
  outcome.method = fmt::format(
      "The commonest token is looked up at {0} positions. Models trained for {1} steps (T {0}, D "
      "{2}) score the token behind pieces of the text, and again with the history of each piece "
      "reversed. Then {3} nouns in sentences \"A then B it\": behind \"it\" stands the noun that "
      "came last; {4} steps over all pairs.{5}",
      kPositionsLength, steps, kPositionsDim, kNouns, kPronounSteps, text.note);
  outcome.reading =
      "A row does not know where it stands, and a mean does not know in which order it was "
      "summed. A pronoun that points to the later of two nouns costs such a model ln 2 nats for "
      "ever; rows side by side learn it at once.";
  return outcome;
}

}  // namespace lexirow::experiment
