#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
constexpr std::int64_t kBeats = 8;
constexpr int kBeatSteps = 200;
constexpr double kBeatsKnown = 0.1;
constexpr std::int64_t kSentenceLength = 16;
constexpr std::int64_t kMostSentences = 96;
constexpr int kSentenceSteps = 300;
/// What positions can take from the loss of a text whose pieces begin anywhere.
constexpr double kPlaceInText = 0.05;
constexpr double kPositionsRounding = 1e-5;
constexpr const char* kSchemes[] = {"none", "learned", "sinusoidal"};

std::string named(const char* mixer, std::string_view scheme) {
  return scheme == "none" ? std::string(mixer) : fmt::format("{}, {} positions", mixer, scheme);
}

train::Settings settings_of(const Setting& setting, const char* mixer, const char* scheme,
                            std::int64_t steps) {
  train::Settings settings =
      trial_settings(mixer, kPositionsLength, kPositionsDim, 32, steps, setting.seed);
  settings.positions = scheme;
  return settings;
}

/// Largest change of the last position's logits, over the largest logit, when the tokens before it
/// change their order.
double effect_of_order(Trial& trial, const TextIds& text) {
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

/// What each scheme changes for models of a text: what they know of order, and their losses.
void judge_text(const Setting& setting, const TextIds& text, std::int64_t steps, Outcome& outcome) {
  Table table{"text",
              "Models of the text: what reversing the history does to the next scores, and losses",
              {"model", "largest change over the largest score", "loss on its pieces, nats",
               "on pieces cut half a piece later, nats"},
              {}};
  TextIds cut_later;
  cut_later.ids.assign(
      text.ids.begin() + std::min<std::ptrdiff_t>(kPositionsLength / 2, std::ssize(text.ids)),
      text.ids.end());
  for (const char* mixer : {"mean", "concat:8"}) {
    const bool blind = std::string_view(mixer) == "mean";
    double without = 0;
    for (const char* scheme : kSchemes) {
      Trial trial(setting.pool, text, settings_of(setting, mixer, scheme, steps));
      trial.train_to(steps);
      const double effect = effect_of_order(trial, text);
      const std::string name = named(mixer, scheme);
      outcome.require(
          fmt::format("{}: change of the scores when the history is reversed, relative", name),
          effect, blind ? Relation::at_most : Relation::greater, kPositionsRounding);
      const double shifted = trial.loss_of(cut_later);
      table.rows.push_back({name, effect, trial.loss(), shifted});
      if (std::string_view(scheme) == "none") {
        without = shifted;
      } else {
        outcome.require(name + ": what they take from the loss of pieces cut elsewhere, nats",
                        without - shifted, Relation::less, kPlaceInText);
      }
    }
  }
  outcome.tables.push_back(std::move(table));
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

/// One token over and over, and behind each the number of the beat: nothing but its place tells it.
text::Batch beat_batch() {
  text::Batch batch;
  batch.rows = 1;
  batch.length = kBeats;
  batch.ids.assign(static_cast<std::size_t>(kBeats), 0);
  batch.mask.assign(batch.ids.size(), 1);
  for (Id beat = 1; beat <= kBeats; ++beat) batch.labels.push_back(beat);
  return batch;
}

model::ModelConfig small_config(const char* mixer, const char* scheme, std::int64_t vocab_size,
                                std::int64_t length) {
  model::ModelConfig config;
  config.vocab_size = vocab_size;
  config.dim = kPositionsDim;
  config.hidden = kPositionsDim;
  config.mixer = context::parse_mixer(mixer);
  config.positions = rows::parse_positions(scheme);
  if (config.positions != rows::Positions::none) config.max_positions = length;
  return config;
}

/// The loss of a model on one batch while it learns it.
Line learn_batch(BatchModel<float>& model, const text::Batch& batch, const std::string& name,
                 int steps) {
  const model::BatchView view{batch.ids_view(), batch.mask_view(), batch.labels_view()};
  Line line{name, {}, {}};
  for (int step = 0; step <= steps; ++step) {
    if (step % 20 == 0) {
      line.x.push_back(step);
      line.y.push_back(model.loss(view));
    }
    if (step < steps) model.step(view, 5e-3);
  }
  return line;
}

Line learn_pronouns(const Setting& setting, const char* mixer, const char* scheme) {
  BatchModel<float> model(setting.pool, small_config(mixer, scheme, kIt + 1, 4));
  model.draw(setting.seed);
  return learn_batch(model, pronoun_batch(), named(mixer, scheme), kPronounSteps);
}

/// Scores that a model of the current token and its position gives otherwise a whole piece later.
std::int64_t scores_that_differ_later(BatchModel<float>& model) {
  const std::vector<Id> ids(static_cast<std::size_t>(2 * kBeats), 0);
  model::BatchView view;
  view.ids = view.labels = {ids.data(), {1, 2 * kBeats}};
  const std::vector<float> logits = model.logits(view);
  const std::size_t half = logits.size() / 2;
  std::int64_t differ = 0;
  for (std::size_t i = 0; i < half; ++i) differ += logits[i] != logits[half + i];
  return differ;
}

/// Where in a piece a token stands: a model knows it from positions, or not at all.
void judge_beats(const Setting& setting, Outcome& outcome) {
  LineChart chart{
      "The number of the beat, told by its place alone", "step", "loss, nats", false, false, {},
      {{"ln 8", std::log(static_cast<double>(kBeats))}}};
  const double doubt = std::log(static_cast<double>(kBeats));
  for (const char* mixer : {"none", "mean"}) {
    for (const char* scheme : kSchemes) {
      BatchModel<float> model(setting.pool, small_config(mixer, scheme, kBeats + 1, kBeats));
      model.draw(setting.seed);
      const Line line = learn_batch(model, beat_batch(), named(mixer, scheme), kBeatSteps);
      if (std::string_view(scheme) == "none") {
        outcome.require(line.name + ": loss of the beat less ln 8, the doubt between eight",
                        line.y.back() - doubt, Relation::at_least, -kPositionsRounding);
      } else {
        outcome.require(line.name + ": loss of the beat", line.y.back(), Relation::less,
                        kBeatsKnown);
      }
      if (std::string_view(mixer) == "none") {
        outcome.require(line.name + ": scores that differ a whole piece later",
                        static_cast<double>(scores_that_differ_later(model)), Relation::equal, 0);
      }
      chart.lines.push_back(line);
    }
  }
  outcome.pictures.emplace_back(std::move(chart));
}

/// The first sentences of a text, each a document of its own: places in a piece are places in a
/// sentence. Fewer where the text has few.
text::Batch sentence_batch(const TextIds& text) {
  std::vector<std::int64_t> boundaries = {0};
  for (std::int64_t i = 0; i < text.size(); ++i) {
    const std::string token = text.tokenizer->token_bytes(text.ids[static_cast<std::size_t>(i)]);
    if (token == "." || token == "!" || token == "?" || token == "\n") boundaries.push_back(i + 1);
  }
  if (boundaries.back() != text.size()) boundaries.push_back(text.size());
  const text::MemoryTokenStream stream(text.ids, boundaries);
  const text::WindowPlan plan(stream, 0, stream.size(),
                              {.context = kSentenceLength, .stride = kSentenceLength, .carry = 0});
  std::vector<std::int64_t> windows(
      static_cast<std::size_t>(std::min(kMostSentences, plan.size())));
  std::iota(windows.begin(), windows.end(), 0);
  text::Batch batch;
  text::fill_batch(stream, plan, windows, batch);
  return batch;
}

/// Entropy of the labels given the current token, and where `placed` its place in the piece too.
double label_entropy(const text::Batch& batch, bool placed) {
  std::map<std::pair<Id, std::size_t>, std::map<Id, std::int64_t>> labels;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    if (batch.labels[i] == kIgnoredLabel) continue;
    const std::size_t place = placed ? i % static_cast<std::size_t>(batch.length) : 0;
    ++labels[{batch.ids[i], place}][batch.labels[i]];
  }
  double entropy = 0;
  for (const auto& [given, counts] : labels) {
    double all = 0;
    for (const auto& [label, count] : counts) all += static_cast<double>(count);
    for (const auto& [label, count] : counts) {
      const auto n = static_cast<double>(count);
      entropy -= n * std::log(n / all);
    }
  }
  return entropy / static_cast<double>(batch.counted);
}

/// Where pieces begin where sentences do, a place says what the token alone cannot.
void judge_sentences(const Setting& setting, const TextIds& text, Outcome& outcome) {
  const text::Batch batch = sentence_batch(text);
  if (batch.counted == 0) return;  // every sentence is one token
  const double bigram = label_entropy(batch, false);
  const double placed = label_entropy(batch, true);
  LineChart chart{"The next token of a sentence, from the current one alone",
                  "step",
                  "loss, nats",
                  false,
                  false,
                  {},
                  {{"entropy given the token", bigram}, {"given its place too", placed}}};
  outcome.figures.push_back({"sentences: entropy given the token, nats", bigram});
  outcome.figures.push_back({"sentences: entropy given the token and its place, nats", placed});
  if (bigram - placed < kPlaceInText) return;  // in these sentences a place says nothing
  for (const char* scheme : kSchemes) {
    BatchModel<float> model(setting.pool,
                            small_config("none", scheme, text.vocab_size(), kSentenceLength));
    model.draw(setting.seed);
    const Line line = learn_batch(model, batch, named("none", scheme), kSentenceSteps);
    const bool without = std::string_view(scheme) == "none";
    outcome.require(line.name + ": loss in sentences less the entropy given the token",
                    line.y.back() - bigram, without ? Relation::at_least : Relation::less,
                    without ? -kPositionsRounding : 0);
    if (!without) {
      outcome.require(line.name + ": loss in sentences less the entropy given its place too",
                      line.y.back() - placed, Relation::at_least, -kPositionsRounding);
    }
    chart.lines.push_back(line);
  }
  outcome.pictures.emplace_back(std::move(chart));
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
  LineChart chart{
      "Which of two nouns came last", "step", "loss behind \"it\", nats", false, false, {},
      {{"ln 2", std::numbers::ln2}}};
  for (const char* scheme : kSchemes) {
    const Line mean = learn_pronouns(setting, "mean", scheme);
    outcome.require(mean.name + ": loss behind \"it\" less ln 2, the doubt between two nouns",
                    mean.y.back() - std::numbers::ln2, Relation::at_least, -kPositionsRounding);
    chart.lines.push_back(mean);
  }
  const Line concat = learn_pronouns(setting, "concat:4", "none");
  outcome.require("concat:4: loss behind \"it\"", concat.y.back(), Relation::less,
                  std::numbers::ln2);
  chart.lines.push_back(concat);
  outcome.pictures.emplace_back(std::move(chart));
}

}  // namespace

