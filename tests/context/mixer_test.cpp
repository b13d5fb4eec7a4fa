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
#include "context/full_mean.h"
#include "context/mean.h"
#include "context/none.h"
#include "context/window.h"
#include "lexirow/error.h"
#include "support/gradient_check.h"

namespace lexirow::context {
namespace {

using Mask = std::vector<std::uint8_t>;

/// One mixer on one shape: `earlier` rows before the `steps` that have an output.
struct Case {
  std::string mixer;
  std::int64_t batch = 1;
  std::int64_t earlier = 0;
  std::int64_t steps = 1;
  std::int64_t dim = 1;
  Mask mask;  ///< empty: all visible

  std::int64_t rows() const { return earlier + steps; }
  Mixer parsed() const { return parse_mixer(mixer); }
  std::int64_t width() const { return feature_width(parsed(), dim); }
  std::int64_t in_size() const { return batch * rows() * dim; }
  std::int64_t out_size() const { return batch * steps * width(); }
  base::View2<const std::uint8_t> mask_view() const {
    return mask.empty() ? base::View2<const std::uint8_t>()
                        : base::View2<const std::uint8_t>(mask.data(), {batch, rows()});
  }
  bool visible(std::int64_t b, std::int64_t t) const {
    return mask.empty() || mask[static_cast<std::size_t>(b * rows() + t)] != 0;
  }
};

std::ostream& operator<<(std::ostream& stream, const Case& c) {
  stream << c.mixer << " B" << c.batch << " P" << c.earlier << " T" << c.steps << " D" << c.dim
         << " mask ";
  for (std::uint8_t value : c.mask) stream << static_cast<int>(value);
  return stream;
}

template <typename T>
std::vector<T> forward(const Case& c, const std::vector<T>& hidden, int threads = 1) {
  base::ThreadPool pool(threads);
  std::vector<T> out(static_cast<std::size_t>(c.out_size()), std::numeric_limits<T>::quiet_NaN());
  mixer_forward<T>(pool, c.parsed(), {hidden.data(), {c.batch, c.rows(), c.dim}}, c.mask_view(),
                   {out.data(), {c.batch, c.steps, c.width()}});
  return out;
}

template <typename T>
void backward_into(const Case& c, const std::vector<T>& d_out, std::vector<T>& d_hidden,
                   int threads = 1) {
  base::ThreadPool pool(threads);
  mixer_backward<T>(pool, c.parsed(), c.mask_view(), {d_out.data(), {c.batch, c.steps, c.width()}},
                    {d_hidden.data(), {c.batch, c.rows(), c.dim}});
}

template <typename T>
std::vector<T> backward(const Case& c, const std::vector<T>& d_out, int threads = 1) {
  std::vector<T> d_hidden(static_cast<std::size_t>(c.in_size()));
  backward_into(c, d_out, d_hidden, threads);
  return d_hidden;
}

template <typename T>
std::vector<T> values_of(std::uint32_t seed, std::int64_t size) {
  const std::vector<double> values = testing::normal_values(seed, size);
  return {values.begin(), values.end()};
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// The rows that position t takes into account, visible or not.
std::pair<std::int64_t, std::int64_t> seen_range(const Case& c, std::int64_t t) {
  const Mixer mixer = c.parsed();
  switch (mixer.kind) {
    case MixerKind::none:
      return {t, t + 1};
    case MixerKind::mean:
      return {0, t + 1};
    case MixerKind::window:
    case MixerKind::concat:
      return {std::max<std::int64_t>(0, t - mixer.window + 1), t + 1};
    case MixerKind::full_mean:
      return {0, c.rows()};
    case MixerKind::centred:
      return {std::max<std::int64_t>(0, t - 1), std::min(t + 2, c.rows())};
  }
  return {0, 0};
}

/// Every mixer's definition, one value at a time.
double defined_value(const Case& c, const std::vector<double>& hidden, std::int64_t b,
                     std::int64_t t, std::int64_t feature) {
  const auto at = [&](std::int64_t s, std::int64_t column) {
    return hidden[static_cast<std::size_t>((b * c.rows() + s) * c.dim + column)];
  };
  const Mixer mixer = c.parsed();
  if (mixer.kind == MixerKind::concat) {
    const std::int64_t s = t - (mixer.window - 1) + feature / c.dim;
    return s >= 0 && c.visible(b, s) ? at(s, feature % c.dim) : 0.0;
  }
  const auto [begin, end] = seen_range(c, t);
  double sum = 0;
  int count = 0;
  for (std::int64_t s = begin; s < end; ++s) {
    if (!c.visible(b, s)) continue;
    sum += at(s, feature);
    ++count;
  }
  return count == 0 ? 0.0 : sum / count;
}

Mask holes(std::uint64_t seed, std::int64_t count) {
  base::SplitMix random(seed);
  Mask mask(static_cast<std::size_t>(count));
  for (std::uint8_t& visible : mask) visible = random.uniform() < 0.6 ? 1 : 0;
  return mask;
}

/// One mixer on every shape, without a mask, with holes, and with a sequence that sees nothing.
std::vector<Case> cases_of(const std::string& mixer) {
  struct Shape {
    std::int64_t batch, earlier, steps, dim;
  };
  const std::vector<Shape> shapes = {{2, 0, 5, 3},  {1, 0, 1, 1}, {3, 2, 7, 5},
                                     {1, 4, 1, 33}, {2, 3, 6, 1}, {1, 0, 9, 40}};
  std::vector<Case> cases;
  for (const Shape& shape : shapes) {
    Case c{mixer, shape.batch, shape.earlier, shape.steps, shape.dim, {}};
    const std::int64_t positions = c.batch * c.rows();
    cases.push_back(c);
    c.mask = holes(static_cast<std::uint64_t>(cases.size()), positions);
    cases.push_back(c);
    c.mask.assign(static_cast<std::size_t>(positions), 1);
    std::fill_n(c.mask.begin(), c.rows(), std::uint8_t{0});  // the first sequence sees nothing
    cases.push_back(c);
  }
  return cases;
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
                                           "full-mean", "centred"));

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

std::vector<Pair> all_pairs() {
  const auto window = [](auto function) {
    return [function](base::ThreadPool& pool, auto... views) { function(pool, 3, views...); };
  };
  return {{"none", none_forward<float>, none_backward<float>},
          {"mean", mean_forward<float>, mean_backward<float>},
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
  for (const char* mixer : {"none", "mean", "window:5", "concat:4", "full-mean", "centred"}) {
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
  for (const char* mixer : {"none", "mean", "window:4", "concat:4", "centred", "full-mean"}) {
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

TEST(Mixer, HasContextShapes) {
  EXPECT_EQ(feature_width(parse_mixer("mean"), 8), 8);
  EXPECT_EQ(feature_width(parse_mixer("window:4"), 8), 8);
  EXPECT_EQ(feature_width(parse_mixer("concat:4"), 8), 32);
  EXPECT_EQ((Case{"concat:4", 2, 3, 5, 8, {}}).out_size(), 2 * 5 * 32);
}

TEST(Mixer, SaysHowFarItReaches) {
  EXPECT_EQ(reach(parse_mixer("none")), 0);
  EXPECT_EQ(reach(parse_mixer("mean")), -1);
  EXPECT_EQ(reach(parse_mixer("window:4")), 3);
  EXPECT_EQ(reach(parse_mixer("concat:16")), 15);
  EXPECT_EQ(reach(parse_mixer("full-mean")), -1);
  EXPECT_EQ(reach(parse_mixer("centred")), 1);
  EXPECT_TRUE(leaks_future(parse_mixer("full-mean")));
  EXPECT_TRUE(leaks_future(parse_mixer("centred")));
  for (const char* mixer : {"none", "mean", "window:4", "concat:4"}) {
    EXPECT_FALSE(leaks_future(parse_mixer(mixer)));
  }
}

TEST(ParseMixer, ReadsWhatMixerNameWrites) {
  for (const char* name :
       {"none", "mean", "window:1", "window:65536", "concat:16", "full-mean", "centred"}) {
    EXPECT_EQ(mixer_name(parse_mixer(name)), name);
  }
  EXPECT_EQ(parse_mixer("window:7"), (Mixer{MixerKind::window, 7}));
}

TEST(ParseMixer, RefusesTheRestAndListsTheForms) {
  for (const char* text : {"", "men", "window", "window:", "window:0", "window:-3", "window:65537",
                           "window:7x", "window:99999999999999999999", "concat", "concat: 4",
                           "mean:3", "none:", "full_mean", "Mean", "centred:1"}) {
    try {
      parse_mixer(text);
      ADD_FAILURE() << text << " was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::argument);
      const std::string message = error.what();
      EXPECT_NE(message.find('"' + std::string(text) + '"'), std::string::npos) << message;
      EXPECT_NE(message.find("none, mean, window:W, concat:W, full-mean, centred"),
                std::string::npos)
          << message;
      EXPECT_NE(message.find("1 to 65536"), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace lexirow::context
