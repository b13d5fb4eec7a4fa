#include "inspect/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "model/network.h"
#include "support/expect_error.h"
#include "text/vocabulary.h"

namespace lexirow::inspect {
namespace {

using lexirow::testing::expect_error;
using Vector = std::vector<double>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Characters a to k and a line end, ids in code point order: '\n' is 0, a is 1.
std::shared_ptr<const text::Tokenizer> letters(bool pad = false) {
  text::VocabularyOptions options;
  options.pad = pad;
  text::VocabularyBuilder builder(options);
  builder.push("abcdefghijk\n");
  builder.end_file();
  text::VocabularyReport report;
  return builder.build(report);
}

store::ModelFolder make_folder(const std::string& mixer, std::int64_t hidden = 5, bool tied = false,
                               bool skip = false, bool pad = false) {
  store::ModelFolder folder;
  folder.tokenizer = letters(pad);
  folder.config.vocab_size = folder.tokenizer->vocab_size();
  folder.config.dim = 4;
  folder.config.mixer = context::parse_mixer(mixer);
  folder.config.hidden = hidden;
  folder.config.tied = tied;
  folder.config.skip = skip;
  folder.config.bias = !tied;
  folder.config.pad_id = folder.tokenizer->specials().pad;
  model::validate(folder.config);
  model::initialize(folder.config, 11, model::Init::torch, folder.parameters);
  return folder;
}

std::vector<text::Piece> pieces_of(const store::ModelFolder& folder, const std::string& text) {
  std::vector<text::Piece> pieces;
  text::EncodeCounts counts;
  folder.tokenizer->encode_pieces(text, {}, pieces, counts);
  return pieces;
}

Walk run(const store::ModelFolder& folder, const std::string& text,
         const WalkOptions& options = {}) {
  base::ThreadPool pool(1);
  return walk(pool, folder, pieces_of(folder, text), options);
}

/// The way by hand, in double and without the model's code: what the documentation says.
struct ByHand {
  Vector weights, context, hidden, logits;
};

Vector affine(base::View2<const float> weight, base::View1<const float> bias, const Vector& x) {
  Vector out;
  for (std::int64_t o = 0; o < weight.extent(0); ++o) {
    double sum = bias.present() ? bias[o] : 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += weight[o][static_cast<int>(i)] * x[i];
    out.push_back(sum);
  }
  return out;
}

/// Positions that a mixer reads from p, whatever is visible.
std::vector<int> read_from(const std::string& mixer, int p, int count) {
  int begin = 0;
  int end = p + 1;
  if (mixer == "none") begin = p;
  if (mixer == "window:3" || mixer == "concat:3") begin = std::max(0, p - 2);
  if (mixer == "full-mean") end = count;
  if (mixer == "centred") {
    begin = std::max(0, p - 1);
    end = std::min(count, p + 2);
  }
  std::vector<int> positions;
  for (int t = begin; t < end; ++t) positions.push_back(t);
  return positions;
}

ByHand by_hand(const store::ModelFolder& folder, const std::vector<Id>& ids,
               const std::vector<int>& without, int p) {
  const model::ModelConfig& config = folder.config;
  const int dim = static_cast<int>(config.dim);
  const int count = static_cast<int>(ids.size());
  const base::View2<const float> table = folder.parameters.token_embedding();
  std::vector<int> seen;
  for (int t : read_from(context::mixer_name(config.mixer), p, count)) {
    if (std::find(without.begin(), without.end(), t) == without.end()) seen.push_back(t);
  }
  ByHand hand;
  hand.weights.assign(ids.size(), 0);
  const bool concat = config.mixer.is(context::MixerKind::concat);
  const int window = static_cast<int>(config.mixer.parts[0].window);
  hand.context.assign(static_cast<std::size_t>(concat ? window * dim : dim), 0);
  for (int t : seen) {
    hand.weights[static_cast<std::size_t>(t)] = 1.0 / static_cast<double>(seen.size());
    for (int d = 0; d < dim; ++d) {
      const double value = table[ids[static_cast<std::size_t>(t)]][d];
      const int block = concat ? window - 1 - (p - t) : 0;
      hand.context[static_cast<std::size_t>(block * dim + d)] +=
          concat ? value : value / static_cast<double>(seen.size());
    }
  }
  hand.hidden = hand.context;
  if (config.hidden > 0) {
    const logits::MlpViews<const float> mlp = folder.parameters.mlp();
    Vector inner = affine(mlp.linears[0].weight, mlp.linears[0].bias, hand.context);
    for (double& x : inner) x = x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    hand.hidden = affine(mlp.linears[1].weight, mlp.linears[1].bias, inner);
  }
  for (int d = 0; config.skip && d < dim; ++d) {
    hand.hidden[static_cast<std::size_t>(d)] += table[ids[static_cast<std::size_t>(p)]][d];
  }
  hand.logits = affine(folder.parameters.head_weight(), folder.parameters.head_bias(), hand.hidden);
  return hand;
}

double length(const Vector& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

void expect_near(const std::vector<float>& actual, const Vector& expected, double limit) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], limit) << i;
}

