#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "context/mixer.h"

namespace lexirow::context {
namespace {

std::vector<double> flatten(const nlohmann::json& json) {
  if (json.is_number()) return {json.get<double>()};
  std::vector<double> values;
  for (const nlohmann::json& part : json) {
    const std::vector<double> inner = flatten(part);
    values.insert(values.end(), inner.begin(), inner.end());
  }
  return values;
}

void expect_near(const std::vector<double>& got, const nlohmann::json& expected,
                 const std::string& what) {
  const std::vector<double> values = flatten(expected);
  ASSERT_EQ(got.size(), values.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], values[i], 1e-12) << what << i;
}

TEST(CausalMean, AgreesWithTheReferenceForOrdinaryAndAwkwardMasks) {
  std::ifstream file(LEXIROW_SHARED_DIR "/cases/causal-mean.json");
  if (!file) GTEST_SKIP() << "the shared reference is not here";
  const nlohmann::json cases = nlohmann::json::parse(file)["cases"];
  ASSERT_EQ(cases.size(), 6U);
  base::ThreadPool pool(2);
  for (const nlohmann::json& reference : cases) {
    const auto name = reference["name"].get<std::string>();
    const auto shape = reference["shape"].get<std::vector<std::int64_t>>();
    const std::array<std::int64_t, 3> extents = {shape[0], shape[1], shape[2]};
    const auto size = static_cast<std::size_t>(shape[0] * shape[1] * shape[2]);
    std::vector<double> hidden(size);
    std::vector<double> d_out(size);
    for (std::size_t k = 0; k < size; ++k) {
      hidden[k] = std::sin(0.37 * static_cast<double>(k));
      d_out[k] = std::cos(0.71 * static_cast<double>(k));
    }
    std::vector<std::uint8_t> mask;
    base::View2<const std::uint8_t> mask_view;
    if (!reference["attention_mask"].is_null()) {
      for (double value : flatten(reference["attention_mask"])) mask.push_back(value != 0 ? 1 : 0);
      mask_view = {mask.data(), {shape[0], shape[1]}};
    }
    std::vector<double> out(size, std::numeric_limits<double>::quiet_NaN());
    std::vector<double> d_hidden(size);
    const Mixer mixer = parse_mixer("mean");
    mixer_forward<double>(pool, mixer, {}, {hidden.data(), extents}, mask_view,
                          {out.data(), extents});
    mixer_backward<double>(pool, mixer, {}, {}, mask_view, {d_out.data(), extents},
                           {d_hidden.data(), extents}, {});
    expect_near(out, reference["out"], name + ", out ");
    expect_near(d_hidden, reference["d_hidden"], name + ", d_hidden ");
  }
}

}  // namespace
}  // namespace lexirow::context
