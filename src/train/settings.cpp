#include "train/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "lexirow/error.h"

namespace lexirow::train {

namespace {

constexpr bool kFree = true;

using S = Settings;

std::vector<SettingField> text_and_model_fields() {
  return {
      {"preset", &S::preset, "Preset",
       "auto|plain|character|character-small|word|word-medium|gpt2-vocabulary",
       "a set of flags; auto looks at the text; every flag given overrides it"},

      {"tokenizer", &S::tokenizer, "Text", "char|byte|word|bpe:N|FILE",
       "how text becomes tokens; bpe:N learns N tokens from the text; FILE is a tokenizer.json, "
       "GPT-2's encoder.json or vocab.bpe, a tiktoken rank file, or a folder with one of these"},
      {"split", &S::split, "Text", "auto|gpt2|cl100k|o200k|llama3|qwen2",
       "how a tiktoken rank file cuts text (auto: by its number of ranks)"},
      {"special", &S::special, "Text", "TOKEN,...",
       "special tokens whose spellings in the text stand for them (all: every one); the others are "
       "plain text"},
      {"word-split", &S::word_split, "Text", "unicode|space",
       "word: at spaces and punctuation, or at spaces only"},
      {"min-count", &S::min_count, "Text", "N", "word: rarer words become <unk>"},
      {"max-vocab", &S::max_vocab, "Text", "N", "word: words kept at most (0: all)"},
      {"pad", &S::pad, "Text", "", "add a <pad> token"},
      {"unk", &S::unk, "Text", "", "add an <unk> token (word always has one)"},
      {"bos", &S::bos, "Text", "", "add <bos> and put it before every document"},
      {"eos", &S::eos, "Text", "", "put <eos> after every line, in place of the line end"},
      {"documents", &S::documents, "Text", "stream|line",
       "each file is one stream of tokens, or each line is a document"},
      {"raw", &S::raw, "Text", "", "keep a byte-order mark and CRLF line ends as they are"},
      {"strict", &S::strict, "Text", "", "refuse invalid UTF-8 instead of reading U+FFFD"},

      {"mixer", &S::mixer, "Model", "none|mean|window:W|concat:W|decay:R|full-mean|centred",
       "how rows mix into a context (the last two see the future: controls); decay takes rates "
       "such as decay:0.5:0.9, or decay:learned:K; several joined by + stand side by side"},
      {"allow-leak", &S::allow_leak, "Model", "", "permit the mixers that see the future"},
      {"positions", &S::positions, "Model", "none|learned|sinusoidal",
       "add to each row one of its position in the piece: from a table, or computed; they begin "
       "anew "
       "after --context tokens"},
      {"dim", &S::dim, "Model", "D", "width of a row"},
      {"hidden", &S::hidden, "Model", "H",
       "hidden width of the MLP; 0 leaves it out (-1: dim, or 0 for mixer none)"},
      {"layers", &S::layers, "Model", "L", "hidden layers of the MLP"},
      {"activation", &S::activation, "Model", "gelu|relu", "what follows each hidden layer"},
      {"residual", &S::residual, "Model", "",
       "from the second hidden layer on, add what a layer gives to what it read"},
      {"layer-norm", &S::layer_norm, "Model", "",
       "normalise what the second hidden layer and those after it read, and the end of a residual "
       "stack"},
      {"dropout", &S::dropout, "Model", "P",
       "share of each hidden layer's units left out of a training step"},
      {"skip", &S::skip, "Model", "", "add the current row after the MLP"},
      {"tied", &S::tied, "Model", "", "use the table as the head (without bias unless --bias)"},
      {"bias", &S::bias, "Model", "", "give the head a bias"},
      {"pad-row", &S::pad_row, "Model", "zero|keep",
       "the row of <pad> is zeros, or keeps what it was drawn with; it never moves"},
      {"init", &S::init, "Model", "auto|torch",
       "draw parameters as PyTorch does; auto scales learned positions and a table that is tied or "
       "without an MLP, and starts the biases of a sampled loss at the tokens' shares"},
      {"table", &S::table, "Model", "FILE",
       "start from the rows of any table (word vectors, model folders ...), found by the names of "
       "the tokens; its width must be --dim"},
  };
}

std::vector<SettingField> data_and_training_fields() {
  return {
      {"context", &S::context, "Data", "T",
       "length of a training piece (window:W is how far one position looks)"},
      {"stride", &S::stride, "Data", "N", "distance of the pieces' starts (0: the context)"},
      {"carry", &S::carry, "Data", "",
       "read earlier tokens before each piece: W-1 (window, concat), those that count (decay); "
       "held-out losses carry running averages on"},
      {"restart-every", &S::restart_every, "Data", "N",
       "with --carry: every Nth piece begins as a text does, nothing read before it, so that short "
       "prompts are learned too (0: none)"},
      {"batch", &S::batch, "Data", "B", "pieces in a batch"},
      {"validation", &S::validation, "Data", "FRACTION|none",
       "hold out the last part of the tokens"},
      {"validation-file", &S::validation_file, "Data", "FILE", "hold out this text instead"},

      {"steps", &S::steps, "Training", "N", "optimizer updates (0: no limit)", kFree},
      {"epochs", &S::epochs, "Training", "X", "passes over the text at most (0: no limit)", kFree},
      {"minutes", &S::minutes, "Training", "X",
       "time at most; a probe turns it into steps (0: no limit)", kFree},
      {"loss", &S::loss, "Training", "full|sampled:K|auto",
       "softmax over the vocabulary, or over each label and K tokens drawn for the batch (auto: "
       "sampled above 8192 tokens)"},
      {"optimizer", &S::optimizer, "Training", "adamw|sgd|adagrad|adagrad-row",
       "how gradients become steps"},
      {"momentum", &S::momentum, "Training", "X", "sgd: share of the last step kept"},
      {"row-updates", &S::row_updates, "Training", "dense|lazy",
       "step every row every time as PyTorch does, or only the rows read"},
      {"lr", &S::lr, "Training", "X", "learning rate"},
      {"weight-decay", &S::weight_decay, "Training", "X",
       "decay of the parameters; of adamw alone unless given"},
      {"decay-of", &S::decay_of, "Training", "all|matrices",
       "what decays: every parameter as in PyTorch, or all but biases, norms and learned rates"},
      {"schedule", &S::schedule, "Training", "constant|cosine|one-cycle|plateau",
       "learning rate over the steps; plateau halves it when the held-out loss stops to fall"},
      {"plateau", &S::plateau, "Training", "N",
       "plateau: held-out losses without gain before the rate is halved"},
      {"schedule-steps", &S::schedule_steps, "Training", "N",
       "steps the schedule is made for (0: those of the first run)", kFree},
      {"warmup", &S::warmup, "Training", "N|P%",
       "steps of rising rate, or a share of the steps (one-cycle: 30% where it is 0)"},
      {"clip", &S::clip, "Training", "X", "largest norm of the gradient (0: no limit)"},
      {"seed", &S::seed, "Training", "N", "start of every random stream"},

      {"eval-every", &S::eval_every, "Reporting and saving", "N",
       "steps between held-out losses (0: only at the end)", kFree},
      {"patience", &S::patience, "Reporting and saving", "N",
       "stop after N held-out losses without gain and keep the best (0: keep the last)", kFree},
      {"log-every", &S::log_every, "Reporting and saving", "N", "steps between history lines",
       kFree},
      {"save-every", &S::save_every, "Reporting and saving", "N",
       "steps between resume states (0: only at the end)", kFree},
      {"save-seconds", &S::save_seconds, "Reporting and saving", "X",
       "seconds between resume states, more where writing one takes long (0: off)", kFree},
  };
}

template <typename Number>
Number parse_number(const std::string& name, const std::string& text, const char* expected) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  bool good = error == std::errc() && stop == end;
  if constexpr (std::is_floating_point_v<Number>) good = good && std::isfinite(value);
  if (!good) {
    throw Error(ErrorKind::argument,
                fmt::format("--{}: got '{}', expected {}", name, text, expected));
  }
  return value;
}

bool parse_flag(const std::string& name, const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw Error(ErrorKind::argument,
              fmt::format("--{}: got '{}', expected true or false", name, text));
}

const SettingField& field_by_name(const std::string& name) {
  for (const SettingField& field : setting_fields()) {
    if (field.name == name) return field;
  }
  throw Error(ErrorKind::argument, fmt::format("--{}: no such setting; see train --help", name));
}

// A list such as unicode|space names the only values there are; one with capitals describes a form.
void check_choice(const SettingField& field, const std::string& text) {
  const std::string& form = field.value;
  if (form.find('|') == std::string::npos) return;
  if (std::any_of(form.begin(), form.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) return;
  if (("|" + form + "|").find("|" + text + "|") != std::string::npos && !text.empty()) return;
  throw Error(ErrorKind::argument,
              fmt::format("--{}: got '{}', expected one of {}", field.name, text, form));
}

}  // namespace

const std::vector<SettingField>& setting_fields() {
  static const std::vector<SettingField> fields = [] {
    std::vector<SettingField> all = text_and_model_fields();
    const std::vector<SettingField> more = data_and_training_fields();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return fields;
}

std::string setting_text(const Settings& settings, const SettingField& field) {
  return std::visit(
      [&](auto member) -> std::string {
        const auto& value = settings.*member;
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, bool>) {
          return value ? "true" : "false";
        } else if constexpr (std::is_same_v<Value, std::string>) {
          return value;
        } else {
          return fmt::format("{}", value);
        }
      },
      field.member);
}

void set_setting(Settings& settings, const std::string& name, const std::string& text) {
  const SettingField& field = field_by_name(name);
  check_choice(field, text);
  std::visit(
      [&](auto member) {
        auto& value = settings.*member;
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, bool>) {
          value = parse_flag(name, text);
        } else if constexpr (std::is_same_v<Value, std::string>) {
          value = text;
        } else if constexpr (std::is_same_v<Value, double>) {
          value = parse_number<double>(name, text, "a number");
        } else {
          value = parse_number<std::int64_t>(name, text, "a whole number");
        }
      },
      field.member);
}

