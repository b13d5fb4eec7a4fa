#include <fmt/format.h>

#include <algorithm>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/setting_options.h"
#include "cli/sizes_output.h"
#include "cli/verbs.h"
#include "measure/plan.h"

namespace lexirow::cli {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json plan_json(const measure::Plan& plan) {
  Json json;
  put_sizes(json, plan.sizes, plan.settings);
  json["tensors"] = Json::array();
  for (const measure::PlannedTensor& tensor : plan.tensors) {
    json["tensors"].push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", "F32"}});
  }
  json["vocab_size"] = plan.vocab_size;
  json["steps"] = plan.steps > 0 ? Json(plan.steps) : Json(nullptr);
  json["tokens"] = plan.steps > 0 ? Json(plan.tokens) : Json(nullptr);
  json["step_seconds"] = plan.step_seconds > 0 ? Json(plan.step_seconds) : Json(nullptr);
  json["estimated_seconds"] =
      plan.estimated_seconds ? Json(*plan.estimated_seconds) : Json(nullptr);
  json["no_probe"] = plan.no_probe.empty() ? Json(nullptr) : Json(plan.no_probe);
  json["corpus"] = nullptr;
  if (plan.corpus) {
    const measure::PlannedCorpus& corpus = *plan.corpus;
    json["corpus"] = {{"tokens", corpus.tokens},
                      {"unknown", corpus.unknown},
                      {"unknown_share", share(corpus.unknown, corpus.tokens)},
                      {"untouched_rows", corpus.untouched},
                      {"untouched_share", share(corpus.untouched, plan.vocab_size)},
                      {"labels", corpus.labels},
                      {"validation_labels", corpus.validation}};
  }
  json["settings"] = train::setting_arguments(plan.settings);
  return json;
}

void print_sizes(const measure::Plan& plan) {
  Table table({"tensor", "shape"}, "ll");
  for (const measure::PlannedTensor& tensor : plan.tensors) {
    table.add({tensor.name, fmt::format("[{}]", fmt::join(tensor.shape, ", "))});
  }
  print(table.text());
  print(sizes_text(plan.sizes, plan.settings));
}

void print_plan(const measure::Plan& plan) {
  print_sizes(plan);
  if (plan.corpus) {
    const measure::PlannedCorpus& corpus = *plan.corpus;
    print(fmt::format("corpus      {}, {:.2f} % of them unknown; {} predicted in a pass\n",
                      counted(corpus.tokens, "token"), 100 * share(corpus.unknown, corpus.tokens),
                      corpus.labels));
    print(fmt::format("rows        {} of {} never touched ({:.2f} %)\n", corpus.untouched,
                      plan.vocab_size, 100 * share(corpus.untouched, plan.vocab_size)));
  }
  if (plan.steps > 0) {
    print(fmt::format("steps       {}, {} tokens\n", plan.steps, rounded(plan.tokens)));
  }
  if (plan.estimated_seconds) {
    print(fmt::format("time        about {}, at {:.2f} ms a step on this machine\n",
                      duration(*plan.estimated_seconds), 1e3 * plan.step_seconds));
  } else if (!plan.no_probe.empty()) {
    print(fmt::format("time        not known: {}\n", plan.no_probe));
  }
}

int run_plan(const Arguments& arguments) {
  measure::PlanRequest request;
  request.corpus = arguments.positionals("CORPUS");
  request.given = stated_settings(arguments);
  request.probe_seconds = arguments.real("probe-seconds");
  const bool sized = arguments.has("vocab-size");
  if (sized == !request.corpus.empty()) {
    throw UsageError(
        "plan takes a CORPUS, whose vocabulary it makes, or --vocab-size V: give one of them.");
  }
  if (std::find(request.corpus.begin(), request.corpus.end(), "-") != request.corpus.end()) {
    throw UsageError(
        "plan reads the text twice, so it cannot come from standard input: name a file.");
  }
  if (sized) request.vocab_size = arguments.integer("vocab-size");
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const measure::Plan plan =
      measure::make_plan(pool, request, [](const std::string& line) { say(line); });
  if (!plan.choice.empty()) say(plan.choice);
  if (arguments.flag("json")) {
    print_json(plan_json(plan));
  } else {
    print_plan(plan);
  }
  return kDone;
}

}  // namespace

Verb plan_verb() {
  Verb verb;
  verb.name = "plan";
  verb.summary = "says how large a model would be and how long its training would take";
  verb.details =
      "Takes the options of `train` and works out parameters, memory, steps and time before there "
      "is a model; nothing is written. Of a CORPUS it makes the vocabulary and counts tokens, "
      "unknown ones, and rows that training would never touch. The time is that of real steps, "
      "made for --probe-seconds on ids that follow Zipf's law. Without a CORPUS the preset is "
      "plain unless one is given.";
  verb.positionals = {{.name = "CORPUS",
                       .help = "texts: files or folders, as for `train`",
                       .type = ValueType::file,
                       .required = false,
                       .many = true}};
  verb.options = {
      {.name = "vocab-size",
       .value = "V",
       .type = ValueType::integer,
       .help = "plan for a vocabulary of V tokens, without a text",
       .least = 2},
      {.name = "probe-seconds",
       .value = "SECONDS",
       .type = ValueType::real,
       .fallback = "1",
       .help = "make steps for so long to tell the time (0: none)",
       .least = 0},
      threads_option(),
      json_option(),
  };
  Option config = config_option();
  config.group.clear();
  verb.options.push_back(std::move(config));
  for (Option& option : setting_options()) verb.options.push_back(std::move(option));
  verb.examples = {"lexirow plan my.txt --minutes 10",
                   "lexirow plan --vocab-size 50257 --dim 64 --steps 1000 --probe-seconds 0"};
  verb.run = run_plan;
  return verb;
}

}  // namespace lexirow::cli
