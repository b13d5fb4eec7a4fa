#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "context/mixer.h"
#include "proof/replay.h"
#include "text/in_file.h"

namespace lexirow::cli {
namespace {

/// A recorded run and what came of it here.
struct Replayed {
  proof::RecordedRun run;
  proof::ReplayResult result;
};

std::int64_t failed_cases(const std::vector<Replayed>& cases) {
  return std::count_if(cases.begin(), cases.end(),
                       [](const Replayed& each) { return !each.result.passed(); });
}

std::vector<Replayed> replay_file(const Arguments& arguments) {
  const std::string& path = arguments.positional("FILE");
  const std::string name = text::path_name(path);
  proof::Recording recording = proof::parse_recording(read_bytes(path), name);
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const double tolerance = arguments.real("tolerance");
  std::vector<Replayed> cases;
  for (proof::RecordedRun& run : recording.runs) {
    for (const std::string& field : run.unknown_fields) {
      say(fmt::format("{}: case \"{}\": the field {} is not known and was not used.", name,
                      run.name, field));
    }
    proof::ReplayResult result;
    text::in_file(path, [&] { result = proof::replay_run(pool, run, tolerance); });
    cases.push_back({std::move(run), std::move(result)});
  }
  return cases;
}

/// JSON has no number for what is not finite.
Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

void print_replay_json(const std::vector<Replayed>& cases) {
  Json json;
  json["cases"] = Json::array();
  for (const auto& [run, result] : cases) {
    Json entry = {{"name", result.name},
                  {"max_loss_difference", finite_or_null(result.max_loss_difference)},
                  {"limit", result.limit},
                  {"passed", result.passed()},
                  {"steps", result.steps},
                  {"worst_step", result.worst_step},
                  {"losses_passed", result.losses_passed},
                  {"text", result.text},
                  {"facts", Json::array()}};
    for (const proof::ReplayFact& fact : result.facts) {
      entry["facts"].push_back({{"name", fact.name},
                                {"difference", finite_or_null(fact.difference)},
                                {"limit", fact.limit},
                                {"passed", fact.passed},
                                {"text", fact.text}});
    }
    json["cases"].push_back(std::move(entry));
  }
  json["passed"] = failed_cases(cases) == 0;
  print_json(json);
}

std::string model_text(const proof::RecordedRun& run) {
  return context::mixer_name(run.config.mixer) + (run.config.tied ? ", tied" : "");
}

void print_replay(const std::vector<Replayed>& cases) {
  Table table(
      {"case", "model", "optimizer", "steps", "loss difference", "limit", "facts", "result"},
      "lllrrrrl");
  std::string faults;
  double largest = 0;
  for (const auto& [run, result] : cases) {
    const auto good = std::count_if(result.facts.begin(), result.facts.end(),
                                    [](const proof::ReplayFact& fact) { return fact.passed; });
    table.add({result.name, model_text(run), optim::optimizer_name(run.optimizer.kind),
               std::to_string(result.steps), fmt::format("{:.2g}", result.max_loss_difference),
               fmt::format("{:.2g}", result.limit),
               fmt::format("{} of {}", good, result.facts.size()),
               result.passed() ? "passed" : "FAILED"});
    largest = std::max(largest, result.max_loss_difference);
    if (!result.losses_passed) faults += fmt::format("{}: {}\n", result.name, result.text);
    for (const proof::ReplayFact& fact : result.facts) {
      if (!fact.passed) faults += fmt::format("{}: {}\n", result.name, fact.text);
    }
  }
  print(table.text());
  print(faults);
  const std::string count = counted(static_cast<std::int64_t>(cases.size()), "case");
  const std::int64_t failed = failed_cases(cases);
  print(failed == 0 ? fmt::format("{} passed; largest relative difference of a loss {:.2g}\n",
                                  count, largest)
                    : fmt::format("{} of {} FAILED\n", failed, count));
}

int run_replay(const Arguments& arguments) {
  const std::vector<Replayed> cases = replay_file(arguments);
  if (arguments.flag("json")) {
    print_replay_json(cases);
  } else {
    print_replay(cases);
  }
  return failed_cases(cases) == 0 ? kDone : kFailed;
}

}  // namespace

Verb replay_verb() {
  Verb verb;
  verb.name = "replay";
  verb.summary = "trains recorded PyTorch runs again and compares every loss";
  verb.details =
      "FILE holds runs that were recorded in PyTorch: model, sizes, seed, optimizer, ids, labels, "
      "mask, losses and facts of the first step (docs/replay.md tells every field). Each model is "
      "drawn from its seed as PyTorch draws it and trained here on the same batch. Exit code 1 "
      "when "
      "a loss or a fact lies beyond its limit. scripts/record_trajectories.py records runs of your "
      "own.";
  verb.positionals = {
      {.name = "FILE", .help = "recorded runs; - is standard input", .type = ValueType::file}};
  verb.options = {
      {.name = "tolerance",
       .value = "X",
       .type = ValueType::real,
       .fallback = fmt::format("{}", proof::kReplayTolerance),
       .help = "relative difference that a loss may have; where a run was recorded in float64 too, "
               "10 times the gap between the two if that is more",
       .least = 0},
      threads_option(),
      json_option(),
  };
  verb.examples = {"lexirow replay runs.json"};
  verb.run = run_replay;
  return verb;
}

}  // namespace lexirow::cli
