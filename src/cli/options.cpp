#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/thread_pool.h"
#include "files/overwriting.h"
#include "inspect/spelling.h"

namespace lexirow::cli {
namespace {

std::optional<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename Value>
const Value* find_named(const std::vector<std::pair<std::string, Value>>& pairs,
                        const std::string& name) {
  // The last one stated counts.
  for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
    if (pair->first == name) return &pair->second;
  }
  return nullptr;
}

void check_range(const Option& option, const std::string& text, double value) {
  if (option.least && !(value >= *option.least)) {
    throw UsageError(fmt::format("{} {} is too small: the smallest value is {}.", spelling(option),
                                 text, *option.least));
  }
  if (option.most && !(value <= *option.most)) {
    throw UsageError(fmt::format("{} {} is too large: the largest value is {}.", spelling(option),
                                 text, *option.most));
  }
}

void check_value(const Option& option, const std::string& text) {
  switch (option.type) {
    case ValueType::integer: {
      const auto value = parse_integer(text);
      if (!value) {
        throw UsageError(fmt::format("{} takes a whole number ({}), not \"{}\".", spelling(option),
                                     option.value, text));
      }
      check_range(option, text, static_cast<double>(*value));
      return;
    }
    case ValueType::real: {
      const auto value = parse_real(text);
      if (!value || !std::isfinite(*value)) {
        throw UsageError(fmt::format("{} takes a number ({}), not \"{}\".", spelling(option),
                                     option.value, text));
      }
      check_range(option, text, *value);
      return;
    }
    case ValueType::choice: {
      const auto& choices = option.choices;
      if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
        throw UsageError(fmt::format("{} takes {}, not \"{}\".{}", spelling(option),
                                     fmt::join(choices, " or "), text,
                                     did_you_mean(closest(text, choices))));
      }
      return;
    }
    default:
      return;
  }
}

std::string parser_name(const Option& option) {
  if (option.type == ValueType::flag && option.negatable) {
    return fmt::format("--{},!--no-{}", option.name, option.name);
  }
  return option.name.size() == 1 ? fmt::format("-{0},--{0}", option.name) : "--" + option.name;
}

/// Every spelling of a verb's options, for suggestions.
std::vector<std::string> all_spellings(const Verb& verb) {
  std::vector<std::string> names = {"--help"};
  for (const Option& option : verb.options) {
    names.push_back(spelling(option));
    if (option.negatable) names.push_back("--no-" + option.name);
  }
  return names;
}

[[noreturn]] void refuse_unknown(const Verb& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  throw UsageError(fmt::format("unknown option {}.{} `lexirow {} --help` lists the options.", name,
                               did_you_mean(closest(name, all_spellings(verb))), verb.name));
}

bool option_like(const std::string& name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

/// `steps=100` without dashes is a slip, not a file. A token of a text is left alone unless its
/// name is that of an option.
void refuse_undashed(const Verb& verb, const Positional& positional, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return;
  std::string name = word.substr(0, equals);
  if (!option_like(name)) return;
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  if (find_option(verb, dashed) != nullptr) name = dashed;
  const bool known = find_option(verb, name) != nullptr;
  const bool path = positional.type == ValueType::file || positional.type == ValueType::folder;
  std::error_code ignored;
  if (path ? std::filesystem::exists(word, ignored) : !known) return;
  const std::string note =
      known ? std::string()
            : fmt::format(" (`{}` has no option --{}.{})", verb.name, name,
                          did_you_mean(closest("--" + name, all_spellings(verb))));
  throw UsageError(fmt::format("\"{}\" is no {}; an option is written --{} {}{}{}", word,
                               path ? "file or folder" : "token", name, word.substr(equals + 1),
                               known ? "." : "", note));
}

/// What CLI11 sorted out: option values in order, and the positional words.
struct RawArguments {
  std::vector<std::pair<std::string, std::string>> given;
  std::vector<std::string> words;
  bool help = false;
};

/// CLI11 would take the next word as the value of `--name=`; two words say what is meant.
std::vector<std::string> split_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> result;
  bool options = true;
  for (const std::string& word : words) {
    if (word == "--") options = false;
    if (options && word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
      result.push_back(word.substr(0, word.size() - 1));
      result.emplace_back();
    } else {
      result.push_back(word);
    }
  }
  return result;
}