/// The softmax by its definition, and the entropy of it.
void expect_scores(const Walk& walk, const Vector& logits, double temperature) {
  Vector powers;
  for (double logit : logits) powers.push_back(std::exp(logit / temperature));
  const double total = std::accumulate(powers.begin(), powers.end(), 0.0);
  double entropy = 0;
  double listed = 0;
  for (double power : powers) entropy -= power / total * std::log2(power / total);
  for (std::size_t i = 0; i < walk.top.size(); ++i) {
    const auto id = static_cast<std::size_t>(walk.top[i].id);
    EXPECT_NEAR(walk.top[i].logit, logits[id], 2e-6);
    EXPECT_NEAR(walk.top[i].probability, powers[id] / total, 2e-6);
    listed += walk.top[i].probability;
    if (i == 0) continue;
    EXPECT_GE(walk.top[i - 1].logit, walk.top[i].logit);
  }
  EXPECT_NEAR(listed + walk.other_probability, 1, 1e-12);
  EXPECT_NEAR(walk.entropy_bits, entropy, 1e-5);
}

struct Architecture {
  const char* mixer;
  std::int64_t hidden;
  bool tied;
  bool skip;
};

std::vector<Architecture> architectures() {
  std::vector<Architecture> list;
  for (const char* mixer : {"none", "mean", "window:3", "concat:3", "full-mean", "centred"}) {
    for (bool tied : {false, true}) {
      if (std::string(mixer) != "concat:3") list.push_back({mixer, 0, tied, false});
      list.push_back({mixer, 5, tied, false});
      list.push_back({mixer, 5, tied, true});
    }
  }
  return list;
}

TEST(Walk, EqualsAComputationByHandForEveryModel) {
  const std::string text = "abcabdkjab";
  for (const Architecture& model : architectures()) {
    const store::ModelFolder folder =
        make_folder(model.mixer, model.hidden, model.tied, model.skip);
    const std::vector<Id> ids = folder.tokenizer->encode(text);
    for (const std::vector<int>& without : {std::vector<int>(), {1, 4, 7}}) {
      for (int p : {0, 2, 5, 9}) {
        SCOPED_TRACE(::testing::Message()
                     << model.mixer << " H " << model.hidden << " tied " << model.tied << " skip "
                     << model.skip << " position " << p << " without " << without.size());
        WalkOptions options;
        options.position = p;
        options.top_k = 4;
        options.temperature = 1.5;
        options.without.assign(without.begin(), without.end());
        const Walk walk = run(folder, text, options);
        const ByHand hand = by_hand(folder, ids, without, p);
        EXPECT_EQ(walk.weights, hand.weights);
        expect_near(walk.context, hand.context, 1e-6);
        expect_near(walk.hidden, hand.hidden, 2e-6);
        EXPECT_NEAR(walk.context_norm, length(hand.context), 1e-6);
        EXPECT_NEAR(walk.hidden_norm, length(hand.hidden), 2e-6);
        ASSERT_EQ(walk.top.size(), 4U);
        expect_scores(walk, hand.logits, 1.5);
      }
    }
  }
}

