#include "generate/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/random.h"
#include "generate/stream.h"
#include "lexirow/error.h"

namespace lexirow::generate {

std::vector<bool> allowed_ids(const model::ModelConfig& config, const text::Tokenizer& tokenizer) {
  std::vector<bool> allowed(static_cast<std::size_t>(config.vocab_size), false);
  const std::int64_t spelt = std::min(config.vocab_size, tokenizer.vocab_size());
  std::fill_n(allowed.begin(), spelt, true);
  const text::SpecialTokens& specials = tokenizer.specials();
  for (Id id : {config.pad_id, specials.pad, specials.bos, specials.unk}) {
    if (id >= 0 && id < config.vocab_size) allowed[static_cast<std::size_t>(id)] = false;
  }
  return allowed;
}

GenerateResult generate(base::ThreadPool& pool, const model::ModelConfig& config,
                        const model::Parameters<float>& parameters,
                        const text::Tokenizer& tokenizer, std::span<const Id> prompt,
                        const GenerateOptions& options, const std::function<void(Id)>& on_token) {
  validate(options.choice);
  if (options.tokens < 0) {
    throw Error(ErrorKind::argument,
                fmt::format("tokens: got {}, expected 0 or more", options.tokens));
  }
  Stream stream(pool, config, parameters, options.context);
  GenerateResult result;
  if (options.context > 0) {
    result.dropped_prompt_tokens =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(prompt.size()) - options.context);
    prompt = prompt.subspan(static_cast<std::size_t>(result.dropped_prompt_tokens));
  }
  for (Id id : prompt) stream.push(id);
  result.unseen_prompt_tokens = stream.position() - stream.visible();

  const std::vector<bool> allowed = allowed_ids(config, tokenizer);
  const Id eos = tokenizer.specials().eos;
  base::SplitMix random(options.seed);
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < options.tokens; ++i) {
    const Id id = choose(stream.logits(), allowed, options.choice, random);
    if (options.stop_at_eos && id == eos) {
      result.stopped_at_eos = true;
      break;
    }
    result.ids.push_back(id);
    stream.push(id);
    if (on_token) on_token(id);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (seconds.count() > 0) {
    result.tokens_per_second = static_cast<double>(result.ids.size()) / seconds.count();
  }
  return result;
}

}  // namespace lexirow::generate
