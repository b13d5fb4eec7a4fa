#include "context/mixer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "context/centred.h"
#include "context/concat.h"
#include "context/decay.h"
#include "context/full_mean.h"
#include "context/mean.h"
#include "context/mixer_case.h"
#include "context/none.h"
#include "context/window.h"

namespace lexirow::context {
namespace {

/// The rows that position t takes into account, visible or not.
std::pair<std::int64_t, std::int64_t> seen_range(const Case& c, const MixerPart& part,
                                                 std::int64_t t) {
  switch (part.kind) {
    case MixerKind::none:
      return {t, t + 1};
    case MixerKind::mean:
    case MixerKind::decay:
      return {0, t + 1};
    case MixerKind::window:
    case MixerKind::concat:
      return {std::max<std::int64_t>(0, t - part.window + 1), t + 1};
    case MixerKind::full_mean:
      return {0, c.rows()};
    case MixerKind::centred:
      return {std::max<std::int64_t>(0, t - 1), std::min(t + 2, c.rows())};
  }
  return {0, 0};
}

/// Every part's definition, one value at a time.
double defined_value(const Case& c, const MixerPart& part, const std::vector<double>& hidden,
                     std::int64_t b, std::int64_t t, std::int64_t feature) {
  const auto at = [&](std::int64_t s, std::int64_t column) {
    return hidden[static_cast<std::size_t>((b * c.rows() + s) * c.dim + column)];
  };
  if (part.kind == MixerKind::concat) {
    const std::int64_t s = t - (part.window - 1) + feature / c.dim;
    return s >= 0 && c.visible(b, s) ? at(s, feature % c.dim) : 0.0;
  }
  const double rate =
      part.rates.empty() ? 1 : part.rates[static_cast<std::size_t>(feature / c.dim)];
  const auto [begin, end] = seen_range(c, part, t);
  double sum = 0;
  double weights = 0;
  int after = 0;  // visible rows behind s
  for (std::int64_t s = end - 1; s >= begin; --s) {
    if (!c.visible(b, s)) continue;
    const double weight = std::pow(rate, after++);
    sum += weight * at(s, feature % c.dim);
    weights += weight;
  }
  return weights == 0 ? 0.0 : sum / weights;
}

/// The same of a joined mixer: the feature belongs to one of its parts.
double defined_value(const Case& c, const std::vector<double>& hidden, std::int64_t b,
                     std::int64_t t, std::int64_t feature) {
  for (const MixerPart& part : c.parsed().parts) {
    const std::int64_t width = feature_width(part, c.dim);
    if (feature < width) return defined_value(c, part, hidden, b, t, feature);
    feature -= width;
  }
  ADD_FAILURE() << "no part has this feature";
  return 0;
}

class EveryMixer : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryMixer, FollowsItsDefinitionAndOverwrites) {
  for (const Case& c : cases_of(GetParam())) {
    SCOPED_TRACE(::testing::PrintToString(c));
    const std::vector<double> hidden = testing::normal_values(1, c.in_size());
    const std::vector<double> out = forward(c, hidden);
    for (std::int64_t b = 0; b < c.batch; ++b) {
      for (std::int64_t t = 0; t < c.steps; ++t) {
        for (std::int64_t f = 0; f < c.width(); ++f) {
          const double got = out[static_cast<std::size_t>((b * c.steps + t) * c.width() + f)];
          ASSERT_NEAR(got, defined_value(c, hidden, b, c.earlier + t, f), 1e-14)
              << "b " << b << " t " << t << " f " << f;
        }
      }
    }
  }
}

TEST_P(EveryMixer, HasTheGradientOfCentralDifferences) {
  for (const Case& c : cases_of(GetParam())) {
    SCOPED_TRACE(::testing::PrintToString(c));
    std::vector<double> hidden = testing::normal_values(2, c.in_size());
    const std::vector<double> g = testing::normal_values(3, c.out_size());
    const std::vector<double> d_hidden = backward(c, g);
    testing::expect_gradient(c.mixer, {hidden.data(), {c.in_size()}},
                             {d_hidden.data(), {c.in_size()}}, [&] {
                               const std::vector<double> out = forward(c, hidden);
                               double sum = 0;
                               for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * g[i];
                               return sum;
                             });
  }
}

TEST_P(EveryMixer, DoublesItsGradientWhenRunTwice) {
  for (const Case& c : cases_of(GetParam())) {
    SCOPED_TRACE(::testing::PrintToString(c));
    const std::vector<double> g = testing::normal_values(4, c.out_size());
    const std::vector<double> once = backward(c, g);
    std::vector<double> twice = once;
    backward_into(c, g, twice);
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(twice[i], 2 * once[i], 1e-12);
  }
}

TEST_P(EveryMixer, InFloatIsCloseToDouble) {
  for (const Case& c : cases_of(GetParam())) {
    SCOPED_TRACE(::testing::PrintToString(c));
    const std::vector<float> hidden = values_of<float>(5, c.in_size());
    const std::vector<double> wide(hidden.begin(), hidden.end());
    const std::vector<float> out = forward(c, hidden);
    const std::vector<double> expected = forward(c, wide);
    for (std::size_t i = 0; i < out.size(); ++i) {
      // Sums are in double, so a forward value is the double's, rounded once.
      EXPECT_EQ(out[i], static_cast<float>(expected[i])) << i;
    }
    const std::vector<float> g = values_of<float>(6, c.out_size());
    const std::vector<float> d_hidden = backward(c, g);
    const std::vector<double> d_expected = backward(c, std::vector<double>(g.begin(), g.end()));
    for (std::size_t i = 0; i < d_hidden.size(); ++i) {
      EXPECT_NEAR(d_hidden[i], d_expected[i], 2e-6) << i;
    }
  }
}

TEST_P(EveryMixer, GivesMaskedRowsExactlyNothingAndTakesNothingFromThem) {
  for (const Case& c : cases_of(GetParam())) {
    SCOPED_TRACE(::testing::PrintToString(c));
    std::vector<double> hidden = testing::normal_values(7, c.in_size());
    const std::vector<double> out = forward(c, hidden);
    const std::vector<double> d_hidden = backward(c, testing::normal_values(8, c.out_size()));
    for (std::int64_t i = 0; i < c.batch * c.rows(); ++i) {
      if (c.visible(i / c.rows(), i % c.rows())) continue;
      for (std::int64_t column = 0; column < c.dim; ++column) {
        const auto place = static_cast<std::size_t>(i * c.dim + column);
        EXPECT_EQ(d_hidden[place], 0.0);
        hidden[place] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    EXPECT_TRUE(same_bits(out, forward(c, hidden)));
  }
}

TEST_P(EveryMixer, SeesTheFutureOnlyIfDeclaredLeaky) {
  for (const Case& c : cases_of(GetParam())) {
    SCOPED_TRACE(::testing::PrintToString(c));
    if (!c.mask.empty() || c.steps < 3) continue;
    const std::vector<double> hidden = testing::normal_values(9, c.in_size());
    const std::vector<double> out = forward(c, hidden);
    bool future_seen = false;
    for (std::int64_t t = 0; t + 1 < c.steps; ++t) {
      std::vector<double> changed = hidden;
      for (std::int64_t b = 0; b < c.batch; ++b) {
        const std::int64_t first = (b * c.rows() + c.earlier + t + 1) * c.dim;
        for (std::int64_t i = first; i < (b + 1) * c.rows() * c.dim; ++i) {
          changed[static_cast<std::size_t>(i)] += 1.0;
        }
      }
      const std::vector<double> after = forward(c, changed);
      for (std::int64_t b = 0; b < c.batch; ++b) {
        const std::int64_t begin = b * c.steps * c.width();
        const auto bytes = static_cast<std::size_t>((t + 1) * c.width()) * sizeof(double);
        future_seen =
            future_seen || std::memcmp(out.data() + begin, after.data() + begin, bytes) != 0;
      }
    }
    EXPECT_EQ(future_seen, leaks_future(c.parsed()));
  }
}

INSTANTIATE_TEST_SUITE_P(Mixers, EveryMixer,
                         ::testing::Values("none", "mean", "window:1", "window:2", "window:3",
                                           "window:65536", "concat:1", "concat:3", "concat:11",
                                           "decay:0.5", "decay:0.1:0.9:0.999",
                                           "none+concat:2+decay:0.5:0.9+mean", "mean+none",
                                           "full-mean", "centred", "none+centred"));

/// One mixer's own pair of functions, with its window already given.
struct Pair {
  std::string mixer;
  std::function<void(base::ThreadPool&, base::View3<const float>, base::View2<const std::uint8_t>,
                     base::View3<float>)>
      forward;
  std::function<void(base::ThreadPool&, base::View2<const std::uint8_t>, base::View3<const float>,
                     base::View3<float>)>
      backward;
};

constexpr double kRates[] = {0.5, 0.9};

std::vector<Pair> all_pairs() {
  const auto window = [](auto function) {
    return [function](base::ThreadPool& pool, auto... views) { function(pool, 3, views...); };
  };
  return {{"none", none_forward<float>, none_backward<float>},
          {"mean",
           [](base::ThreadPool& pool, auto hidden, auto mask, auto out) {
             mean_forward<float>(pool, {}, hidden, mask, out);
           },
           mean_backward<float>},
          {"decay:0.5:0.9",
           [](base::ThreadPool& pool, auto hidden, auto mask, auto out) {
             decay_forward<float>(pool, kRates, {}, hidden, mask, out);
           },
           [](base::ThreadPool& pool, auto mask, auto d_out, auto d_hidden) {
             decay_backward<float>(pool, kRates, mask, d_out, d_hidden);
           }},
          {"window:3", window(window_forward<float>), window(window_backward<float>)},
          {"concat:3", window(concat_forward<float>), window(concat_backward<float>)},
          {"full-mean", full_mean_forward<float>, full_mean_backward<float>},
          {"centred", centred_forward<float>, centred_backward<float>}};
}

TEST(Mixer, RunsThePairOfItsName) {
  base::ThreadPool pool(1);
  for (const Pair& pair : all_pairs()) {
    const Case c{pair.mixer, 2, 1, 6, 5, holes(17, 14)};
    const std::array<std::int64_t, 3> in = {c.batch, c.rows(), c.dim};
    const std::array<std::int64_t, 3> out = {c.batch, c.steps, c.width()};
    const std::vector<float> hidden = values_of<float>(18, c.in_size());
    std::vector<float> context(static_cast<std::size_t>(c.out_size()));
    pair.forward(pool, {hidden.data(), in}, c.mask_view(), {context.data(), out});
    EXPECT_TRUE(same_bits(context, forward(c, hidden))) << pair.mixer;
    const std::vector<float> g = values_of<float>(19, c.out_size());
    std::vector<float> d_hidden(static_cast<std::size_t>(c.in_size()));
    pair.backward(pool, c.mask_view(), {g.data(), out}, {d_hidden.data(), in});
    EXPECT_TRUE(same_bits(d_hidden, backward(c, g))) << pair.mixer;
  }
}

TEST(Mixer, GivesTheSameBytesForAnyThreads) {
  for (const char* mixer : {"none", "mean", "window:5", "concat:4", "decay:0.3:0.8",
                            "decay:0.9+concat:2+none", "full-mean", "centred"}) {
    const Case c{mixer, 3, 2, 61, 67, holes(10, 3 * 63)};
    const std::vector<float> hidden = values_of<float>(11, c.in_size());
    const std::vector<float> g = values_of<float>(12, c.out_size());
    for (int threads : {2, 4}) {
      EXPECT_TRUE(same_bits(forward(c, hidden, 1), forward(c, hidden, threads))) << mixer;
      EXPECT_TRUE(same_bits(backward(c, g, 1), backward(c, g, threads))) << mixer;
    }
  }
}

TEST(Mixer, ReadsEarlierRowsAsIfTheyWereInTheText) {
  // The last T outputs of P+T rows are those of the whole text.
  for (const char* mixer : {"none", "mean", "window:4", "concat:4", "decay:0.7", "mean+decay:0.7",
                            "centred", "full-mean"}) {
    const Case whole{mixer, 1, 0, 9, 6, holes(13, 9)};
    Case part = whole;
    part.earlier = 5;
    part.steps = 4;
    const std::vector<double> hidden = testing::normal_values(14, whole.in_size());
    const std::vector<double> all = forward(whole, hidden);
    const std::vector<double> last = forward(part, hidden);
    EXPECT_TRUE(same_bits(last, std::vector<double>(all.end() - part.out_size(), all.end())));
  }
}

TEST(Window, DoesNotCancel) {
  // A running sum with subtraction would keep a trace of the large value: 1e30 + 1 - 1e30 is 0.
  Case c{"window:2", 1, 0, 6, 1, {}};
  EXPECT_EQ(forward<double>(c, {1e30, 1, 2, 3, 4, 5}),
            (std::vector<double>{1e30, (1e30 + 1) / 2, 1.5, 2.5, 3.5, 4.5}));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(forward<double>(c, {infinity, 1, 2, 3, 4, 5})[2], 1.5);
  EXPECT_EQ(backward<double>(c, {2, 2, 2, 2, 2, 1e30})[3], 2.0);
}

TEST(Window, OfTheWholeLengthIsTheMean) {
  const Case window{"window:50", 2, 0, 20, 35, holes(15, 40)};
  Case mean = window;
  mean.mixer = "mean";
  const std::vector<float> hidden = values_of<float>(16, window.in_size());
  EXPECT_TRUE(same_bits(forward(window, hidden), forward(mean, hidden)));
}

TEST(Mean, OfManyEqualRowsIsThatRow) {
  const Case c{"mean", 1, 0, 20000, 1, {}};
  const std::vector<float> out = forward(c, std::vector<float>(20000, 0.1F));
  for (float value : out) ASSERT_EQ(value, 0.1F);
}

TEST(Concat, PutsTheRowsInTextOrder) {
  const Case c{"concat:3", 1, 0, 3, 2, {}};
  EXPECT_EQ(forward<float>(c, {1, 2, 3, 4, 5, 6}),
            (std::vector<float>{0, 0, 0, 0, 1, 2, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace lexirow::context
