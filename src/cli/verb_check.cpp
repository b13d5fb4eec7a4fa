#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>

#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "lexirow/error.h"
#include "proof/check.h"
#include "text/corpus.h"
#include "text/in_file.h"
#include "text/token_stream.h"
#include "train/derive.h"
#include "train/sizes.h"

namespace lexirow::cli {
namespace {

/// A folder for what the checks write, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "lexirow-check-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorKind::io, fmt::format("cannot make a folder for the checks: {}", pattern));
    }
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr std::size_t kSampleBytes = std::size_t{64} << 10;

/// Ends the reading of a corpus when the sample is full.
struct Enough {};

/// Ids of the first 64 KiB of texts, read as in training. An unfinished end is left out.
std::vector<Id> sample_ids(const store::ModelFolder& folder,
                           const std::vector<std::string>& corpus) {
  const train::Settings settings = train::stored_settings(folder);
  const text::CorpusFiles files = text::list_corpus(corpus);
  std::string sample;
  text::CorpusCounts counts;
  try {
    for (const std::string& path : files.paths) {
      text::read_corpus_file(path, train::corpus_rules(settings), counts,
                             [&](std::string_view chunk) {
                               sample += chunk.substr(0, kSampleBytes - sample.size());
                               if (sample.size() == kSampleBytes) throw Enough();
                             });
    }
  } catch (const Enough&) {
  }
  text::StreamEncoder encoder(*folder.tokenizer, train::encode_rules(settings, *folder.tokenizer),
                              train::document_rules(settings));
  std::vector<Id> ids;
  std::vector<std::int64_t> boundaries;
  text::in_file(corpus.front(), [&] {
    encoder.push(sample, ids, boundaries);
    if (sample.size() < kSampleBytes) encoder.end_file(ids, boundaries);
  });
  if (ids.empty()) {
    throw Error(ErrorKind::file,
                fmt::format("{}: holds no text to check on", text::path_name(corpus.front())));
  }
  return ids;
}

/// The text asked for; else the recorded corpus; else none, and the checks use ids of their own.
std::vector<Id> subject_ids(const store::ModelFolder& folder, const Arguments& arguments) {
  if (arguments.has("text")) return sample_ids(folder, {arguments.text("text")});
  const std::vector<std::string> corpus =
      train::readable_corpus(train::stored_corpus(folder), folder.path);
  try {
    if (!corpus.empty()) return sample_ids(folder, corpus);
    say("The model does not say what it was trained on: checking on built-in ids.");
  } catch (const Error& error) {
    say(fmt::format(
        "The corpus of the training cannot be read again ({}): checking on built-in ids.",
        error.what()));
  }
  return {};
}

proof::CheckReport run_checks(const Arguments& arguments) {
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const ScratchFolder scratch;
  const auto seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  if (arguments.positionals("MODEL").empty()) {
    if (arguments.has("text")) throw UsageError("--text needs a MODEL to read it with.");
    return proof::check_built_in(pool, seed, scratch.path());
  }
  const store::ModelFolder folder = store::open_model(arguments.positional("MODEL"));
  proof::CheckSubject subject;
  subject.name = folder.path;
  subject.config = folder.config;
  subject.parameters = &folder.parameters;
  subject.tokenizer = folder.tokenizer;  // so that save-load goes through a whole model folder
  subject.ids = subject_ids(folder, arguments);
  subject.seed = seed;
  subject.tokenizer = folder.tokenizer;
  proof::CheckReport report;
  proof::check_subject(pool, subject, scratch.path(), report);
  return report;
}

void print_report_json(const proof::CheckReport& report) {
  Json json;
  json["checks"] = Json::array();
  for (const proof::CheckResult& check : report.checks) {
    json["checks"].push_back({{"name", check.name},
                              {"subject", check.subject},
                              {"passed", check.passed},
                              {"figure", check.figure},
                              {"limit", check.limit},
                              {"text", check.text}});
  }
  json["skipped"] = Json::array();
  for (const proof::SkippedCheck& check : report.skipped) {
    json["skipped"].push_back(
        {{"name", check.name}, {"subject", check.subject}, {"reason", check.reason}});
  }
  json["passed"] = report.passed();
  print_json(json);
}

/// One line a check; its sentence below where `explain` is set or it did not hold.
void print_report(const proof::CheckReport& report, bool explain) {
  Table table({"check", "subject", "result", "figure", "limit"}, "lllrr");
  std::vector<std::string> sentences = {""};
  std::int64_t failed = 0;
  for (const proof::CheckResult& check : report.checks) {
    if (!check.passed) ++failed;
    table.add({check.name, check.subject, check.passed ? "passed" : "FAILED",
               fmt::format("{:.3g}", check.figure), fmt::format("{:.3g}", check.limit)});
    sentences.push_back(explain || !check.passed ? check.text : "");
  }
  for (const proof::SkippedCheck& check : report.skipped) {
    table.add({check.name, check.subject, "skipped", "", ""});
    sentences.push_back(explain ? check.reason : "");
  }
  std::istringstream lines(table.text());
  std::string line;
  for (const std::string& sentence : sentences) {
    std::getline(lines, line);
    print(line + '\n');
    if (!sentence.empty()) print("    " + sentence + '\n');
  }
  const auto count = static_cast<std::int64_t>(report.checks.size());
  print(report.passed() ? fmt::format("{} passed", counted(count, "check"))
                        : fmt::format("{} of {} FAILED", failed, counted(count, "check")));
  print(report.skipped.empty() ? "\n" : fmt::format(", {} skipped\n", report.skipped.size()));
}

int run_check(const Arguments& arguments) {
  const proof::CheckReport report = run_checks(arguments);
  if (arguments.flag("json")) {
    print_report_json(report);
  } else {
    print_report(report, !arguments.positionals("MODEL").empty());
  }
  return report.passed() ? kDone : kFailed;
}

}  // namespace

Verb check_verb() {
  Verb verb;
  verb.name = "check";
  verb.summary = "proves gradients, causality, padding, tying and saving by figures";
  verb.details =
      "Without MODEL every mixer is checked, tied and untied, on a small size of its own; the two "
      "controls that see the future must be caught at it. With MODEL its own parameters are "
      "checked on the text of --text, by default the first 64 KiB of its corpus. Exit code 1 when "
      "a check does not hold.";
  verb.positionals = {model_positional()};
  verb.positionals[0].required = false;
  verb.options = {
      {.name = "text",
       .value = "FILE",
       .type = ValueType::file,
       .help = "the text to check a MODEL on; - is standard input"},
      seed_option("start of the random directions and choices"),
      threads_option(),
      json_option(),
  };
  verb.examples = {"lexirow check model --text my.txt"};
  verb.run = run_check;
  return verb;
}

}  // namespace lexirow::cli
