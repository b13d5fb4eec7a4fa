#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/setting_options.h"
#include "cli/verbs.h"
#include "lexirow/error.h"
#include "store/model_folder.h"
#include "train/presets.h"
#include "train/settings.h"
#include "train/train.h"

namespace lexirow::cli {
namespace {

std::vector<Option> train_options() {
  std::vector<Option> options = {
      {.name = "out",
       .value = "DIR",
       .type = ValueType::folder,
       .help = "the model folder to write",
       .group = "Run",
       .output = true},
      {.name = "resume",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "go on with the run in --out; CORPUS and options come from there",
       .group = "Run"},
      {.name = "force",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "replace the model in --out",
       .group = "Run"},
      config_option(),
      {.name = "save-vectors",
       .value = "FILE",
       .type = ValueType::file,
       .help =
           "write the rows to a file of their own when the run is complete: word2vec's text, or "
           "the form of its ending as `convert` has them",
       .group = "Run",
       .output = true},
      {.name = "log-json",
       .value = "FILE",
       .type = ValueType::file,
       .help = "progress as one JSON object a line; - is standard output",
       .group = "Run",
       .output = true},
      {.name = "progress-every",
       .value = "SECONDS",
       .type = ValueType::real,
       .fallback = "30",
       .help = "seconds between progress lines where standard error is no terminal",
       .least = 0,
       .group = "Run"},
      threads_option(),
      json_option(),
  };
  options[options.size() - 2].group = "Run";
  options[options.size() - 1].group = "Run";
  for (Option& option : setting_options()) options.push_back(std::move(option));
  return options;
}

train::TrainRequest request_of(const Arguments& arguments) {
  train::TrainRequest request;
  request.corpus = arguments.positionals("CORPUS");
  request.out = arguments.text("out");
  request.resume = arguments.flag("resume");
  request.force = arguments.flag("force");
  request.save_vectors = arguments.text("save-vectors");
  request.threads = static_cast<int>(arguments.integer("threads"));
  if (request.out.empty()) {
    throw UsageError("--out DIR is missing: it names the model folder to write.");
  }
  if (request.corpus.empty() && !request.resume) {
    throw UsageError("CORPUS is missing: a text file, a folder of them, or - for standard input.");
  }
  if (arguments.text("log-json") == "-" && arguments.flag("json")) {
    throw UsageError(
        "--log-json - and --json would mix on standard output: name a file for the log.");
  }
  request.given = stated_settings(arguments);
  return request;
}

void print_result_json(const train::TrainResult& result) {
  Json json;
  json["steps"] = result.steps;
  // Stopped before the first step, there is no loss to tell.
  json["train_loss"] = result.tokens > 0 ? Json(result.train_loss) : Json(nullptr);
  json["validation_loss"] = result.validation_loss ? Json(*result.validation_loss) : Json(nullptr);
  json["tokens"] = result.tokens;
  json["tokens_per_second"] = result.tokens_per_second;
  json["seconds"] = result.seconds;
  json["peak_memory_bytes"] = result.peak_memory_bytes;
  json["vocab_size"] = result.vocab_size;
  json["parameters"] = result.parameters;
  json["model"] = result.model;
  json["interrupted"] = result.interrupted;
  print_json(json);
}

void print_result(const train::TrainResult& result) {
  const std::string before = result.first_step > 0
                                 ? fmt::format(", {} of them before,", result.first_step)
                                 : std::string();
  print(fmt::format("{}{} in {}: {} tokens, {:.0f} tokens/s\n", counted(result.steps, "step"),
                    before, duration(result.seconds), rounded(result.tokens),
                    result.tokens_per_second));
  if (result.tokens > 0) {
    print(fmt::format("train loss {:.4f}{} nats a token\n", result.train_loss,
                      result.validation_loss
                          ? fmt::format(", held-out loss {:.4f}", *result.validation_loss)
                          : std::string()));
  }
  print(fmt::format("model {}: {} in the vocabulary, {} parameters; peak memory {}\n", result.model,
                    counted(result.vocab_size, "token"), rounded(result.parameters),
                    bytes_text(result.peak_memory_bytes)));
  if (result.interrupted) return;
  const std::string model = shell_word(result.model);
  print("Next:\n");
  // A control that reads what it predicts cannot go on from a prompt.
  if (!result.leaks) print(fmt::format("  lexirow generate {} --prompt TEXT\n", model));
  print(fmt::format("  lexirow near {0} TOKEN\n  lexirow eval {0} FILE\n", model));
}

/// There is no result to print then, as JSON neither.
int say_stopped_reading(const train::TrainRequest& request) {
  const std::string stopped = "Stopped while the text was being read: nothing was trained";
  if (request.resume) {
    say(fmt::format("{}, and {} is as it was. To go on: lexirow train --out {} --resume", stopped,
                    request.out, shell_word(request.out)));
  } else if (store::is_model_folder(request.out)) {
    say(fmt::format("{}, and the old model in {} is as it was.", stopped, request.out));
  } else {
    say(fmt::format("{}, and what had been written to {} was removed.", stopped, request.out));
  }
  return kInterrupted;
}

int run_train(const Arguments& arguments) {
  const train::TrainRequest request = request_of(arguments);
  train::refuse_overwriting(request, {{"--log-json", arguments.text("log-json")}});
  ProgressDisplay display(arguments.real("progress-every"), arguments.text("log-json"),
                          request.resume);
  train::TrainEvents events;
  events.notice = [&](const std::string& line) { display.notice(line); };
  events.progress = [&](const train::Progress& progress) { display.show(progress); };
  train::TrainResult result;
  try {
    result = train::train(request, events, stop_on_interrupt());
  } catch (...) {
    display.finish();
    throw;
  }
  display.finish();
  if (result.stopped_reading) return say_stopped_reading(request);
  if (arguments.flag("json")) {
    print_result_json(result);
  } else {
    print_result(result);
  }
  if (!result.interrupted) return kDone;
  say(fmt::format("Stopped after step {} and saved. To go on: lexirow train --out {} --resume",
                  result.steps, shell_word(request.out)));
  return kInterrupted;
}

/// What each preset stands for, as the options that repeat it.
std::string preset_lines() {
  std::string text;
  for (const std::string& preset : train::preset_names()) {
    std::string choice;
    const train::Settings settings = train::resolve_settings({{"preset", preset}}, {}, choice);
    text += fmt::format("\n--preset {} is: {}", preset, train::setting_arguments(settings));
  }
  return text;
}

}  // namespace

Verb train_verb() {
  Verb verb;
  verb.name = "train";
  verb.summary = "trains a language model on texts and writes its folder";
  verb.details =
      "Without options it looks at the text, chooses words or characters, says so, and trains for "
      "10 minutes. CORPUS is any UTF-8 text; gzip files are unpacked, folders are read file by "
      "file, and binary files in them are skipped.\n"
      "Window is how far one position looks back (window:W, concat:W); context is the length of a "
      "training piece.\n"
      "Ctrl-C saves and says how to go on, with exit code 3; while the text is still being read "
      "there is nothing to save, and what was written is removed. A second Ctrl-C ends at once.\n"
      "The defaults shown are those of --preset plain, the textbook setting; the other presets set "
      "several options, and every option given overrides them." +
      preset_lines();
  verb.positionals = {{.name = "CORPUS",
                       .help = "texts: files, folders, or - for standard input",
                       .type = ValueType::file,
                       .required = false,
                       .many = true}};
  verb.options = train_options();
  verb.examples = {"lexirow train my.txt --out model --steps 200"};
  verb.run = run_train;
  return verb;
}

}  // namespace lexirow::cli
