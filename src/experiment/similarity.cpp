#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "experiment/cosines.h"
#include "experiment/experiments.h"
#include "experiment/statistics.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"
#include "proof/examination.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kSimilarityLength = 8;
constexpr std::int64_t kSimilarityDim = 16;
constexpr std::size_t kSimilarityCompared = 60;
constexpr std::int64_t kLeastCount = 5;
constexpr std::size_t kSimilarityShown = 16;
constexpr std::size_t kNeighbours = 3;
constexpr double kShared = 0.5;
constexpr double kSimilaritySignificance = 0.01;

/// How much of what follows two tokens is the same, [n, n]: the sum over all tokens c of the
/// smaller of P(c | a) and P(c | b), from 0 (nothing) to 1 (all).
std::vector<double> shared_contexts(const TextIds& text, const std::vector<Id>& ids) {
  std::vector<std::map<Id, double>> following(static_cast<std::size_t>(text.vocab_size()));
  std::vector<double> totals(following.size());
  for (std::size_t i = 0; i + 1 < text.ids.size(); ++i) {
    ++following[static_cast<std::size_t>(text.ids[i])][text.ids[i + 1]];
    ++totals[static_cast<std::size_t>(text.ids[i])];
  }
  std::vector<double> shared;
  for (Id a : ids) {
    for (Id b : ids) {
      const auto& of_b = following[static_cast<std::size_t>(b)];
      double sum = 0;
      for (const auto& [next, count] : following[static_cast<std::size_t>(a)]) {
        const auto found = of_b.find(next);
        if (found == of_b.end()) continue;
        sum += std::min(count / totals[static_cast<std::size_t>(a)],
                        found->second / totals[static_cast<std::size_t>(b)]);
      }
      shared.push_back(sum);
    }
  }
  return shared;
}

/// The commonest tokens that occur often enough to have contexts.
std::vector<Id> choose_tokens(const TextIds& text) {
  const std::vector<std::int64_t> counts = count_tokens(text);
  std::vector<Id> ids = commonest_tokens(text, kSimilarityCompared);
  std::erase_if(ids, [&](Id id) { return counts[static_cast<std::size_t>(id)] < kLeastCount; });
  return ids;
}

/// Tokens that share contexts beside each other, for the picture: groups whose members share them
/// with the first, the groups of the commonest tokens first, up to four of a group.
std::vector<Id> choose_shown(const std::vector<Id>& ids, const std::vector<std::uint8_t>& marked) {
  constexpr std::size_t kOfGroup = 4;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto home = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return marked[group.front() * ids.size() + i] != 0;
    });
    if (home == groups.end()) {
      groups.push_back({i});
    } else {
      home->push_back(i);
    }
  }
  std::vector<Id> shown;
  for (const std::vector<std::size_t>& group : groups) {
    if (group.size() < 2) continue;
    for (std::size_t i = 0; i < std::min(kOfGroup, group.size()); ++i) {
      if (shown.size() < kSimilarityShown) shown.push_back(ids[group[i]]);
    }
  }
  return shown;
}

/// Mean share of each token's nearest by cosine that are among its nearest by distance.
double neighbour_overlap(const RowPairs& pairs) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::vector<std::size_t> by_cosine = nearest_by_cosine(pairs, i, kNeighbours);
    const std::vector<std::size_t> by_distance = nearest_by_distance(pairs, i, kNeighbours);
    if (by_cosine.empty()) continue;
    const auto both = std::count_if(by_cosine.begin(), by_cosine.end(), [&](std::size_t j) {
      return std::find(by_distance.begin(), by_distance.end(), j) != by_distance.end();
    });
    shares.push_back(static_cast<double>(both) / static_cast<double>(by_cosine.size()));
  }
  return mean_of(shares);
}

std::string spell(const TextIds& text, const RowPairs& pairs,
                  const std::vector<std::size_t>& places) {
  std::string words;
  for (std::size_t j : places) {
    if (!words.empty()) words += ' ';
    words += text.spelling(pairs.ids[j]);
  }
  return words;
}

Table neighbour_table(const TextIds& text, const RowPairs& pairs) {
  Table table{"neighbours",
              "Nearest tokens after training",
              {"token", "by cosine", "by Euclidean distance"},
              {}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    table.rows.push_back({text.spelling(pairs.ids[i]),
                          spell(text, pairs, nearest_by_cosine(pairs, i, kNeighbours)),
                          spell(text, pairs, nearest_by_distance(pairs, i, kNeighbours))});
  }
  return table;
}

/// Before or after training: the rows, and the test on their cosines.
struct Moment {
  RowPairs pairs;
  PairTest test;
  double overlap = 0;
};

Moment look(base::View2<const float> table, const std::vector<Id>& ids,
            const std::vector<std::uint8_t>& marked, const Setting& setting) {
  const int permutations = setting.quick ? 999 : 9999;
  Moment moment;
  moment.pairs = compare_rows(table, ids);
  moment.test =
      permutation_test(moment.pairs.cosines, marked, ids.size(), permutations, setting.seed);
  moment.overlap = neighbour_overlap(moment.pairs);
  return moment;
}

