#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace lexirow::cli {

/// The command line was misused: exit code 2. The text is one sentence for people.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a value is: decides how it is checked and what the shell completes.
enum class ValueType { flag, integer, real, text, choice, file, folder };

/// One option of a verb. Parser, help and shell completion are made from this and nothing else.
struct Option {
  std::string name;     ///< without dashes; a name of one letter is spelt -x
  std::string value{};  ///< form of the value in the help, e.g. "N"; empty for a flag
  ValueType type = ValueType::text;
  std::string fallback{};              ///< default as text; empty: none
  std::string help;                    ///< one clause, without the default
  std::vector<std::string> choices{};  ///< words the shell offers; for `choice` the only ones taken
  std::optional<double> least{};       ///< smallest number taken
  std::optional<double> most{};        ///< largest number taken
  int values = 1;                      ///< values after the name (flags: ignored)
  bool negatable = false;              ///< a flag that also has a --no- form
  std::string group{};                 ///< heading in the help; empty: "Options"
  bool output = false;                 ///< a path that is written, not read
};

/// One positional argument.
struct Positional {
  std::string name;  ///< in capitals
  std::string help;
  ValueType type = ValueType::text;  ///< file and folder are paths
  bool required = true;
  bool many = false;                   ///< takes all that are left; only the last one may
  std::vector<std::string> choices{};  ///< words the shell offers
  bool output = false;                 ///< a path that is written, not read
};

/// What the user gave for one verb, checked against its table.
class Arguments {
 public:
  /// True when the user stated the option.
  bool has(const std::string& name) const;
  /// The stated value or the default.
  const std::string& text(const std::string& name) const;
  /// All values of an option that takes several; empty when it was not stated.
  std::vector<std::string> texts(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double real(const std::string& name) const;
  bool flag(const std::string& name) const;
  /// Values of a positional; empty when it was not given.
  const std::vector<std::string>& positionals(const std::string& name) const;
  /// Value of a positional that is required or was tested with positionals().
  const std::string& positional(const std::string& name) const;
  /// Stated options in the order of the command line; flags are "true" or "false".
  const std::vector<std::pair<std::string, std::string>>& given() const { return given_; }

  bool help_wanted = false;

 private:
  friend class ArgumentsBuilder;
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::pair<std::string, std::string>> defaults_;
  std::vector<std::pair<std::string, std::vector<std::string>>> positionals_;
};

/// A verb: its table, and what it does with the arguments.
struct Verb {
  std::string name;
  std::string summary;  ///< one clause, for the overview
  std::string details;  ///< a paragraph or more for the help; may be empty
  std::vector<Positional> positionals;
  std::vector<Option> options;
  std::vector<std::string> examples;         ///< commands that a test runs as they stand
  std::function<int(const Arguments&)> run;  ///< returns the exit code
};

/// `--name`, or `-x` for a name of one letter.
std::string spelling(const Option& option);
/// The option of that name, or null.
const Option* find_option(const Verb& verb, const std::string& name);

/// Parses what follows the verb. Throws UsageError: unknown flags (with the closest known one),
/// values that do not fit the table, missing or surplus positionals, NAME=VALUE without dashes.
Arguments parse_arguments(const Verb& verb, const std::vector<std::string>& words);

/// Refuses a command whose output is one of its inputs (files::refuse_overwriting), by the table.
/// Throws Error(argument).
void refuse_overwriting(const Verb& verb, const Arguments& arguments);

/// The words of `known` spelt most like `word`, best first; none when nothing is near.
std::vector<std::string> closest(const std::string& word, const std::vector<std::string>& known);
/// " Did you mean A or B?" or nothing.
std::string did_you_mean(const std::vector<std::string>& candidates);

/// Options that many verbs share.
Option json_option();
Option threads_option();
Option seed_option(const std::string& help);

}  // namespace lexirow::cli