TEST(Walk, ScoresAreThoseOfTheBatchBitForBit) {
  const std::string text = "abcabdkjabcdefghijkabcabdkjabcdefghijk";
  for (const Architecture& model : architectures()) {
    const store::ModelFolder folder =
        make_folder(model.mixer, model.hidden, model.tied, model.skip);
    const std::vector<Id> ids = folder.tokenizer->encode(text);
    const auto count = static_cast<std::int64_t>(ids.size());
    base::ThreadPool pool(1);
    model::Workspace<float> workspace;
    base::Array<float> logits(count * folder.config.vocab_size);
    model::BatchView batch;
    batch.ids = {ids.data(), {1, count}};
    model::all_logits<float>(pool, folder.config, folder.parameters, batch, workspace,
                             logits.view(count, folder.config.vocab_size));
    for (std::int64_t p : {std::int64_t{0}, std::int64_t{17}, count - 1}) {
      WalkOptions options;
      options.position = p;
      options.top_k = 1000;
      const Walk walk = run(folder, text, options);
      ASSERT_EQ(static_cast<std::int64_t>(walk.top.size()), folder.config.vocab_size);
      for (const WalkScore& score : walk.top) {
        EXPECT_EQ(score.logit, logits[p * folder.config.vocab_size + score.id]) << model.mixer;
      }
    }
  }
}

TEST(Walk, ShowsTheRowOfEachPositionBesideThatOfTheToken) {
  for (rows::Positions positions : {rows::Positions::learned, rows::Positions::sinusoidal}) {
    store::ModelFolder folder = make_folder("mean");
    folder.config.positions = positions;
    folder.config.max_positions = 3;
    model::initialize(folder.config, 11, model::Init::torch, folder.parameters);
    const std::string text = "abcab";
    const Walk walk = run(folder, text);
    const base::View2<const float> table = folder.parameters.token_embedding();
    const base::View2<const float> added = folder.parameters.position_rows();
    Vector mean(4);
    for (std::int64_t t = 0; t < 5; ++t) {
      const Id id = walk.pieces[static_cast<std::size_t>(t)].id;
      for (std::int64_t d = 0; d < 4; ++d) {
        EXPECT_EQ(walk.row(t)[d], table[id][d]);
        EXPECT_EQ(walk.position_row(t)[d], added[t % 3][d]);
        mean[static_cast<std::size_t>(d)] += (double{table[id][d]} + added[t % 3][d]) / 5;
      }
    }
    expect_near(walk.context, mean, 1e-6);
    const nlohmann::ordered_json json = to_json(folder, walk);
    EXPECT_EQ(json["positions"]["scheme"], rows::positions_name(positions));
    EXPECT_EQ(json["positions"]["at"], (std::vector<int>{0, 1, 2, 0, 1}));
    EXPECT_EQ(json["positions"]["rows"].size(), 5U);
  }
  const Walk plain = run(make_folder("mean"), "abcab");
  EXPECT_FALSE(plain.position_row(0).present());
  EXPECT_FALSE(to_json(make_folder("mean"), plain).contains("positions"));
}

TEST(Walk, LeakyModelsSeeTheFuture) {
  WalkOptions options;
  options.position = 2;
  for (const char* name : {"full-mean", "centred"}) {
    const Walk walk = run(make_folder(name), "abcde", options);
    EXPECT_TRUE(walk.sees_future);
    EXPECT_GT(walk.weights[3], 0);
  }
  const Walk causal = run(make_folder("mean"), "abcde", options);
  EXPECT_FALSE(causal.sees_future);
  EXPECT_EQ(causal.weights[3], 0);
}

