#include "cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/wording.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "lexirow/error.h"

namespace lexirow::cli {
namespace {

const Verb& find_verb(const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : all_verbs()) {
    if (verb.name == name) return verb;
    names.push_back(verb.name);
  }
  throw UsageError(fmt::format("there is no verb \"{}\".{} The verbs are {}.", name,
                               did_you_mean(closest(name, names)), fmt::join(names, ", ")));
}

int run_words(const std::vector<std::string>& words) {
  if (words.empty()) {
    say(overview(all_verbs(), STDERR_FILENO));
    return kMisused;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print(words.size() > 1 && words[0] == "help" ? verb_help(find_verb(words[1]))
                                                 : overview(all_verbs(), STDOUT_FILENO));
    return kDone;
  }
  if (words[0] == "--version") {
    print(fmt::format("lexirow {}\n", LEXIROW_VERSION));
    return kDone;
  }
  if (words[0].starts_with("-")) {
    throw UsageError(
        fmt::format("the verb comes first, then {}: lexirow VERB ... [options]. `lexirow --help` "
                    "lists the verbs.",
                    words[0]));
  }
  const Verb& verb = find_verb(words[0]);
  const Arguments arguments = parse_arguments(verb, {words.begin() + 1, words.end()});
  if (arguments.help_wanted) {
    print(verb_help(verb));
    return kDone;
  }
  refuse_overwriting(verb, arguments);
  return verb.run(arguments);
}

int report(const std::string& where, const std::string& sentence, int code) {
  std::fflush(stdout);
  // Names of files and of what stands in them come into it as they are.
  std::string shown;
  for (std::size_t begin = 0; begin <= sentence.size();) {
    const std::size_t end = std::min(sentence.find('\n', begin), sentence.size());
    if (begin > 0) shown += '\n';
    shown += base::shown_name(std::string_view(sentence).substr(begin, end - begin));
    begin = end + 1;
  }
  say(fmt::format("{}: {}", bold(where, STDERR_FILENO), shown));
  return code;
}

}  // namespace

int run_program(int argc, char** argv) {
  // A reader that goes away shows as a failed write, not as a killed process.
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::string where = "lexirow";
  if (!words.empty()) {
    for (const Verb& verb : all_verbs()) {
      if (verb.name == words[0]) where += ' ' + verb.name;
    }
  }
  try {
    const int code = run_words(words);
    flush_output();
    return code;
  } catch (const BrokenPipe&) {
    return kDone;
  } catch (const UsageError& error) {
    return report(where, error.what(), kMisused);
  } catch (const Error& error) {
    return report(where, error.what(), error.kind() == ErrorKind::argument ? kMisused : kFailed);
  } catch (const std::bad_alloc&) {
    return report(where,
                  "not enough memory. A smaller --batch, --context, --hidden or --dim, or a "
                  "smaller vocabulary (--max-vocab), needs less.",
                  kFailed);
  } catch (const std::exception& error) {
    return report(where, fmt::format("unexpected failure: {}", error.what()), kFailed);
  }
}

}  // namespace lexirow::cli
