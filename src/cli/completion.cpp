#include "cli/completion.h"

#include <fmt/format.h>

namespace lexirow::cli {
namespace {

std::string flags_of(const Verb& verb) {
  std::string flags = "--help";
  for (const Option& option : verb.options) {
    flags += ' ' + spelling(option);
    if (option.negatable) flags += " --no-" + option.name;
  }
  return flags;
}

/// The shell commands that complete one value, or nothing where any text may stand.
std::string value_commands(ValueType type, const std::vector<std::string>& choices) {
  const bool path = type == ValueType::file || type == ValueType::folder;
  std::string commands;
  if (!choices.empty()) {
    commands += fmt::format("_lexirow_words \"{}\"", fmt::join(choices, " "));
  }
  if (path) {
    if (!commands.empty()) commands += "; ";
    commands += type == ValueType::file ? "_lexirow_paths -f" : "_lexirow_paths -d";
  }
  return commands.empty() ? ":" : commands;
}

std::string verb_case(const Verb& verb) {
  std::string text = fmt::format("    {})\n      case \"$previous\" in\n", verb.name);
  for (const Option& option : verb.options) {
    if (option.type == ValueType::flag) continue;
    text += fmt::format("        {}) {}; return;;\n", spelling(option),
                        value_commands(option.type, option.choices));
  }
  text += "      esac\n";
  text +=
      fmt::format("      if [[ $current == -* ]]; then _lexirow_words \"{}\"\n", flags_of(verb));
  std::string rest = ":";
  for (const Positional& positional : verb.positionals) {
    const std::string commands = value_commands(positional.type, positional.choices);
    if (commands != ":") {
      rest = commands;
      // A folder may be completed from any path that leads to it.
      if (positional.type == ValueType::file) break;
    }
  }
  return text + fmt::format("      else {}; fi;;\n", rest);
}

}  // namespace

std::string bash_completion(const std::vector<Verb>& verbs) {
  std::string names;
  std::string cases;
  for (const Verb& verb : verbs) {
    names += verb.name + ' ';
    cases += verb_case(verb);
  }
  return fmt::format(R"(# bash completion of lexirow: source <(lexirow completion bash)
_lexirow_words() {{
  mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -W "$1" -- "$current")
}}
_lexirow_paths() {{
  compopt -o filenames 2>/dev/null
  mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen "$1" -- "$current")
}}
_lexirow() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    _lexirow_words "{}--help --version"
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
}}
complete -F _lexirow lexirow
)",
                     names, cases);
}

}  // namespace lexirow::cli
