#include "train/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "context/mixer.h"
#include "lexirow/error.h"
#include "text/vocabulary.h"
#include "train/derive.h"

namespace lexirow::train {

namespace {

constexpr std::int64_t kSmallText = 2'000'000;
// From here on the larger presets serve better.
constexpr std::int64_t kManyCharacters = 300'000;
constexpr std::int64_t kManyWords = 1'000'000;
constexpr std::int64_t kLargeText = 20'000'000;
constexpr std::int64_t kFewWords = 300'000;  // bytes up to which words need more passes
// Bytes that are held out at most: a loss by the full softmax takes a third of a millisecond for
// each token of a large vocabulary, and more text makes it no surer than the seed does.
constexpr double kMostHeldOut = 500'000;

// What the presets for real use share. The limits by epochs keep a short text from being learned by
// heart in the ten minutes; the figures are in docs/training.md.
const Given kCommon = {
    {"carry", "true"}, {"optimizer", "adamw"},  {"schedule", "cosine"}, {"warmup", "5%"},
    {"clip", "1"},     {"row-updates", "lazy"}, {"save-seconds", "60"}, {"minutes", "10"},
    {"steps", "0"},    {"init", "auto"},        {"patience", "5"},
};
const Given kCharacter = {
    {"tokenizer", "char"}, {"mixer", "concat:16"},  {"dim", "32"},
    {"hidden", "512"},     {"context", "64"},       {"batch", "32"},
    {"lr", "0.004"},       {"weight-decay", "0.3"}, {"epochs", "8"},
};
// Six rows in their order and averages for what lies further back: more rows in order are learned
// by heart, docs/quality.md.
const Given kCharacterSmall = {
    {"tokenizer", "char"},   {"mixer", "concat:6+decay:0.6:0.7:0.8:0.9:0.97"},
    {"dim", "32"},           {"hidden", "256"},
    {"layers", "3"},         {"residual", "true"},
    {"layer-norm", "true"},  {"dropout", "0.1"},
    {"context", "64"},       {"batch", "32"},
    {"lr", "0.004"},         {"schedule", "one-cycle"},
    {"weight-decay", "0.1"}, {"epochs", "8"},
};
const Given kWord = {
    {"tokenizer", "word"}, {"max-vocab", "30000"},  {"mixer", "concat:4"}, {"dim", "64"},
    {"hidden", "128"},     {"context", "16"},       {"batch", "32"},       {"lr", "0.002"},
    {"tied", "true"},      {"weight-decay", "0.5"}, {"epochs", "16"},
};
const Given kWordMedium = {
    {"tokenizer", "word"},
    {"max-vocab", "60000"},
    {"mixer", "concat:4+decay:0.6:0.75:0.85:0.93:0.98"},
    {"dim", "128"},
    {"hidden", "256"},
    {"tied", "true"},
    {"dropout", "0.2"},
    {"context", "16"},
    {"batch", "32"},
    {"loss", "auto"},
    {"lr", "0.0025"},
    {"schedule", "one-cycle"},
    {"weight-decay", "0.5"},
    {"epochs", "6"},
};
// A pass over 200 MB in an hour: large batches share out the sweep over the whole table.
const Given kGpt2Vocabulary = {
    {"tokenizer", "bpe:50257"},
    {"mixer", "concat:4+decay:0.7:0.9:0.98"},
    {"dim", "256"},
    {"hidden", "256"},
    {"context", "32"},
    {"batch", "128"},
    {"restart-every", "16"},
    {"lr", "0.003"},
    {"schedule", "one-cycle"},
    {"tied", "true"},
    {"weight-decay", "0.1"},
    {"loss", "auto"},
    {"epochs", "4"},
    {"minutes", "60"},
    {"eval-every", "3000"},
};

struct Preset {
  const char* name;
  bool words;  ///< or pieces of words
  const Given* values;
};
const Preset kPresets[] = {
    {"character", false, &kCharacter},
    {"character-small", false, &kCharacterSmall},
    {"word", true, &kWord},
    {"word-medium", true, &kWordMedium},
    {"gpt2-vocabulary", true, &kGpt2Vocabulary},
};

std::string given_value(const Given& given, const std::string& name, const std::string& otherwise) {
  std::string value = otherwise;
  for (const auto& [key, text] : given) {
    if (key == name) value = text;
  }
  return value;
}

/// The share of a text that presets hold out.
std::string held_out_share(std::int64_t bytes) {
  if (bytes < kSmallText) return "0.1";
  return fmt::format("{:.2g}", std::min(0.05, kMostHeldOut / static_cast<double>(bytes)));
}

/// The preset for characters or for words that serves a text of this size.
std::string preset_for(bool words, bool pieces, const TextFacts& facts) {
  if (words && pieces && facts.bytes >= kLargeText) return "gpt2-vocabulary";
  if (words) return facts.bytes < kManyWords ? "word" : "word-medium";
  return facts.bytes < kManyCharacters ? "character" : "character-small";
}

// The preset that fits: a tokenizer named by the user decides, else the text.
std::string choose_preset(const Given& given, const TextFacts& facts, std::string& choice) {
  const std::string asked = given_value(given, "preset", "auto");
  if (asked != "auto") return asked;
  if (is_given(given, "tokenizer")) {
    const std::string tokenizer = given_value(given, "tokenizer", "");
    // Pieces of words take the place of words.
    const bool pieces = !text::is_tokenizer_form(tokenizer) || tokenizer.starts_with("bpe");
    const bool words = tokenizer == "word" || (pieces && facts.mostly_words);
    const std::string preset = preset_for(words, pieces, facts);
    choice = fmt::format("preset {}: it fits --tokenizer {}", preset, tokenizer);
    return preset;
  }
  for (const char* name : {"word-split", "min-count", "max-vocab"}) {
    if (!is_given(given, name)) continue;
    const std::string preset = preset_for(true, false, facts);
    choice = fmt::format("preset {}: it fits --{}", preset, name);
    return preset;
  }
  if (facts.mostly_words && facts.rare_words) {
    const std::string preset = preset_for(false, false, facts);
    choice = fmt::format(
        "preset {}: too few of its words stand there three times to learn words from", preset);
    return preset;
  }
  const std::string preset = preset_for(facts.mostly_words, false, facts);
  choice = fmt::format("preset {}: {}", preset, facts.reason);
  return preset;
}

void apply(Settings& settings, const Given& values) {
  for (const auto& [name, text] : values) set_setting(settings, name, text);
}

void apply_preset(Settings& settings, const std::string& preset, const TextFacts& facts) {
  settings.preset = preset;
  if (preset == "plain") return;  // the initial values
  const auto* const found = std::find_if(std::begin(kPresets), std::end(kPresets),
                                         [&](const Preset& each) { return preset == each.name; });
  if (found == std::end(kPresets)) return;  // set_setting has refused it
  apply(settings, kCommon);
  apply(settings, *found->values);
  settings.validation = held_out_share(facts.bytes);
  if (!found->words) return;
  if (settings.tokenizer == "word") settings.min_count = facts.bytes > kLargeText ? 5 : 3;
  if (preset == "word" && facts.bytes > kFewWords) settings.epochs = 8;
}

// What follows from other settings unless it was given itself.
void apply_consequences(Settings& settings, const Given& given) {
  const auto free = [&](const char* name) { return !is_given(given, name); };
  if (settings.tokenizer != "word") {  // nothing is counted
    if (free("min-count")) settings.min_count = 1;
    if (free("max-vocab")) settings.max_vocab = 0;
  }
  if (settings.mixer == "none" && free("hidden")) settings.hidden = 0;
  if (settings.hidden == -1) settings.hidden = settings.dim;
  // How a preset stacks layers ends where the user leaves them out.
  if (settings.hidden == 0 && free("layers")) settings.layers = 1;
  if (settings.hidden == 0 && free("dropout")) settings.dropout = 0;
  if (settings.layers == 1 && free("residual")) settings.residual = false;
  if (settings.layers == 1 && free("layer-norm")) settings.layer_norm = false;
  if (given_value(given, "row-updates", "dense") == "lazy" && free("tied")) settings.tied = false;
  // Without the MLP a tied head could only score a token by its likeness to the one before.
  if (settings.hidden == 0 && free("tied")) settings.tied = false;
  if (settings.tied && free("bias")) settings.bias = false;
  if (settings.tied && free("row-updates")) settings.row_updates = "dense";
  if (settings.optimizer != "adamw" && free("weight-decay")) settings.weight_decay = 0;
  if (!settings.validation_file.empty() && free("validation")) settings.validation = "none";
  const bool holds_out = validation_fraction(settings) > 0 || !settings.validation_file.empty();
  if ((!holds_out || settings.eval_every == 0) && free("patience")) settings.patience = 0;
  if (!settings.carry && free("restart-every")) settings.restart_every = 0;
  if (settings.stride == 0) settings.stride = settings.context;
  // Of steps, epochs and minutes, those given stand alone; a preset's limit by epochs stays beside
  // --minutes, since more time does not make more text.
  if (is_given(given, "steps") || is_given(given, "epochs")) {
    if (free("minutes")) settings.minutes = 0;
    if (free("epochs")) settings.epochs = 0;
  }
  if ((is_given(given, "epochs") || is_given(given, "minutes")) && free("steps")) {
    settings.steps = 0;
  }
}

// Settings that apply_consequences changes although a preset has chosen them.
const std::set<std::string> kFollowing = {"tied",    "bias",     "row-updates", "layers",
                                          "dropout", "residual", "layer-norm",  "weight-decay"};

/// What the given options change of the preset beside themselves, since the two do not go together.
std::string say_consequences(const Settings& settings, const Settings& alone, const Given& given) {
  std::string changed;
  for (const SettingField& field : setting_fields()) {
    if (!kFollowing.contains(field.name) || is_given(given, field.name)) continue;
    if (setting_text(settings, field) == setting_text(alone, field)) continue;
    changed += " " + setting_argument(settings, field);
  }
  return changed;
}

void require(bool good, const std::string& text) {
  if (!good) throw Error(ErrorKind::argument, text);
}

void require_at_least(const char* name, std::int64_t value, std::int64_t least) {
  require(value >= least, fmt::format("--{}: got {}, expected {} or more", name, value, least));
}

void require_not_negative(const char* name, double value) {
  require(value >= 0, fmt::format("--{}: got {}, expected 0 or more", name, value));
}

void validate_model(const Settings& settings) {
  const context::Mixer mixer = context::parse_mixer(settings.mixer);
  require(settings.allow_leak || !context::leaks_future(mixer),
          fmt::format("--mixer {}: this mixer reads the tokens it is to predict, so its loss means "
                      "nothing; add --allow-leak to train it as a control",
                      settings.mixer));
  require_at_least("dim", settings.dim, 1);
  require_at_least("hidden", settings.hidden, 0);
  const std::int64_t blocks = context::feature_width(mixer, 1);
  require(blocks == 1 || settings.hidden > 0,
          fmt::format("--mixer {}: {} rows side by side need the MLP, but --hidden is 0; give "
                      "--hidden H",
                      settings.mixer, blocks));
  require(!settings.skip || settings.hidden > 0,
          "--skip: it adds the current row after the MLP, but --hidden is 0; give --hidden H");
  negatives_of(settings);
  const logits::MlpForm form = mlp_form(settings);
  logits::validate(form);
  require(settings.hidden > 0 || form == logits::MlpForm(),
          "--layers, --activation, --residual, --layer-norm, --dropout: they shape hidden layers, "
          "but --hidden is 0; give --hidden H");
  require(!(settings.tied && settings.row_updates == "lazy"),
          "--row-updates lazy: a tied table gets a gradient in every row at every step; leave out "
          "--tied or use --row-updates dense");
}

// What only a vocabulary of words that is still to be made can follow. How a file's words are split
// is compared with the file, see agree_with_tokenizer.
void validate_word_options(const Settings& settings) {
  require_at_least("min-count", settings.min_count, 1);
  require_at_least("max-vocab", settings.max_vocab, 0);
  if (text::is_tokenizer_form(settings.tokenizer)) text::parse_tokenizer_form(settings.tokenizer);
  const bool file = !text::is_tokenizer_form(settings.tokenizer);
  require(file || settings.pad || settings.pad_row == "zero",
          "--pad-row: there is no row of <pad> without --pad");
  require(file || settings.split == "auto",
          fmt::format("--split: it is for a tiktoken rank file, but --tokenizer is {}",
                      settings.tokenizer));
  if (settings.tokenizer == "word") return;
  const std::string reason =
      file ? fmt::format(
                 "--tokenizer {} brings a vocabulary of its own; leave it out, or make a new "
                 "one with --tokenizer word",
                 settings.tokenizer)
           : fmt::format("--tokenizer is {}; leave it out, or give --tokenizer word",
                         settings.tokenizer);
  require(settings.min_count == 1,
          "--min-count: it is for making a vocabulary of words, but " + reason);
  require(settings.max_vocab == 0,
          "--max-vocab: it is for making a vocabulary of words, but " + reason);
  require(file || settings.word_split == "unicode", "--word-split: it is for words, but " + reason);
}

void validate_data(const Settings& settings) {
  validate_word_options(settings);
  require_at_least("context", settings.context, 1);
  require_at_least("batch", settings.batch, 1);
  require_at_least("restart-every", settings.restart_every, 0);
  require(
      settings.restart_every == 0 || settings.carry,
      "--restart-every: without --carry every piece begins with nothing before it; leave it out "
      "or give --carry");
  require(settings.stride >= 1 && settings.stride <= settings.context,
          fmt::format("--stride: got {}, expected 1 to the context ({}); a larger one would leave "
                      "tokens out",
                      settings.stride, settings.context));
  const double fraction = validation_fraction(settings);
  require(fraction >= 0 && fraction < 1,
          fmt::format("--validation: got {}, expected a fraction from 0 to below 1",
                      settings.validation));
  require(settings.validation_file.empty() || fraction == 0,
          "--validation and --validation-file: give one of them");
}

void validate_training(const Settings& settings) {
  require_at_least("steps", settings.steps, 0);
  require_not_negative("epochs", settings.epochs);
  require_not_negative("minutes", settings.minutes);
  require(settings.steps > 0 || settings.epochs > 0 || settings.minutes > 0,
          "--steps, --epochs, --minutes: all are 0, so training would never end; give one of them");
  require(settings.lr > 0, fmt::format("--lr: got {}, expected more than 0", settings.lr));
  require(settings.momentum >= 0 && settings.momentum < 1,
          fmt::format("--momentum: got {}, expected 0 to below 1", settings.momentum));
  require(settings.momentum == 0 || settings.optimizer == "sgd",
          fmt::format("--momentum: only sgd has it, but --optimizer is {}", settings.optimizer));
  require_not_negative("weight-decay", settings.weight_decay);
  require_not_negative("clip", settings.clip);
  require_not_negative("save-seconds", settings.save_seconds);
  require_at_least("schedule-steps", settings.schedule_steps, 0);
  require_at_least("eval-every", settings.eval_every, 0);
  require_at_least("patience", settings.patience, 0);
  require_at_least("log-every", settings.log_every, 1);
  require_at_least("save-every", settings.save_every, 0);
  require_at_least("seed", settings.seed, 0);
  warmup_steps(settings, 1);
  require_at_least("plateau", settings.plateau, 1);
  require(settings.schedule == "plateau" || settings.plateau == Settings().plateau,
          fmt::format("--plateau: only the schedule plateau has it, but --schedule is {}",
                      settings.schedule));
  require(settings.schedule != "plateau" ||
              ((validation_fraction(settings) > 0 || !settings.validation_file.empty()) &&
               settings.eval_every > 0),
          "--schedule plateau: it follows the held-out loss, but nothing is held out or "
          "--eval-every is 0; give --validation or --validation-file");
  require(settings.patience == 0 || validation_fraction(settings) > 0 ||
              !settings.validation_file.empty(),
          "--patience: it counts held-out losses, but nothing is held out; give --validation or "
          "--validation-file");
  require(settings.patience == 0 || settings.eval_every > 0,
          "--patience: it counts held-out losses, but --eval-every is 0");
}

double parse_share(const char* name, const std::string& text, const char* expected) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  require(used == text.size() && used > 0 && std::isfinite(value),
          fmt::format("--{}: got '{}', expected {}", name, text, expected));
  return value;
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& each : kPresets) names.emplace_back(each.name);
  return names;
}

