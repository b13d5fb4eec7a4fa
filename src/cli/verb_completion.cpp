#include "cli/completion.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/verbs.h"

namespace lexirow::cli {
namespace {

int run_completion(const Arguments& arguments) {
  if (arguments.positional("SHELL") != "bash") {
    throw UsageError("completion is there for bash only: lexirow completion bash");
  }
  print(bash_completion(all_verbs()));
  return kDone;
}

}  // namespace

Verb completion_verb() {
  Verb verb;
  verb.name = "completion";
  verb.summary = "prints a completion script for bash";
  verb.details =
      "For this shell: source <(lexirow completion bash). For every new one, put that line into "
      "~/.bashrc.";
  verb.positionals = {{.name = "SHELL", .help = "bash", .choices = {"bash"}}};
  verb.examples = {"lexirow completion bash"};
  verb.run = run_completion;
  return verb;
}

}  // namespace lexirow::cli
