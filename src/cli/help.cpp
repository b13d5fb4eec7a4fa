#include "cli/help.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/output.h"

namespace lexirow::cli {
namespace {

constexpr std::size_t kWidth = 96;
/// A space at which no line is broken.
constexpr char kTie = '\x1f';

/// Lines of the help, with the ties as spaces.
std::string wrapped(const std::string& first, std::size_t indent, const std::string& text) {
  std::string result = wrapped_lines(first, indent, text, kWidth);
  std::replace(result.begin(), result.end(), kTie, ' ');
  return result;
}

/// A term and its explanation in two columns; a long term stands on a line of its own.
std::string entry(const std::string& term, std::size_t column, const std::string& text) {
  const std::string left = "  " + term;
  if (left.size() + 2 <= column) return wrapped(left, column, text);
  return left + '\n' + wrapped("", column, text);
}

std::string option_term(const Option& option) {
  std::string term =
      option.negatable ? fmt::format("--{0}, --no-{0}", option.name) : spelling(option);
  for (int i = 0; i < option.values && option.type != ValueType::flag; ++i) {
    term += ' ' + option.value;
  }
  return term;
}

std::string option_text(const Option& option) {
  if (option.fallback.empty() || (option.type == ValueType::flag && !option.negatable)) {
    return option.help;
  }
  std::string fallback = option.fallback;
  if (option.type == ValueType::flag) fallback = fallback == "true" ? "on" : "off";
  return fmt::format("{} (default:{}{})", option.help, kTie, fallback);
}

std::string heading(const std::string& text, int descriptor = STDOUT_FILENO) {
  return '\n' + bold(text + ':', descriptor) + '\n';
}

}  // namespace

std::vector<std::pair<std::string, std::vector<const Option*>>> grouped_options(const Verb& verb) {
  std::vector<std::pair<std::string, std::vector<const Option*>>> groups;
  for (const Option& option : verb.options) {
    const std::string& name = option.group.empty() ? "Options" : option.group;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->second.push_back(&option);
  }
  return groups;
}

std::string usage_line(const Verb& verb) {
  std::string line = "lexirow " + verb.name;
  for (const Positional& positional : verb.positionals) {
    const std::string name = positional.name + (positional.many ? "..." : "");
    line += positional.required ? ' ' + name : " [" + name + ']';
  }
  return verb.options.empty() ? line : line + " [options]";
}

std::string verb_help(const Verb& verb) {
  std::string help = wrapped("", 0, fmt::format("lexirow {} {}.", verb.name, verb.summary));
  help += heading("Usage") + "  " + usage_line(verb) + '\n';
  std::size_t begin = 0;
  while (begin < verb.details.size()) {
    const std::size_t end = std::min(verb.details.find('\n', begin), verb.details.size());
    help += '\n' + wrapped("", 0, verb.details.substr(begin, end - begin));
    begin = end + 1;
  }
  constexpr std::size_t kColumn = 26;
  if (!verb.positionals.empty()) help += heading("Arguments");
  for (const Positional& positional : verb.positionals) {
    help += entry(positional.name, kColumn, positional.help);
  }
  for (const auto& [name, options] : grouped_options(verb)) {
    help += heading(name);
    for (const Option* option : options) {
      help += entry(option_term(*option), kColumn, option_text(*option));
    }
  }
  help += heading(verb.examples.size() == 1 ? "Example" : "Examples");
  for (const std::string& example : verb.examples) help += "  " + example + '\n';
  return help;
}

std::string overview(const std::vector<Verb>& verbs, int descriptor) {
  std::string text =
      "lexirow trains, checks and looks into token embeddings and the small language models built "
      "on them.\n";
  text += heading("Usage", descriptor) + "  lexirow VERB ... [options]\n" +
          heading("Verbs", descriptor);
  for (const Verb& verb : verbs) text += entry(verb.name, 14, verb.summary);
  text += heading("Start", descriptor) +
          "  lexirow train my.txt --out model\n"
          "  lexirow generate model --prompt \"Once\"\n"
          "\n`lexirow VERB --help` shows a verb's options with an example; `lexirow --version` the "
          "version.\n";
  return text;
}

}  // namespace lexirow::cli
