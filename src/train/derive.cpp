#include "train/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "context/mixer.h"
#include "lexirow/error.h"
#include "train/presets.h"

namespace lexirow::train {

std::int64_t negatives_of(const Settings& settings) {
  if (settings.loss == "full" || settings.loss == "auto") return 0;
  constexpr std::string_view kSampled = "sampled:";
  std::int64_t count = 0;
  const char* const end = settings.loss.data() + settings.loss.size();
  if (settings.loss.starts_with(kSampled)) {
    const auto read = std::from_chars(settings.loss.data() + kSampled.size(), end, count);
    if (read.ec == std::errc() && read.ptr == end && count > 0) return count;
  }
  throw Error(
      ErrorKind::argument,
      fmt::format("--loss: got \"{}\", expected full, sampled:K with K of 1 or more (such as "
                  "sampled:512), or auto",
                  settings.loss));
}

std::string choose_loss(std::int64_t vocab_size, Settings& settings) {
  constexpr std::int64_t kLargestFull = 8192;
  constexpr const char* kAutomatic = "sampled:512";
  if (settings.loss == "auto") settings.loss = vocab_size > kLargestFull ? kAutomatic : "full";
  if (settings.loss == "full") return "";
  return fmt::format(
      "loss: {} of {} tokens for each batch (--loss full scores all of them); training losses are "
      "of those, held-out losses of all",
      settings.loss, vocab_size);
}

logits::MlpForm mlp_form(const Settings& settings) {
  logits::MlpForm form;
  form.layers = settings.layers;
  form.activation = logits::parse_activation(settings.activation);
  form.residual = settings.residual;
  form.layer_norm = settings.layer_norm;
  form.dropout = settings.dropout;
  return form;
}

model::ModelConfig model_config(const Settings& settings, const text::Tokenizer& tokenizer) {
  return model_config(settings, tokenizer.vocab_size(), tokenizer.specials().pad);
}

model::ModelConfig model_config(const Settings& settings, std::int64_t vocab_size, Id pad_id) {
  model::ModelConfig config;
  config.vocab_size = vocab_size;
  config.dim = settings.dim;
  config.positions = rows::parse_positions(settings.positions);
  if (config.positions != rows::Positions::none) config.max_positions = settings.context;
  config.mixer = context::parse_mixer(settings.mixer);
  config.hidden = settings.hidden;
  config.mlp = mlp_form(settings);
  config.skip = settings.skip;
  config.tied = settings.tied;
  config.bias = settings.bias;
  config.pad_id = pad_id;
  config.pad_policy = settings.pad_row == "keep" ? model::PadPolicy::keep : model::PadPolicy::zero;
  model::validate(config);
  return config;
}

optim::OptimizerConfig optimizer_config(const Settings& settings) {
  optim::OptimizerConfig config;
  if (settings.optimizer == "sgd") config.kind = optim::OptimizerKind::sgd;
  if (settings.optimizer == "adagrad") config.kind = optim::OptimizerKind::adagrad;
  if (settings.optimizer == "adagrad-row") config.kind = optim::OptimizerKind::adagrad_row;
  config.row_updates =
      settings.row_updates == "lazy" ? optim::RowUpdates::lazy : optim::RowUpdates::dense;
  // PyTorch's default for Adagrad; AdamW keeps its own.
  if (settings.optimizer.starts_with("adagrad")) config.eps = 1e-10;
  config.momentum = settings.momentum;
  config.weight_decay = settings.weight_decay;
  config.decay_vectors = settings.decay_of == "all";
  return config;
}

optim::Schedule schedule(const Settings& settings, std::int64_t steps) {
  optim::Schedule result;
  result.kind = optim::parse_schedule(settings.schedule);
  result.lr = settings.lr;
  result.schedule_steps = settings.schedule_steps > 0 ? settings.schedule_steps : steps;
  result.warmup_steps = warmup_steps(settings, result.schedule_steps);
  return result;
}

text::WindowOptions window_options(const Settings& settings, bool overlap) {
  text::WindowOptions options;
  options.context = settings.context;
  options.stride = overlap && settings.stride > 0 ? settings.stride : settings.context;
  if (settings.carry) {
    const context::Mixer mixer = context::parse_mixer(settings.mixer);
    options.carry = overlap ? context::carried_rows(mixer) : context::window_reach(mixer);
    options.restart_every = overlap ? settings.restart_every : 0;
  }
  return options;
}

text::VocabularyOptions vocabulary_options(const Settings& settings) {
  text::VocabularyOptions options;
  const text::TokenizerForm form = text::parse_tokenizer_form(settings.tokenizer);
  options.kind = form.kind;
  options.size = form.size;
  options.split = text::parse_word_split(settings.word_split);
  options.min_count = settings.min_count;
  options.max_vocab = settings.max_vocab;
  options.pad = settings.pad;
  options.unk = settings.unk;
  options.bos = settings.bos;
  options.eos = settings.eos;
  options.eos_per_line = settings.eos;
  options.lines = settings.documents == "line";
  options.strict = settings.strict;
  return options;
}

text::CorpusRules corpus_rules(const Settings& settings, const std::atomic<bool>* stop) {
  text::CorpusRules rules;
  rules.raw = settings.raw;
  rules.stop = stop;
  return rules;
}

text::EncodeRules encode_rules(const Settings& settings, const text::Tokenizer& tokenizer) {
  text::EncodeRules rules;
  rules.strict = settings.strict;
  if (!settings.special.empty()) {
    rules.specials = text::allow_specials(tokenizer, text::split_names(settings.special));
  }
  return rules;
}

text::DocumentRules document_rules(const Settings& settings) {
  text::DocumentRules rules;
  rules.lines = settings.documents == "line";
  rules.eos_per_line = settings.eos;
  rules.bos = settings.bos;
  return rules;
}

std::int64_t training_end(const text::TokenStream& stream, const Settings& settings) {
  const double fraction = validation_fraction(settings);
  const std::vector<std::int64_t>& boundaries = stream.boundaries();
  std::int64_t end = stream.size();
  if (fraction > 0 && settings.documents == "line") {
    const auto lines = static_cast<std::int64_t>(boundaries.size()) - 1;
    const auto held = static_cast<std::int64_t>(std::floor(fraction * static_cast<double>(lines)));
    end = boundaries[static_cast<std::size_t>(lines - held)];
  } else if (fraction > 0) {
    end -= static_cast<std::int64_t>(std::floor(fraction * static_cast<double>(end)));
  }
  return stream.size() - end < 2 ? stream.size() : end;
}

}  // namespace lexirow::train