RawArguments run_parser(const Verb& verb, const std::vector<std::string>& words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<const CLI::Option*, const Option*> known;
  const CLI::callback_t keep = [](const CLI::results_t&) { return true; };
  for (const Option& option : verb.options) {
    CLI::Option* added = option.type == ValueType::flag
                             ? app.add_flag(parser_name(option))
                             : app.add_option(parser_name(option), keep)->expected(option.values);
    known[added] = &option;
    if (option.values == 1) added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  CLI::Option* help = app.add_flag("-h,--help");
  // Any number of words, yet no "extra" ones: those CLI11 would split when they look like [a,b].
  CLI::Option* positional = app.add_option("words", keep)->expected(1 << 28);
  positional->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);

  std::vector<std::string> reversed = split_empty_values(words);
  std::reverse(reversed.begin(), reversed.end());
  app.parse(reversed);

  RawArguments raw;
  raw.help = help->count() > 0;
  raw.words = positional->results();
  std::map<const CLI::Option*, std::size_t> seen;
  for (CLI::Option* option : app.parse_order()) {
    const auto entry = known.find(option);
    if (entry == known.end()) continue;
    raw.given.emplace_back(entry->second->name, option->results()[seen[option]++]);
  }
  for (const std::string& word : app.remaining()) {
    if (!raw.help && word != "--") refuse_unknown(verb, word);
  }
  return raw;
}

}  // namespace

/// Puts parsed words into Arguments.
class ArgumentsBuilder {
 public:
  explicit ArgumentsBuilder(const Verb& verb) : verb_(verb) {}

  Arguments build(RawArguments raw) {
    arguments_.help_wanted = raw.help;
    arguments_.given_ = std::move(raw.given);
    for (const Option& option : verb_.options) {
      arguments_.defaults_.emplace_back(option.name, option.fallback);
    }
    for (const Positional& positional : verb_.positionals) {
      arguments_.positionals_.emplace_back(positional.name, std::vector<std::string>());
    }
    if (raw.help) return std::move(arguments_);
    for (const auto& [name, text] : arguments_.given_) check_value(*find_option(verb_, name), text);
    place(raw.words);
    return std::move(arguments_);
  }

 private:
  void place(const std::vector<std::string>& words) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < verb_.positionals.size(); ++i) {
      const Positional& positional = verb_.positionals[i];
      do {
        if (next == words.size()) break;
        refuse_undashed(verb_, positional, words[next]);
        arguments_.positionals_[i].second.push_back(words[next++]);
      } while (positional.many);
      if (positional.required && arguments_.positionals_[i].second.empty()) {
        throw UsageError(fmt::format("{} is missing: {}. `lexirow {} --help` shows an example.",
                                     positional.name, positional.help, verb_.name));
      }
    }
    if (next < words.size()) {
      if (!verb_.positionals.empty()) refuse_undashed(verb_, verb_.positionals.back(), words[next]);
      throw UsageError(fmt::format(
          "\"{}\" is one argument too many. `lexirow {} --help` shows what is expected.",
          words[next], verb_.name));
    }
  }

  const Verb& verb_;
  Arguments arguments_;
};

bool Arguments::has(const std::string& name) const {
  return find_named(given_, name) != nullptr;
}

const std::string& Arguments::text(const std::string& name) const {
  if (const std::string* stated = find_named(given_, name)) return *stated;
  if (const std::string* fallback = find_named(defaults_, name)) return *fallback;
  throw std::logic_error("no option " + name);
}