void compare_moments(Outcome& outcome, const Moment& before, const Moment& after) {
  Table table{"pairs",
              "Mean cosine of pairs of tokens",
              {"table", "pairs that share contexts", "other pairs", "difference", "p-value",
               "nearest by cosine that are nearest by distance, share"},
              {}};
  for (const Moment* moment : {&before, &after}) {
    const std::string when = moment == &before ? "before" : "after";
    const PairTest& test = moment->test;
    table.rows.push_back({when + " training", test.marked_mean, test.other_mean,
                          test.marked_mean - test.other_mean, test.p_value, moment->overlap});
    const std::vector<Figure> figures = {
        {when + " training: mean cosine of pairs that share contexts", test.marked_mean},
        {when + " training: mean cosine of other pairs", test.other_mean},
        {when + " training: p-value", test.p_value},
        {when + " training: overlap of cosine and Euclidean neighbours", moment->overlap}};
    outcome.figures.insert(outcome.figures.end(), figures.begin(), figures.end());
  }
  outcome.tables.push_back(std::move(table));
  outcome.require("after training: p-value of pairs that share contexts against other pairs",
                  after.test.p_value, Relation::at_most, kSimilaritySignificance);
  outcome.require("the difference of their mean cosines, after training less before",
                  (after.test.marked_mean - after.test.other_mean) -
                      (before.test.marked_mean - before.test.other_mean),
                  Relation::greater, 0);
  outcome.require("after training: nearest by cosine that are nearest by distance too, share",
                  after.overlap, Relation::less, 1);
}

/// Without pairs of both kinds there is nothing to compare.
void judge(Outcome& outcome, const Moment& before, const Moment& after) {
  const auto marked = static_cast<double>(after.test.marked_pairs);
  const auto others = static_cast<double>(after.test.other_pairs);
  outcome.figures = {{"pairs that share contexts", marked}, {"other pairs", others}};
  outcome.require("pairs of tokens that share contexts", marked, Relation::greater, 0);
  outcome.require("other pairs of tokens", others, Relation::greater, 0);
  if (marked > 0 && others > 0) compare_moments(outcome, before, after);
}

}  // namespace

Outcome run_similarity(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_readably(setting.text);
  const std::int64_t steps = setting.quick ? 1500 : 5000;
  const std::vector<Id> ids = choose_tokens(text);
  std::vector<std::uint8_t> marked;
  for (double shared : shared_contexts(text, ids)) marked.push_back(shared >= kShared);

  Trial trial(setting.pool, text,
              trial_settings("none", kSimilarityLength, kSimilarityDim, 32, steps, setting.seed));
  const model::Parameters<float> first = trial.parameters();
  trial.train_to(steps);
  model::Parameters<float> drawn(trial.config());
  model::initialize<float>(trial.config(), setting.seed, model::Init::torch, drawn);
  const Moment before = look(std::as_const(drawn).token_embedding(), ids, marked, setting);
  const Moment after =
      look(std::as_const(trial.parameters()).token_embedding(), ids, marked, setting);
  judge(outcome, before, after);
  outcome.require("the table drawn again: values that are not those training began with",
                  static_cast<double>(proof::differing_bits(first, drawn)), Relation::equal, 0);
  const std::vector<Id> shown = choose_shown(ids, marked);
  const auto show = [&](const char* title, base::View2<const float> table) {
    outcome.pictures.emplace_back(
        cosine_map(title, text, compare_rows(table, shown), kSimilarityShown));
  };
  if (!shown.empty()) {
    show("Before training", std::as_const(drawn).token_embedding());
    show("After training", std::as_const(trial.parameters()).token_embedding());
  }
  outcome.tables.push_back(neighbour_table(text, after.pairs));
  outcome.method = fmt::format(
      "Mixer none (D {}, {} steps, seed {}) is trained on the text, by {}. Of the {} commonest "
      "tokens "
      "that occur {} times or more, two share contexts when at least half of what follows them is "
      "the same; nothing of the model enters that. The table before training is drawn again from "
      "the seed. The p-value is that of a permutation test: the share of random exchanges of the "
      "tokens that set both kinds of pairs as far apart. The pictures show groups of tokens that "
      "share contexts with the first of the group. Nearest are {} tokens.{}",
      kSimilarityDim, steps, setting.seed, text.unit(), ids.size(), kLeastCount, kNeighbours,
      text.note);
  outcome.reading =
      outcome.holds()
          ? "Before training, cosines are chance. Training moves tokens that are followed by the "
            "same ones in the same direction, because they get the same gradients; nobody told the "
            "model what they mean. And similar depends on the measure: neighbours by cosine are "
            "not "
            "all neighbours by distance."
          : "This text, or so little training, does not show it: it needs tokens that occur often "
            "and are followed by the same ones.";
  return outcome;
}

}  // namespace lexirow::experiment
