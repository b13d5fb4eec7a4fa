#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lexirow::train {

/// Everything that decides what a training run computes. The initial values are those of
/// `--preset plain`.
struct Settings {
  std::string preset = "auto";

  std::string tokenizer = "char";  ///< char, byte, word, bpe:N, or a file or folder with one
  std::string split = "auto";      ///< how a tiktoken rank file cuts text
  std::string special;             ///< special tokens read as such in the text, with commas between
  std::string word_split = "unicode";
  std::int64_t min_count = 1;
  std::int64_t max_vocab = 0;
  bool pad = false, unk = false, bos = false, eos = false;
  bool raw = false, strict = false;

  std::string mixer = "mean";
  bool allow_leak = false;
  std::string positions = "none";
  bool skip = false;
  std::int64_t dim = 64;
  std::int64_t hidden = -1;  ///< -1: dim, or 0 for mixer none
  std::int64_t layers = 1;
  std::string activation = "gelu";
  bool residual = false;
  bool layer_norm = false;
  double dropout = 0;
  bool tied = false;
  bool bias = true;
  std::string pad_row = "zero";

  std::int64_t context = 64;
  std::int64_t stride = 0;  ///< 0: context
  bool carry = false;
  std::int64_t restart_every = 0;  ///< of carried pieces, every Nth starts anew (0: none)
  std::string documents = "stream";
  std::int64_t batch = 32;

  std::int64_t steps = 2000;  ///< 0: no limit by steps
  double epochs = 0;          ///< 0: no limit by epochs
  double minutes = 0;         ///< 0: no limit by time

  std::string loss = "full";  ///< full, sampled:K with K negatives a batch, auto: by vocabulary
  std::string optimizer = "adamw";
  double momentum = 0;
  std::string row_updates = "dense";
  double lr = 3e-3;
  double weight_decay = 0.01;
  std::string decay_of = "all";
  std::string schedule = "constant";
  std::int64_t plateau = 2;         ///< held-out losses without gain before the rate is halved
  std::int64_t schedule_steps = 0;  ///< 0: the first run's steps
  std::string warmup = "0";         ///< steps, or a share of them such as 5%
  double clip = 0;

  std::string validation = "none";  ///< a fraction of the tokens
  std::string validation_file;
  std::int64_t eval_every = 200;
  std::int64_t patience = 0;
  std::int64_t log_every = 10;
  std::int64_t save_every = 0;
  double save_seconds = 0;  ///< seconds between resume states; 0: only at the end
  std::string init = "torch";
  std::string table;  ///< whose rows the model starts from, by the names of tokens; empty: none
  std::int64_t seed = 1;
};

/// One setting: its flag, meaning and place. The parser, the help, the stored command, `--config`
/// and the comparison at `--resume` are all made from this table.
struct SettingField {
  using Member = std::variant<std::string Settings::*, std::int64_t Settings::*, double Settings::*,
                              bool Settings::*>;
  std::string name;  ///< the flag without dashes, e.g. "word-split"
  Member member;
  std::string group;  ///< heading in --help
  std::string value;  ///< form of the value in --help, e.g. "unicode|space"; empty for a flag
  std::string help;
  bool free_at_resume = false;  ///< may differ from the stored run
};

const std::vector<SettingField>& setting_fields();

/// The value as text, as it stands in a command ("true" or "false" for flags).
std::string setting_text(const Settings& settings, const SettingField& field);
/// Throws Error(argument) naming the flag, the value and what is possible.
void set_setting(Settings& settings, const std::string& name, const std::string& text);

/// Settings given by the user: flag name without dashes, value as text.
using Given = std::vector<std::pair<std::string, std::string>>;

/// The flag that states one of them, such as --dim 64 or --no-tied.
std::string setting_argument(const Settings& settings, const SettingField& field);
/// The flags that repeat these settings: every one that differs from the initial values, in table
/// order.
std::string setting_arguments(const Settings& settings);

/// A JSON object of flag names and values, as `config.json` stores it.
nlohmann::ordered_json settings_to_json(const Settings& settings);
/// Values of a JSON object (a `--config` file or a stored run). Throws Error(file) naming an
/// unknown key and where it stands.
Given given_from_json(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace lexirow::train
