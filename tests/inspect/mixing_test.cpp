#include "inspect/mixing.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace lexirow::inspect {
namespace {

std::vector<double> weights_of(const std::string& name, const std::vector<std::uint8_t>& mask,
                               std::int64_t position) {
  const context::Mixer mixer = context::parse_mixer(name);
  return mixing_weights(
      mixing_parts(mixer, context::running_rates<float>(mixer, {}), mask, position));
}

TEST(MixingWeights, SumToOneAndEndAtThePosition) {
  const std::vector<std::uint8_t> mask = {1, 1, 0, 1, 1, 0, 1, 1};
  for (const char* name : {"none", "mean", "window:3", "concat:3", "decay:0.5:0.9",
                           "none+concat:2+decay:0.3+mean", "full-mean", "centred"}) {
    const context::Mixer mixer = context::parse_mixer(name);
    for (std::int64_t p = 0; p < 8; ++p) {
      const std::vector<double> weights = weights_of(name, mask, p);
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      const bool alone = std::string(name) == "none" && mask[static_cast<std::size_t>(p)] == 0;
      EXPECT_NEAR(sum, alone ? 0 : 1, 1e-12) << name << p;
      for (std::size_t t = 0; t < mask.size(); ++t) {
        const bool future = static_cast<std::int64_t>(t) > p;
        const bool unseen = mask[t] == 0 || (future && !context::leaks_future(mixer));
        if (unseen) {
          EXPECT_EQ(weights[t], 0) << name << p;
        }
      }
    }
  }
  EXPECT_EQ(weights_of("window:3", mask, 4), (std::vector<double>{0, 0, 0, 0.5, 0.5, 0, 0, 0}));
  EXPECT_EQ(weights_of("centred", mask, 6), (std::vector<double>{0, 0, 0, 0, 0, 0, 0.5, 0.5}));
  // 1, 1/2, 1/4 and 1/8 over their sum: the masked position takes no step.
  const std::vector<double> decayed = weights_of("decay:0.5", mask, 4);
  const std::vector<double> expected = {1 / 15.0, 2 / 15.0, 0, 4 / 15.0, 8 / 15.0, 0, 0, 0};
  for (std::size_t t = 0; t < 8; ++t) EXPECT_NEAR(decayed[t], expected[t], 1e-15);
  // Two of three blocks of features are concat's, the other is none's.
  EXPECT_EQ(weights_of("none+concat:2", {1, 1, 1}, 2), (std::vector<double>{0, 1 / 3.0, 2 / 3.0}));
}

TEST(ConcatBlocks, NameThePlaceOfEachRow) {
  const std::vector<std::uint8_t> mask = {1, 1, 0, 1, 1};
  const auto blocks = [&](const char* name, std::int64_t position) {
    return mixing_parts(context::parse_mixer(name), {}, mask, position).front().blocks;
  };
  EXPECT_EQ(blocks("concat:3", 3), (std::vector<std::int64_t>{-1, 0, -1, 2, -1}));
  EXPECT_EQ(blocks("concat:3", 0), (std::vector<std::int64_t>{2, -1, -1, -1, -1}));
  EXPECT_TRUE(blocks("window:3", 3).empty());
}

}  // namespace
}  // namespace lexirow::inspect
