#include "context/decay.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "context/mixer_case.h"

namespace lexirow::context {
namespace {

TEST(Decay, OfEqualRowsIsThatRowFromTheFirstPositionOn) {
  const Case c{"decay:0.5:0.9:0.99", 1, 0, 500, 2, {}};
  for (float value : forward(c, std::vector<float>(1000, 0.1F))) ASSERT_EQ(value, 0.1F);
}

TEST(Decay, GoesOnFromWhatWasCarried) {
  // The second half of a text with the sums of its first half is that of the whole.
  const Case whole{"none+decay:0.6:0.95+mean", 1, 0, 12, 5, holes(23, 12)};
  Case half = whole;
  half.steps = 6;
  half.mask.erase(half.mask.begin(), half.mask.begin() + 6);
  const std::vector<double> hidden = testing::normal_values(24, whole.in_size());
  std::vector<double> states;
  for (double rate : running_rates<double>(whole.parsed(), {})) {
    std::vector<double> state(6);
    for (std::size_t t = 0; t < 6; ++t) {
      if (whole.mask[t] == 0) continue;
      state[0] = rate * state[0] + 1;
      for (std::size_t i = 0; i < 5; ++i) state[i + 1] = rate * state[i + 1] + hidden[t * 5 + i];
    }
    states.insert(states.end(), state.begin(), state.end());
  }
  base::ThreadPool pool(1);
  std::vector<double> out(static_cast<std::size_t>(half.out_size()));
  mixer_forward<double>(pool, half.parsed(), {{}, {states.data(), {1, 3, 6}}},
                        {hidden.data() + 30, {1, 6, 5}}, half.mask_view(),
                        {out.data(), {1, 6, half.width()}});
  const std::vector<double> all = forward(whole, hidden);
  EXPECT_TRUE(same_bits(out, std::vector<double>(all.end() - half.out_size(), all.end())));
}

TEST(Decay, LearnedRatesHaveTheGradientOfCentralDifferences) {
  for (const Case& c : cases_of("none+decay:learned:3")) {
    SCOPED_TRACE(::testing::PrintToString(c));
    std::vector<double> decay_rate = {-1.5, 0.3, 2};
    const base::View1<double> rate_view(decay_rate.data(), {3});
    const std::vector<double> hidden = testing::normal_values(25, c.in_size());
    const std::vector<double> g = testing::normal_values(26, c.out_size());
    const base::View3<const double> rows(hidden.data(), {c.batch, c.rows(), c.dim});
    const std::array<std::int64_t, 3> out_shape = {c.batch, c.steps, c.width()};
    base::ThreadPool pool(2);
    const auto loss = [&] {
      std::vector<double> out(g.size());
      mixer_forward<double>(pool, c.parsed(), {rate_view, {}}, rows, c.mask_view(),
                            {out.data(), out_shape});
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * g[i];
      return sum;
    };
    std::vector<double> d_rate(3);
    std::vector<double> d_hidden(hidden.size());
    const auto backward = [&] {
      mixer_backward<double>(pool, c.parsed(), {rate_view, {}}, rows, c.mask_view(),
                             {g.data(), out_shape}, {d_hidden.data(), {c.batch, c.rows(), c.dim}},
                             {d_rate.data(), {3}});
    };
    backward();
    testing::expect_gradient("decay.rate", rate_view, base::View1<const double>(d_rate.data(), {3}),
                             loss);
    const std::vector<double> once = d_rate;
    backward();
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(d_rate[k], 2 * once[k], 1e-12);
  }
}

TEST(Decay, LearnedRatesStartAtHalvesAndGiveTheContextOfFixedOnes) {
  const Mixer learned = parse_mixer("decay:learned:3");
  const std::vector<double> start = initial_decay_rate(learned);
  const std::vector<double> rates =
      running_rates<double>(learned, {start.data(), {static_cast<std::int64_t>(start.size())}});
  ASSERT_EQ(rates.size(), 3U);
  EXPECT_NEAR(rates[0], 0.5, 1e-15);
  EXPECT_NEAR(rates[1], 0.75, 1e-15);
  EXPECT_NEAR(rates[2], 0.875, 1e-15);
}

}  // namespace
}  // namespace lexirow::context