TEST(Walk, LeavingATokenOutIsTheTextWithoutItForAMean) {
  const store::ModelFolder folder = make_folder("mean");
  WalkOptions options;
  options.without = {1, 3};
  const Walk walk = run(folder, "abcab", options);
  EXPECT_EQ(walk.position, 4);
  EXPECT_EQ(walk.mask, (std::vector<std::uint8_t>{1, 0, 1, 0, 1}));
  const Walk shorter = run(folder, "acb");
  EXPECT_EQ(walk.context, shorter.context);
  EXPECT_NE(walk.context, run(folder, "abcab").context);
  EXPECT_EQ(walk.top[0].id, shorter.top[0].id);
}

TEST(Walk, TheLastVisiblePositionIsWalkedUnlessOneIsNamed) {
  const store::ModelFolder folder = make_folder("window:2", 5, false, true);
  WalkOptions options;
  options.without = {4, 3};
  EXPECT_EQ(run(folder, "abcab", options).position, 2);
  options.position = 4;
  // A position that is left out itself has the hidden state of padding: zero.
  const Walk walk = run(folder, "abcab", options);
  EXPECT_EQ(walk.position, 4);
  EXPECT_EQ(walk.hidden_norm, 0);
  for (const WalkScore& score : walk.top) {
    EXPECT_EQ(score.logit, folder.parameters.head_bias()[score.id]);
  }
  options.position.reset();
  options.without = {0, 1, 2, 3, 4};
  const Walk nothing = run(folder, "abcab", options);
  EXPECT_EQ(nothing.position, 4);
  EXPECT_EQ(nothing.visible(), 0);
  EXPECT_EQ(nothing.context_norm, 0);
  EXPECT_EQ(mixing_sentence(nothing.mixing, nothing.position, folder.config.dim),
            "no row is visible from here, so the context is zero");
}