Outcome run_positions(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_readably(setting.text);
  const std::int64_t steps = setting.quick ? 100 : 500;
  outcome.require("values of one id's row that differ between positions",
                  static_cast<double>(rows_that_differ(setting, text)), Relation::equal, 0);
  judge_text(setting, text, steps, outcome);
  judge_pronouns(setting, outcome);
  judge_beats(setting, outcome);
  judge_sentences(setting, text, outcome);
  outcome.method = fmt::format(
      "The commonest token is looked up at {0} positions. Models trained for {1} steps (T {0}, D "
      "{2}) score the token behind pieces of the text, and again with the history of each piece "
      "reversed; the same with positions from a table (learned) and from waves (sinusoidal). Then "
      "{3} "
      "nouns in sentences \"A then B it\": behind \"it\" stands the noun that came last; {4} steps "
      "over all pairs. Then one token {6} times over, and behind each the number of the beat; {7} "
      "steps. Then the first {8} sentences of the text, each a piece of its own of {9} tokens at "
      "most, and models of the current token; {10} steps. Positions begin anew after {6} tokens, "
      "so a whole piece later the scores of a model "
      "of "
      "the current token are the same.{5}",
      kPositionsLength, steps, kPositionsDim, kNouns, kPronounSteps, text.note, kBeats, kBeatSteps,
      kMostSentences, kSentenceLength, kSentenceSteps);
  outcome.reading =
      "A row does not know where it stands, and a mean does not know in which order it was "
      "summed. A pronoun that points to the later of two nouns costs such a model ln 2 nats for "
      "ever; rows side by side learn it at once. Positions do not help it: their sum is the same "
      "in "
      "any order. What they add is the place: which beat of eight a token is, which no row and no "
      "mean can tell, or how far a sentence has gone, which takes a model of the current token "
      "below "
      "the entropy that it cannot pass without. Learned rows and computed waves both do. In a text "
      "that is cut into pieces anywhere, a place says nothing.";
  return outcome;
}

}  // namespace lexirow::experiment