bool is_given(const Given& given, const std::string& name) {
  return std::any_of(given.begin(), given.end(),
                     [&](const auto& pair) { return pair.first == name; });
}

Settings resolve_settings(const Given& given, const TextFacts& facts, std::string& choice) {
  choice.clear();
  Settings settings;
  for (const auto& [name, text] : given) set_setting(settings, name, text);  // names and forms
  settings = Settings();
  apply_preset(settings, choose_preset(given, facts, choice), facts);
  Settings alone = settings;
  apply_consequences(alone, {});
  for (const auto& [name, text] : given) {
    if (name != "preset") set_setting(settings, name, text);
  }
  apply_consequences(settings, given);
  validate(settings);
  const std::string changed = say_consequences(settings, alone, given);
  if (!changed.empty() && settings.preset != "plain") {
    choice += fmt::format("{}with what is given go also{}",
                          choice.empty() ? "preset " + settings.preset + ": " : "; ", changed);
  }
  return settings;
}

double validation_fraction(const Settings& settings) {
  if (settings.validation == "none") return 0;
  return parse_share("validation", settings.validation, "a fraction such as 0.1, or none");
}

std::int64_t warmup_steps(const Settings& settings, std::int64_t steps) {
  const char* expected = "a number of steps such as 100, or a share such as 5%";
  std::string text = settings.warmup;
  const bool share = !text.empty() && text.back() == '%';
  if (share) text.pop_back();
  const double value = parse_share("warmup", text, expected);
  require(value >= 0 && (!share || value <= 100) && (share || value == std::floor(value)),
          fmt::format("--warmup: got '{}', expected {}", settings.warmup, expected));
  if (!share) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(std::llround(value / 100 * static_cast<double>(steps)));
}

void validate(const Settings& settings) {
  validate_model(settings);
  validate_data(settings);
  validate_training(settings);
}

}  // namespace lexirow::train
