#include "measure/model_cases.h"

#include "context/mixer.h"
#include "generate/stream.h"
#include "measure/zipf.h"
#include "text/token_stream.h"
#include "text/windows.h"
#include "train/derive.h"
#include "train/trainer.h"

namespace lexirow::measure {
namespace {

/// Steps before ids are read again.
constexpr std::int64_t kBatches = 32;

model::ModelConfig config_of(const CaseSizes& sizes) {
  model::ModelConfig config;
  config.vocab_size = sizes.vocab_size;
  config.dim = sizes.settings.dim;
  config.hidden = sizes.settings.hidden;
  config.mlp = train::mlp_form(sizes.settings);
  config.mixer = context::parse_mixer(sizes.settings.mixer);
  config.tied = sizes.settings.tied;
  config.bias = sizes.settings.bias;
  model::validate(config);
  return config;
}

/// Operations of the products that score one position.
double operations_of_scoring(const model::ModelConfig& config) {
  const std::int64_t features = context::feature_width(config.mixer, config.dim);
  const std::int64_t between = (config.mlp.layers - 1) * config.hidden;
  const std::int64_t mlp = config.hidden * (features + between + config.dim);
  return 2 * static_cast<double>(mlp + config.vocab_size * config.dim);
}

}  // namespace

Measurement step_case(base::ThreadPool& pool, const CaseSizes& sizes) {
  const train::Settings& settings = sizes.settings;
  store::ModelFolder folder;
  folder.config = config_of(sizes);
  folder.parameters = model::Parameters<float>(folder.config);
  const std::int64_t tokens = kBatches * sizes.positions() + 1;
  const text::MemoryTokenStream stream(
      zipf_ids(sizes.vocab_size, tokens, static_cast<std::uint64_t>(settings.seed)), {0, tokens});
  const text::WindowPlan plan(stream, 0, tokens, train::window_options(settings, true));
  train::Trainer trainer(pool, settings, folder, stream, plan);
  trainer.draw();
  Measurement result;
  result.tokens = sizes.positions();
  result.limit = Limit::matrix_rate;
  result.work = 3 * operations_of_scoring(folder.config) * static_cast<double>(sizes.positions());
  result.timing = repeat(sizes.seconds, [&] { trainer.step(); });
  return result;
}

Measurement generate_case(base::ThreadPool& pool, const CaseSizes& sizes) {
  const model::ModelConfig config = config_of(sizes);
  model::Parameters<float> parameters(config);
  const auto seed = static_cast<std::uint64_t>(sizes.settings.seed);
  model::initialize<float>(config, seed, model::Init::torch, parameters);
  generate::Stream stream(pool, config, parameters);
  const std::vector<Id> ids = zipf_ids(sizes.vocab_size, sizes.settings.context, seed);
  for (const Id id : ids) stream.push(id);
  std::size_t next = 0;
  Measurement result;
  result.tokens = 1;
  result.work = operations_of_scoring(config) / 2 * sizeof(float);  // each weight read once
  result.timing = repeat(sizes.seconds, [&] {
    stream.push(ids[next++ % ids.size()]);
    stream.logits();
  });
  return result;
}

}  // namespace lexirow::measure