std::string setting_argument(const Settings& settings, const SettingField& field) {
  const std::string text = setting_text(settings, field);
  if (field.value.empty()) return fmt::format("--{}{}", text == "true" ? "" : "no-", field.name);
  return fmt::format("--{} {}", field.name, base::shell_word(text));
}

std::string setting_arguments(const Settings& settings) {
  const Settings initial;
  std::string result;
  for (const SettingField& field : setting_fields()) {
    if (field.name == "preset") continue;
    const std::string text = setting_text(settings, field);
    // --tied says something of the bias where nothing else does.
    const bool said = field.name == "bias" && settings.tied;
    if (text == setting_text(initial, field) && !said) continue;
    if (!result.empty()) result += ' ';
    result += setting_argument(settings, field);
  }
  return result;
}

nlohmann::ordered_json settings_to_json(const Settings& settings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const SettingField& field : setting_fields()) {
    std::visit([&](auto member) { json[field.name] = settings.*member; }, field.member);
  }
  return json;
}

Given given_from_json(const nlohmann::ordered_json& json, const std::string& where) {
  if (!json.is_object()) {
    throw Error(ErrorKind::file,
                fmt::format("{}: expected a JSON object of flag names and values", where));
  }
  Given given;
  for (const auto& [name, value] : json.items()) {
    const bool known =
        std::any_of(setting_fields().begin(), setting_fields().end(),
                    [&, &key = name](const auto& field) { return field.name == key; });
    if (!known) {
      throw Error(ErrorKind::file,
                  fmt::format("{}: unknown setting '{}'; the names are those of train --help "
                              "without dashes, but for the group Run, which stands on the command "
                              "line",
                              where, name));
    }
    if (value.is_structured() || value.is_null()) {
      throw Error(ErrorKind::file,
                  fmt::format("{}: '{}' has to be a text, a number, true or false", where, name));
    }
    given.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return given;
}

}  // namespace lexirow::train
