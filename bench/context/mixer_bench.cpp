#include "context/mixer.h"
#include "support.h"

namespace lexirow::bench {
namespace {

constexpr std::int64_t kDim = 256;
constexpr std::int64_t kMixed = 8192;

void mixer(benchmark::State& state, const char* name) {
  const context::Mixer kind = context::parse_mixer(name);
  const std::int64_t steps = state.range(0);
  const std::int64_t batch = kMixed / steps;
  const std::int64_t features = context::feature_width(kind, kDim);
  const base::Array<float> hidden = some_values<float>(kMixed * kDim);
  const base::Array<float> d_out = some_values<float>(kMixed * features);
  base::Array<float> out(kMixed * features);
  base::Array<float> d_hidden(kMixed * kDim);
  for (auto _ : state) {
    context::mixer_forward<float>(pool(), kind, {}, hidden.view(batch, steps, kDim), {},
                                  out.view(batch, steps, features));
    context::mixer_backward<float>(pool(), kind, {}, {}, {}, d_out.view(batch, steps, features),
                                   d_hidden.view(batch, steps, kDim), {});
  }
  moves_bytes(state, kMixed * (3 * kDim + 2 * features) * std::int64_t{sizeof(float)});
}
BENCHMARK_CAPTURE(mixer, none, "none")->Arg(256)->UseRealTime();
BENCHMARK_CAPTURE(mixer, mean, "mean")->Arg(64)->Arg(1024)->Arg(8192)->UseRealTime();
BENCHMARK_CAPTURE(mixer, window_8, "window:8")->Arg(64)->Arg(8192)->UseRealTime();
BENCHMARK_CAPTURE(mixer, window_512, "window:512")->Arg(8192)->UseRealTime();
BENCHMARK_CAPTURE(mixer, decay, "decay:0.9")->Arg(64)->Arg(8192)->UseRealTime();
BENCHMARK_CAPTURE(mixer, joined, "none+concat:8+decay:0.5:0.9:0.98+mean")->Arg(64)->UseRealTime();
BENCHMARK_CAPTURE(mixer, concat_8, "concat:8")->Arg(64)->Arg(8192)->UseRealTime();

}  // namespace
}  // namespace lexirow::bench
