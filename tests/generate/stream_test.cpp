#include "generate/stream.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "context/mixer.h"
#include "model/network.h"
#include "support/expect_error.h"

namespace lexirow::generate {
namespace {

using lexirow::testing::expect_error;

constexpr std::int64_t kVocab = 29;

struct Case {
  std::string mixer;
  std::int64_t hidden;
  bool skip = false;
  bool tied = false;
  bool bias = true;
  logits::MlpForm mlp = {};
  rows::Positions positions = rows::Positions::none;
  std::int64_t max_positions = 0;
};

std::string case_name(const Case& c) {
  return c.mixer + " hidden " + std::to_string(c.hidden) + (c.skip ? " skip" : "") +
         (c.tied ? " tied" : "") + (c.bias ? "" : " without bias") + " layers " +
         std::to_string(c.mlp.layers) + " " + rows::positions_name(c.positions);
}

const std::vector<Case> kCases = {
    {"none", 0},
    {"none", 24},
    {"none", 24, true},
    {"mean", 0},
    {"mean", 24},
    {"mean", 24, true},
    {"mean", 24, false, true, false},
    {"window:1", 24},
    {"window:5", 24},
    {"window:5", 0, false, true, true},
    {"window:64", 24, true},
    {"concat:1", 0},
    {"concat:4", 24},
    {"concat:4", 24, true},
    {"concat:64", 24, false, true, false},
    {"decay:0.6", 0},
    {"decay:0.3:0.95", 24},
    {"decay:learned:3", 24},
    {"none+concat:3+decay:0.5:0.9+mean+window:7", 24, true},
    {"concat:4", 24, false, false, true, {.layers = 2}},
    {"mean", 24, true, false, true, {.layers = 3, .residual = true, .layer_norm = true}},
    {"none",
     24,
     false,
     false,
     true,
     {.layers = 3, .activation = logits::Activation::relu, .layer_norm = true, .dropout = 0.5}},
    // Positions that begin anew within the text, and enough for all of it.
    {"none", 24, true, false, true, {}, rows::Positions::learned, 8},
    {"mean", 24, false, true, false, {}, rows::Positions::learned, 200},
    {"concat:4", 24, true, false, true, {}, rows::Positions::sinusoidal, 8},
    {"none+concat:3+decay:0.5+mean+window:7",
     24,
     true,
     false,
     true,
     {},
     rows::Positions::learned,
     16}};

model::ModelConfig config_of(const Case& c) {
  model::ModelConfig config;
  config.vocab_size = kVocab;
  config.dim = 12;
  config.mixer = context::parse_mixer(c.mixer);
  config.hidden = c.hidden;
  config.skip = c.skip;
  config.tied = c.tied;
  config.bias = c.bias;
  config.mlp = c.mlp;
  config.positions = c.positions;
  config.max_positions = c.max_positions;
  return config;
}

model::Parameters<float> parameters_of(const model::ModelConfig& config) {
  model::Parameters<float> parameters(config);
  model::initialize(config, 11, model::Init::automatic, parameters);
  return parameters;
}

std::vector<Id> some_ids(std::int64_t count) {
  base::SplitMix random(21);
  std::vector<Id> ids(static_cast<std::size_t>(count));
  for (Id& id : ids) id = static_cast<Id>(random.next() % kVocab);
  return ids;
}

// Scores of every position in one batch, of which the first `hidden` are masked.
std::vector<float> batch_logits(base::ThreadPool& pool, const model::ModelConfig& config,
                                const model::Parameters<float>& parameters,
                                const std::vector<Id>& ids, std::int64_t hidden = 0) {
  const std::int64_t length = static_cast<std::int64_t>(ids.size());
  std::vector<std::uint8_t> mask(ids.size(), 1);
  std::fill_n(mask.begin(), hidden, std::uint8_t{0});
  const std::vector<Id> labels(ids.size(), kIgnoredLabel);
  const model::BatchView batch{
      {ids.data(), {1, length}}, {mask.data(), {1, length}}, {labels.data(), {1, length}}};
  model::Workspace<float> workspace;
  std::vector<float> logits(static_cast<std::size_t>(length * config.vocab_size));
  model::all_logits(pool, config, parameters, batch, workspace,
                    base::View2<float>(logits.data(), {length, config.vocab_size}));
  return logits;
}

void expect_near(const float* expected, const std::vector<float>& got, const std::string& what) {
  for (std::size_t v = 0; v < got.size(); ++v) {
    ASSERT_NEAR(expected[v], got[v], 1e-5) << what << " id " << v;
  }
}

TEST(Stream, AgreesWithTheBatchForEveryMixer) {
  base::ThreadPool pool(2);
  const std::vector<Id> ids = some_ids(150);
  for (const Case& c : kCases) {
    const model::ModelConfig config = config_of(c);
    const model::Parameters<float> parameters = parameters_of(config);
    const std::vector<float> expected = batch_logits(pool, config, parameters, ids);
    Stream stream(pool, config, parameters);
    for (std::size_t t = 0; t < ids.size(); ++t) {
      stream.push(ids[t]);
      expect_near(expected.data() + t * kVocab, stream.logits(),
                  case_name(c) + " position " + std::to_string(t));
    }
    EXPECT_EQ(stream.position(), 150);
  }
}

TEST(Stream, SameBytesForAnyThreadsAndWhetherAskedAtEveryToken) {
  base::ThreadPool one(1);
  base::ThreadPool four(4);
  Case c{"concat:4", 24};
  model::ModelConfig config = config_of(c);
  config.vocab_size = 9000;  // more than one tile in the head
  config.dim = 16;
  const model::Parameters<float> parameters = parameters_of(config);
  Stream a(one, config, parameters);
  Stream b(four, config, parameters);
  for (Id id : some_ids(20)) {
    a.push(id);
    b.push(id);
    (void)a.logits();
  }
  EXPECT_EQ(a.logits(), b.logits());
  EXPECT_EQ(a.logits().size(), 9000U);
}

TEST(Stream, AnEmptyHistoryIsAContextOfZeros) {
  base::ThreadPool pool(1);
  for (const Case& c : kCases) {
    const model::ModelConfig config = config_of(c);
    const model::Parameters<float> parameters = parameters_of(config);
    const std::vector<float> expected = batch_logits(pool, config, parameters, {3}, 1);
    Stream stream(pool, config, parameters);
    expect_near(expected.data(), stream.logits(), case_name(c));
    // Forgetting everything leads back to it, bit for bit.
    const std::vector<float> first = stream.logits();
    for (Id id : some_ids(9)) stream.push(id);
    EXPECT_NE(stream.logits(), first) << case_name(c);
    stream.reset();
    EXPECT_EQ(stream.logits(), first) << case_name(c);
    EXPECT_EQ(stream.position(), 0);
  }
}

TEST(Stream, AContextLimitForgetsWhatIsFurtherBack) {
  base::ThreadPool pool(1);
  const std::vector<Id> ids = some_ids(60);
  for (const Case& c : kCases) {
    const model::ModelConfig config = config_of(c);
    const model::Parameters<float> parameters = parameters_of(config);
    for (std::int64_t limit : {1, 3, 7, 100}) {
      Stream stream(pool, config, parameters, limit);
      for (std::size_t t = 0; t < ids.size(); ++t) {
        stream.push(ids[t]);
        // The last `limit` tokens alone, as one text; with positions, where they stood in it.
        const auto end = static_cast<std::int64_t>(t) + 1;
        const std::int64_t begin = std::max<std::int64_t>(0, end - limit);
        const bool placed = c.positions != rows::Positions::none;
        const std::vector<Id> seen(ids.begin() + (placed ? 0 : begin), ids.begin() + end);
        const std::vector<float> expected =
            batch_logits(pool, config, parameters, seen, placed ? begin : 0);
        expect_near(expected.data() + (seen.size() - 1) * kVocab, stream.logits(),
                    case_name(c) + " limit " + std::to_string(limit));
        EXPECT_LE(stream.visible(), limit);
      }
    }
  }
}

// The context itself (no MLP, a head that copies the state) after 100000 tokens with rows of very
// different sizes, against sums made anew from the rows.
TEST(Stream, MeansDoNotDrift) {
  base::ThreadPool pool(1);
  for (const char* mixer : {"mean", "window:50"}) {
    const model::ModelConfig config = config_of({mixer, 0});
    model::Parameters<float> parameters = parameters_of(config);
    const base::View2<float> table = parameters.token_embedding();
    for (std::int64_t j = 0; j < config.dim; ++j) table[0][j] *= 1e4F;
    Stream stream(pool, config, parameters, 50);
    std::deque<Id> last;
    for (Id id : some_ids(100000)) {
      stream.push(id);
      last.push_back(id);
      if (last.size() > 50) last.pop_front();
      if (stream.position() % 997 != 0) continue;
      for (std::int64_t j = 0; j < config.dim; ++j) {
        double sum = 0;
        double size = 0;
        for (Id seen : last) {
          sum += table[seen][j];
          size = std::max(size, std::abs(static_cast<double>(table[seen][j])));
        }
        const double mean = sum / static_cast<double>(last.size());
        ASSERT_NEAR(stream.hidden()[j], mean, 1e-7 * size + 1e-7) << mixer;
      }
    }
  }
}

// What a token costs can only grow with the text where what is kept of the text grows.
TEST(Stream, TheStateDoesNotGrowWithTheText) {
  base::ThreadPool pool(1);
  for (const char* mixer : {"none", "mean", "window:16", "concat:16", "mean+decay:0.9+concat:3"}) {
    const model::ModelConfig config = config_of({mixer, 24});
    const model::Parameters<float> parameters = parameters_of(config);
    Stream stream(pool, config, parameters);
    for (Id id : some_ids(100)) stream.push(id);
    const std::vector<Id> more = some_ids(100000);
    (void)stream.logits();
    const std::size_t before = mallinfo2().uordblks;
    for (Id id : more) stream.push(id);
    (void)stream.logits();
    // Libraries keep a little from call to call; a kept row a token would be 9.6 MB.
    EXPECT_LE(mallinfo2().uordblks, before + (std::size_t{1} << 16)) << mixer;
  }
}

TEST(Stream, AHugeLimitCostsNoMemory) {
  base::ThreadPool pool(1);
  const model::ModelConfig config = config_of({"mean", 0});
  const model::Parameters<float> parameters = parameters_of(config);
  Stream stream(pool, config, parameters, std::int64_t{1} << 60);
  for (Id id : some_ids(10)) stream.push(id);
  EXPECT_EQ(stream.visible(), 10);
}

TEST(Stream, RefusesWhatCannotStream) {
  base::ThreadPool pool(1);
  for (const char* mixer : {"full-mean", "centred", "none+centred"}) {
    const model::ModelConfig config = config_of({mixer, 24});
    const model::Parameters<float> parameters = parameters_of(config);
    expect_error(ErrorKind::argument, {mixer, "still to come"},
                 [&] { Stream stream(pool, config, parameters); });
  }
  const model::ModelConfig config = config_of({"mean", 24});
  const model::Parameters<float> parameters = parameters_of(config);
  expect_error(ErrorKind::argument, {"context", "-2"},
               [&] { Stream stream(pool, config, parameters, -2); });
  Stream stream(pool, config, parameters);
  stream.push(0);
  expect_error(ErrorKind::index, {"position 1", "id 29", "29 rows"}, [&] { stream.push(29); });
  expect_error(ErrorKind::index, {"id -1"}, [&] { stream.push(-1); });
}

}  // namespace
}  // namespace lexirow::generate