std::vector<std::string> Arguments::texts(const std::string& name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : given_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

std::int64_t Arguments::integer(const std::string& name) const {
  return parse_integer(text(name)).value();
}

double Arguments::real(const std::string& name) const {
  return parse_real(text(name)).value();
}

bool Arguments::flag(const std::string& name) const {
  return text(name) == "true";
}

const std::vector<std::string>& Arguments::positionals(const std::string& name) const {
  if (const auto* values = find_named(positionals_, name)) return *values;
  throw std::logic_error("no positional " + name);
}

const std::string& Arguments::positional(const std::string& name) const {
  return positionals(name).at(0);
}

std::string spelling(const Option& option) {
  return (option.name.size() == 1 ? "-" : "--") + option.name;
}

const Option* find_option(const Verb& verb, const std::string& name) {
  for (const Option& option : verb.options) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

Arguments parse_arguments(const Verb& verb, const std::vector<std::string>& words) {
  try {
    return ArgumentsBuilder(verb).build(run_parser(verb, words));
  } catch (const CLI::ParseError& error) {
    const bool mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
    if (std::find(words.begin(), words.end(), "--help") != words.end()) {
      return ArgumentsBuilder(verb).build({{}, {}, true});
    }
    const std::string what = error.what();
    for (const Option& option : verb.options) {
      if (!mismatch || !what.starts_with(spelling(option) + ":")) continue;
      throw UsageError(fmt::format("{0} has too few values: it is written {0} {1}.",
                                   spelling(option), option.value));
    }
    throw UsageError(fmt::format("{}. `lexirow {} --help` lists the options.", what, verb.name));
  }
}

void refuse_overwriting(const Verb& verb, const Arguments& arguments) {
  std::vector<files::NamedPath> outputs;
  std::vector<files::NamedPath> inputs;
  const auto is_path = [](ValueType type) {
    return type == ValueType::file || type == ValueType::folder;
  };
  // A run that goes on replaces nothing in its folder.
  const bool resumes = find_option(verb, "resume") != nullptr && arguments.flag("resume");
  for (const auto& [name, value] : arguments.given()) {
    const Option* option = find_option(verb, name);
    if (option == nullptr || !is_path(option->type)) continue;
    if (option->output && option->type == ValueType::folder && resumes) continue;
    (option->output ? outputs : inputs).push_back({spelling(*option), value});
  }
  for (const Positional& positional : verb.positionals) {
    if (!is_path(positional.type)) continue;
    for (const std::string& value : arguments.positionals(positional.name)) {
      (positional.output ? outputs : inputs).push_back({positional.name, value});
    }
  }
  files::refuse_overwriting(outputs, inputs);
}

std::vector<std::string> closest(const std::string& word, const std::vector<std::string>& known) {
  const auto letters = [](const std::string& text) {
    return std::u32string(text.begin(), text.end());  // options are spelt in ASCII
  };
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : known) {
    const bool prefix = word.size() > 3 && candidate.starts_with(word);
    const std::size_t limit =
        std::max<std::size_t>(candidate.size() < 4 ? 1 : 2, candidate.size() / 3);
    const std::size_t distance =
        prefix ? 0 : inspect::edit_distance(letters(word), letters(candidate), limit);
    if (distance <= limit) {
      ranked.emplace_back(distance, candidate);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> result;
  for (const auto& [distance, candidate] : ranked) {
    if (result.size() < 2 && distance <= ranked.front().first + 1) result.push_back(candidate);
  }
  return result;
}

std::string did_you_mean(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  return fmt::format(" Did you mean {}?", fmt::join(candidates, " or "));
}

Option json_option() {
  return {.name = "json",
          .value = "",
          .type = ValueType::flag,
          .fallback = "false",
          .help = "print one JSON object instead of text"};
}

Option threads_option() {
  return {.name = "threads",
          .value = "N",
          .type = ValueType::integer,
          .fallback = std::to_string(base::default_threads()),
          .help = "threads to use, the cores by default; the results are the same for any number",
          .least = 1,
          .most = 4096};
}

Option seed_option(const std::string& help) {
  return {.name = "seed",
          .value = "N",
          .type = ValueType::integer,
          .fallback = "1",
          .help = help,
          .least = 0};
}

}  // namespace lexirow::cli