TEST(Walk, APadTokenIsPaddingAndIsNoTokenThatFollowsWhenTied) {
  for (bool tied : {false, true}) {
    const store::ModelFolder folder = make_folder("mean", 5, tied, false, true);
    const Id pad = folder.config.pad_id;
    ASSERT_NE(pad, kNoId);
    std::vector<text::Piece> pieces = pieces_of(folder, "abc");
    pieces.push_back({pad, 3, 3});
    base::ThreadPool pool(1);
    WalkOptions options;
    options.top_k = 100;
    const Walk walk = inspect::walk(pool, folder, pieces, options);
    EXPECT_EQ(walk.position, 2);
    EXPECT_EQ(walk.mask[3], 0);
    EXPECT_EQ(walk.context, run(folder, "abc").context);
    const bool listed = std::any_of(walk.top.begin(), walk.top.end(),
                                    [&](const WalkScore& score) { return score.id == pad; });
    EXPECT_EQ(listed, !tied);
    EXPECT_EQ(walk.top_k, folder.config.vocab_size - (tied ? 1 : 0));
    double sum = 0;
    for (const WalkScore& score : walk.top) sum += score.probability;
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Walk, TemperatureZeroTakesTheBestAndTheLowestIdOfEqualOnes) {
  store::ModelFolder folder = make_folder("none", 0);
  WalkOptions options;
  options.temperature = 0;
  Walk walk = run(folder, "abc", options);
  EXPECT_EQ(walk.chosen_by, "most likely");
  EXPECT_EQ(walk.top[0].probability, 1);
  EXPECT_EQ(walk.top[1].probability, 0);
  EXPECT_EQ(walk.other_probability, 0);
  EXPECT_EQ(walk.entropy_bits, 0);
  std::fill(folder.parameters.head_weight().begin(), folder.parameters.head_weight().end(), 0.0F);
  std::fill(folder.parameters.head_bias().begin(), folder.parameters.head_bias().end(), 2.0F);
  walk = run(folder, "abc", options);
  EXPECT_EQ(walk.top[0].id, 0);
  EXPECT_EQ(walk.top[0].probability, 1);
  options.temperature = 1;
  walk = run(folder, "abc", options);
  EXPECT_EQ(walk.chosen_by, "drawn with seed");
  EXPECT_NEAR(walk.entropy_bits, std::log2(12.0), 1e-12);
  EXPECT_NEAR(walk.other_probability, 2.0 / 12, 1e-12);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(walk.top[i].id, static_cast<Id>(i));
}

TEST(Walk, ProbabilitiesDoNotDependOnHowManyAreListed) {
  const store::ModelFolder folder = make_folder("concat:3");
  WalkOptions options;
  options.top_k = 1;
  const Walk one = run(folder, "abcab", options);
  options.top_k = 12;
  const Walk all = run(folder, "abcab", options);
  EXPECT_EQ(one.top[0].probability, all.top[0].probability);
  EXPECT_EQ(one.entropy_bits, all.entropy_bits);
  EXPECT_EQ(all.other_probability, 0);
}

TEST(Walk, ALongTextIsCutAndSaysWhere) {
  const store::ModelFolder folder = make_folder("mean");
  const std::string text(static_cast<std::size_t>(kMostWalkTokens) + 7, 'b');
  const Walk walk = run(folder, text);
  EXPECT_EQ(static_cast<std::int64_t>(walk.pieces.size()), kMostWalkTokens);
  EXPECT_EQ(walk.cut_at, kMostWalkTokens);
  EXPECT_EQ(walk.position, kMostWalkTokens - 1);
  WalkOptions options;
  options.position = kMostWalkTokens;
  expect_error(ErrorKind::index, {"1024", "cut at byte 1024"}, [&] { run(folder, text, options); });
  EXPECT_FALSE(run(folder, text.substr(7)).cut_at.has_value());
}

TEST(Walk, RefusesWhatCannotBeWalked) {
  store::ModelFolder folder = make_folder("mean");
  WalkOptions options;
  expect_error(ErrorKind::argument, {"no tokens"}, [&] { run(folder, ""); });
  options.position = 3;
  expect_error(ErrorKind::index, {"position 3", "3 tokens", "0 to 2"},
               [&] { run(folder, "abc", options); });
  options = {};
  options.without = {-1};
  expect_error(ErrorKind::index, {"left-out position -1", "1 token, position 0"},
               [&] { run(folder, "a", options); });
  options = {};
  options.top_k = 0;
  expect_error(ErrorKind::argument, {"top-k is 0"}, [&] { run(folder, "abc", options); });
  for (double temperature : {-1.0, kNone, std::numeric_limits<double>::infinity()}) {
    options = {};
    options.temperature = temperature;
    expect_error(ErrorKind::argument, {"temperature"}, [&] { run(folder, "abc", options); });
  }
  base::ThreadPool pool(1);
  const std::vector<text::Piece> foreign = {{99, 0, 1}};
  expect_error(ErrorKind::index, {"position 0", "id 99", "12 rows"},
               [&] { walk(pool, folder, foreign, {}); });
  folder.parameters.head_bias()[5] = std::numeric_limits<float>::quiet_NaN();
  expect_error(ErrorKind::numeric, {"id 5", "nan"}, [&] { run(folder, "abc"); });
}

TEST(WalkJson, HoldsEveryKeyWithTheFiguresOfTheWalk) {
  const store::ModelFolder folder = make_folder("concat:3");
  WalkOptions options;
  options.top_k = 3;
  options.without = {1};
  const Walk walk = run(folder, "ab\nc", options);
  const nlohmann::ordered_json json = to_json(folder, walk);
  ASSERT_EQ(json["tokens"].size(), 4U);
  EXPECT_EQ(
      json["tokens"][2].dump(),
      R"({"id":0,"text":"\n","display":"\\n","bytes":"0a","start":2,"end":3,"visible":true})");
  EXPECT_EQ(json["tokens"][1]["visible"], false);
  EXPECT_EQ(json["rows"][0]["first"].size(), 4U);
  EXPECT_EQ(json["rows"][0]["first"][2], walk.row(0)[2]);
  EXPECT_EQ(json["rows"][0]["norm"], norm(walk.row(0)));
  EXPECT_EQ(json["position"], 3);
  EXPECT_EQ(json["mixer"], "concat:3");
  EXPECT_EQ(json["weights"], (Vector{0, 0, 0.5, 0.5}));
  EXPECT_EQ(json["blocks"], (std::vector<int>{-1, -1, 1, 2}));
  EXPECT_EQ(json["sees_future"], false);
  EXPECT_EQ(json["context"].size(), kFirstValues);
  EXPECT_EQ(json["context_norm"], walk.context_norm);
  EXPECT_EQ(json["hidden"].size(), 4U);
  ASSERT_EQ(json["top"].size(), 3U);
  EXPECT_EQ(json["top"][0]["id"], walk.top[0].id);
  EXPECT_EQ(json["top"][0]["token"], folder.tokenizer->token_bytes(walk.top[0].id));
  EXPECT_EQ(json["top"][0]["logit"], walk.top[0].logit);
  EXPECT_EQ(json["top"][0]["probability"], walk.top[0].probability);
  EXPECT_EQ(json["other_probability"], walk.other_probability);
  EXPECT_EQ(json["entropy_bits"], walk.entropy_bits);
  EXPECT_EQ(json["chosen_by"], "drawn with seed");
  EXPECT_EQ(json["shapes"]["context"], (std::vector<int>{1, 4, 12}));
  EXPECT_EQ(json["shapes"]["logits"], (std::vector<int>{1, 4, 12}));
  EXPECT_TRUE(json["cut_at"].is_null());
  EXPECT_FALSE(to_json(make_folder("mean"), run(make_folder("mean"), "a")).contains("blocks"));
}

TEST(WalkJson, RowsBeyondTheTokenizerHaveNoSpelling) {
  store::ModelFolder folder = make_folder("none", 0);
  folder.config.vocab_size = 14;
  model::initialize(folder.config, 11, model::Init::torch, folder.parameters);
  WalkOptions options;
  options.top_k = 14;
  const nlohmann::ordered_json json = to_json(folder, run(folder, "ab", options));
  for (const auto& score : json["top"]) EXPECT_EQ(score["token"].is_null(), score["id"] >= 12);
}

TEST(MixingSentence, SaysWhatTheMixerDid) {
  const auto sentence = [](const char* mixer, const std::string& text, WalkOptions options = {}) {
    const store::ModelFolder folder = make_folder(mixer);
    const Walk walk = run(folder, text, options);
    return mixing_sentence(walk.mixing, walk.position, folder.config.dim);
  };
  EXPECT_EQ(sentence("none", "abc"), "the row of position 2 as it is; no other is read");
  EXPECT_EQ(sentence("mean", "abc"), "the mean of 3 rows up to position 2, 1/3 each");
  EXPECT_EQ(sentence("mean", "a"), "the mean of 1 row up to position 0");
  EXPECT_EQ(sentence("window:2", "abc"), "the mean of the rows at the last 2 positions, 1/2 each");
  EXPECT_EQ(sentence("concat:4", "abc"),
            "the rows at 3 of the last 4 positions, side by side, each its own block of 4 values; "
            "the other block is zeros");
  EXPECT_EQ(sentence("decay:0.5", "abc"),
            "an average of 3 rows up to position 2 whose weights fall by the factor 0.5 a row, "
            "0.5714 for the last");
  EXPECT_EQ(sentence("none+mean", "abc"),
            "2 parts side by side; none: the row of position 2 as it is; no other is read; mean: "
            "the mean of 3 rows up to position 2, 1/3 each");
  EXPECT_NE(sentence("full-mean", "abc").find("the mean of 3 rows of the whole text, 1/3 each"),
            std::string::npos);
  EXPECT_NE(sentence("centred", "abc").find("the mean of 2 rows before, at and after position 2"),
            std::string::npos);
}

}  // namespace
}  // namespace lexirow::inspect
