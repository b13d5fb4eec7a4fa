#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"
#include "inspect/neighbours.h"
#include "lexirow/error.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kSameWordLength = 8;
constexpr std::int64_t kSameWordDim = 32;
constexpr std::int64_t kSameWordSteps = 200;
constexpr std::size_t kTokens = 8;

/// A token in two places, each with the same number of tokens before it, the nearest different.
struct Pair {
  Id id = kNoId;
  std::vector<Id> first, second;  ///< both end with the token
};

/// Pairs of the commonest tokens that have them.
std::vector<Pair> find_pairs(const TextIds& text) {
  const std::size_t before = std::min<std::size_t>(3, text.ids.size() / 4);
  std::vector<Pair> pairs;
  if (before == 0) return pairs;
  std::map<Id, std::vector<std::size_t>> places;
  for (std::size_t i = before; i < text.ids.size(); ++i) places[text.ids[i]].push_back(i);
  for (Id id : commonest_tokens(text, static_cast<std::size_t>(text.vocab_size()))) {
    const std::vector<std::size_t>& of_token = places[id];
    const auto other = std::find_if(of_token.begin(), of_token.end(), [&](std::size_t i) {
      return text.ids[i - 1] != text.ids[of_token.front() - 1];
    });
    if (other == of_token.end()) continue;
    const auto ending_at = [&](std::size_t end) {
      return std::vector<Id>(text.ids.begin() + static_cast<std::ptrdiff_t>(end - before),
                             text.ids.begin() + static_cast<std::ptrdiff_t>(end + 1));
    };
    pairs.push_back({id, ending_at(of_token.front()), ending_at(*other)});
    if (pairs.size() == kTokens) break;
  }
  return pairs;
}

std::string spell(const TextIds& text, const std::vector<Id>& ids) {
  std::string words;
  for (Id id : ids) {
    if (!words.empty()) words += ' ';
    words += text.spelling(id);
  }
  return words;
}

std::int64_t differing(const std::vector<float>& a, const std::vector<float>& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += !(a[i] == b[i]);
  return count;
}

inspect::Similarity compare(const std::vector<float>& a, const std::vector<float>& b) {
  const auto size = static_cast<std::int64_t>(a.size());
  return inspect::similarity(base::View1<const float>(a.data(), {size}),
                             base::View1<const float>(b.data(), {size}));
}

void judge(Outcome& outcome, const TextIds& text, const std::vector<Pair>& pairs, Trial& none,
           Trial& mean) {
  Table table{"pairs",
              "One token in two places",
              {"token", "first place", "second place", "none: cosine of the hidden states",
               "mean: cosine of the hidden states", "mean: distance of the hidden states"},
              {}};
  std::int64_t rows_differ = 0, none_differ = 0;
  double least_distance = std::numeric_limits<double>::infinity();
  for (const Pair& pair : pairs) {
    rows_differ += differing(mean.last_row(pair.first), mean.last_row(pair.second));
    const std::vector<float> none_first = none.last_hidden(pair.first);
    const std::vector<float> none_second = none.last_hidden(pair.second);
    none_differ += differing(none_first, none_second);
    const inspect::Similarity with_none = compare(none_first, none_second);
    const inspect::Similarity with_mean =
        compare(mean.last_hidden(pair.first), mean.last_hidden(pair.second));
    least_distance = std::min(least_distance, with_mean.euclidean);
    const auto cell = [](const std::optional<double>& cosine) {
      return cosine ? Cell(*cosine) : Cell(std::string("no direction"));
    };
    table.rows.push_back({text.spelling(pair.id), spell(text, pair.first), spell(text, pair.second),
                          cell(with_none.cosine), cell(with_mean.cosine), with_mean.euclidean});
  }
  outcome.figures.push_back({"tokens", static_cast<double>(pairs.size())});
  outcome.require("values of the token's row that differ between the places",
                  static_cast<double>(rows_differ), Relation::equal, 0);
  outcome.require("mixer none: values of the hidden states that differ",
                  static_cast<double>(none_differ), Relation::equal, 0);
  outcome.require("mixer mean: least distance of the hidden states", least_distance,
                  Relation::greater, 0);
  outcome.tables.push_back(std::move(table));
}

}  // namespace

Outcome run_same_word(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_readably(setting.text);
  const std::vector<Pair> pairs = find_pairs(text);
  if (pairs.empty()) {
    throw Error(ErrorKind::argument,
                "no token of the text stands in two places behind different tokens: give a longer "
                "text");
  }
  const std::int64_t steps = setting.quick ? kSameWordSteps : 4 * kSameWordSteps;
  const auto train = [&](const char* mixer) {
    auto trial = std::make_unique<Trial>(
        setting.pool, text,
        trial_settings(mixer, kSameWordLength, kSameWordDim, 32, steps, setting.seed));
    trial->train_to(steps);
    return trial;
  };
  judge(outcome, text, pairs, *train("none"), *train("mean"));
  outcome.method = fmt::format(
      "The commonest {} that stand behind different tokens in two places of the text are read "
      "there, each with {} tokens before it, by a model of the current token alone (none) and by a "
      "causal mean, both trained for {} steps (T {}, D {}). Compared are the row that the id picks "
      "and the hidden state that the head reads.{}",
      text.unit(), pairs.front().first.size() - 1, steps, kSameWordLength, kSameWordDim, text.note);
  outcome.reading =
      "A table knows one row for each token, wherever it stands. What a token means in its "
      "sentence is made by the mixer; without one the two places cannot be told apart.";
  return outcome;
}

}  // namespace lexirow::experiment
