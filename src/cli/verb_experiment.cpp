#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/query.h"
#include "cli/verbs.h"
#include "experiment/experiments.h"
#include "experiment/report.h"
#include "experiment/tiny_text.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"

namespace lexirow::cli {
namespace {

using experiment::Experiment;
using experiment::Record;

constexpr const char* kResults = "results.json";

std::vector<const Experiment*> chosen_experiments(const std::string& name) {
  std::vector<const Experiment*> chosen;
  if (name == "all") {
    for (const Experiment& each : experiment::all_experiments()) chosen.push_back(&each);
  } else {
    chosen.push_back(&experiment::find_experiment(name));
  }
  return chosen;
}

/// The text that is given, or the built-in one.
std::string text_of(const Arguments& arguments) {
  if (!arguments.has("text")) return experiment::tiny_text();
  constexpr std::size_t kShortest = 500;  // below, every claim about a model's learning is noise
  std::string text = read_bytes(arguments.text("text"));
  if (text.size() >= kShortest) return text;
  throw Error(ErrorKind::file,
              fmt::format("--text {}: got {}, expected {} or more: models learn nothing from so "
                          "little that a claim could be judged by",
                          arguments.text("text"),
                          counted(static_cast<std::int64_t>(text.size()), "byte"), kShortest));
}

/// A vector of two values whose products and squares neither overflow nor vanish.
std::vector<double> parse_pair(const Arguments& arguments, const std::string& option) {
  std::vector<double> values = parse_vector(option, arguments.text(option));
  const auto fits = [](double value) {
    return value == 0 || (std::abs(value) >= 1e-100 && std::abs(value) <= 1e100);
  };
  if (values.size() != 2 || !std::all_of(values.begin(), values.end(), fits)) {
    throw UsageError(fmt::format(
        "--{} takes two numbers, such as 1,0.5, each of them 0 or of a size from 1e-100 "
        "to 1e100, not \"{}\".",
        option, arguments.text(option)));
  }
  return values;
}

/// The vectors belong to one experiment.
void refuse_vectors(const Arguments& arguments, const std::string& name) {
  for (const char* option : {"a", "b"}) {
    if (!arguments.has(option) || name == "directions" || name == "all") continue;
    throw UsageError(
        fmt::format("--{} is a vector of the experiment directions, but this is {}; leave it out",
                    option, name));
  }
}

/// Where an older report stands it is replaced; another folder's files are left alone.
void prepare_folder(const std::string& out) {
  namespace fs = std::filesystem;
  if (fs::exists(out) &&
      (!fs::is_directory(out) || (!fs::is_empty(out) && !fs::exists(fs::path(out) / kResults)))) {
    throw Error(
        ErrorKind::io,
        fmt::format("--out {} exists and is no report of experiments: name a new folder", out));
  }
  files::make_folder(out);
}

/// What changes the figures; the folder is always the same one, so that two runs into different
/// folders write the same bytes.
std::string command_of(const Arguments& arguments, const std::string& name) {
  std::string command = fmt::format("lexirow experiment {} --out report", name);
  for (const auto& [option, value] : arguments.given()) {
    if (option == "json" || option == "threads" || option == "out") continue;
    if ((option == "a" || option == "b") && name != "directions" && name != "all") continue;
    command += option == "quick" ? " --quick" : fmt::format(" --{} {}", option, shell_word(value));
  }
  return command;
}

Record run_one(const Experiment& each, const experiment::Setting& setting,
               const Arguments& arguments, bool alone) {
  say(each.name + " ...");
  const auto begin = std::chrono::steady_clock::now();
  Record record;
  record.experiment = &each;
  try {
    record.outcome = each.run(setting);
  } catch (const Error& error) {
    if (alone) throw;
    // One that a text is too small for leaves the others their report.
    record.outcome.error = error.what();
  }
  record.command = command_of(arguments, each.name);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  record.seconds = seconds.count();
  return record;
}

/// A number without a fraction as such, others as figure().
std::string condition_figure(double value) {
  if (!std::isfinite(value)) return "undefined";
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : figure(value);
}

std::string verdict(const experiment::Outcome& outcome) {
  if (!outcome.error.empty()) return "not tried     ";
  return outcome.holds() ? "holds         " : "does not hold ";
}

void print_verdicts(const std::vector<Record>& records) {
  for (const Record& record : records) {
    print(fmt::format("{}  {}\n    {}\n", verdict(record.outcome), bold(record.experiment->name, 1),
                      record.experiment->claim));
    if (!record.outcome.error.empty()) print(fmt::format("    {}\n", record.outcome.error));
    for (const experiment::Condition& condition : record.outcome.conditions) {
      print(fmt::format("    {} {}: {} {} {}\n", condition.holds() ? "yes" : "NO ", condition.text,
                        condition_figure(condition.figure),
                        experiment::relation_sign(condition.relation),
                        condition_figure(condition.limit)));
    }
  }
}

int run_experiment(const Arguments& arguments) {
  const std::vector<const Experiment*> chosen = chosen_experiments(arguments.positional("NAME"));
  refuse_vectors(arguments, arguments.positional("NAME"));
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  experiment::Setting setting{.pool = pool,
                              .quick = arguments.flag("quick"),
                              .seed = static_cast<std::uint64_t>(arguments.integer("seed")),
                              .text = text_of(arguments)};
  setting.a = parse_pair(arguments, "a");
  setting.b = parse_pair(arguments, "b");
  const std::string& out = arguments.text("out");
  if (out.empty()) throw UsageError("--out is missing: the folder for the report.");
  prepare_folder(out);
  experiment::Report report{setting, command_of(arguments, arguments.positional("NAME")), {}};
  try {
    for (const Experiment* each : chosen) {
      report.records.push_back(run_one(*each, setting, arguments, chosen.size() == 1));
    }
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(out, ignored);  // only where it is empty
    throw;
  }
  const std::string results = experiment::results_json(report);
  files::write_file_atomically(out + "/report.html", experiment::report_html(report));
  files::write_file_atomically(out + "/timings.json", experiment::timings_json(report));
  files::write_file_atomically(out + "/" + kResults, results);
  if (arguments.flag("json")) {
    print_json(Json::parse(results));
  } else {
    print_verdicts(report.records);
    print(fmt::format("report: {}/report.html\n", out));
  }
  return kDone;
}

}  // namespace

Verb experiment_verb() {
  Verb verb;
  verb.name = "experiment";
  verb.summary = "tries what is said of embeddings, and writes a report";
  verb.details =
      "Every experiment states a claim, computes figures and judges the claim from them; one that "
      "does not hold is reported so, and is no failure of the program. Writes report.html, "
      "results.json (the same bytes for the same command) and timings.json into --out.";
  Positional name{.name = "NAME", .help = "an experiment, or all"};
  name.choices = {"all"};
  for (const Experiment& each : experiment::all_experiments()) name.choices.push_back(each.name);
  verb.positionals = {name};
  verb.options = {
      {.name = "out",
       .value = "DIR",
       .type = ValueType::folder,
       .help = "folder for the report",
       .output = true},
      {.name = "quick", .type = ValueType::flag, .help = "smaller sizes: all within 3 minutes"},
      {.name = "text",
       .value = "FILE",
       .type = ValueType::file,
       .help = "the tiny corpus; without it a built-in one of 10 kB"},
      {.name = "a", .value = "X,Y", .fallback = "1,0", .help = "first vector of directions"},
      {.name = "b", .value = "X,Y", .fallback = "2,0", .help = "second vector of directions"},
      seed_option("first of the seeds"),
      threads_option(),
      json_option(),
  };
  verb.examples = {"lexirow experiment overfit --out report --quick"};
  verb.run = run_experiment;
  return verb;
}

}  // namespace lexirow::cli
