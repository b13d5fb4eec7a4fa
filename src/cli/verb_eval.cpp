#include <fmt/format.h>

#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "store/model_folder.h"
#include "train/evaluate.h"

namespace lexirow::cli {
namespace {

void print_report(const train::EvalReport& report) {
  const std::string bits = report.bits_per_byte
                               ? fmt::format("{:.4f} bits a byte", *report.bits_per_byte)
                               : "bits a byte undefined: " + report.reason;
  print(
      fmt::format("loss {:.4f} nats a token, perplexity {:.2f}, {}\n"
                  "{} predicted, {} unknown, {} left out of the loss\n",
                  report.loss, report.perplexity, bits, counted(report.tokens, "token"),
                  report.unknown, counted(report.ignored, "label place")));
}

void print_report_json(const train::EvalReport& report) {
  Json json;
  json["loss"] = report.loss;
  json["perplexity"] = report.perplexity;
  json["bits_per_byte"] = report.bits_per_byte ? Json(*report.bits_per_byte) : Json(nullptr);
  json["reason"] = report.reason.empty() ? Json(nullptr) : Json(report.reason);
  json["tokens"] = report.tokens;
  json["unknown"] = report.unknown;
  json["ignored"] = report.ignored;
  print_json(json);
}

void print_lines(base::ThreadPool& pool, const store::ModelFolder& folder, const std::string& path,
                 bool as_json) {
  Json lines = Json::array();
  train::evaluate_lines(pool, folder, path, [&](const train::LineScore& score) {
    if (as_json) {
      lines.push_back(
          {{"loss", score.loss ? Json(*score.loss) : Json(nullptr)}, {"tokens", score.tokens}});
    } else {
      print(score.loss ? fmt::format("{:.6f}\n", *score.loss) : "-\n");
    }
  });
  if (as_json) print_json(Json{{"lines", std::move(lines)}});
}

int run_eval(const Arguments& arguments) {
  const store::ModelFolder folder = store::open_model(arguments.positional("MODEL"));
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const std::string& path = arguments.positional("FILE");
  const bool as_json = arguments.flag("json");
  if (arguments.flag("lines")) {
    print_lines(pool, folder, path, as_json);
    return kDone;
  }
  const train::EvalReport report = train::evaluate_file(pool, folder, path);
  if (as_json) {
    print_report_json(report);
  } else {
    print_report(report);
  }
  return kDone;
}

}  // namespace

Verb eval_verb() {
  Verb verb;
  verb.name = "eval";
  verb.summary = "measures a model's loss on a text";
  verb.details =
      "Windows of the training context without overlap, under the corpus rules the model was "
      "trained with. --lines scores every line by itself, one score a line of input: the mean loss "
      "in nats of its predicted tokens, or - where a line has none (fewer than 2 tokens).";
  verb.positionals = {model_positional(),
                      {.name = "FILE",
                       .help = "the text, a file or folder; - is standard input",
                       .type = ValueType::file}};
  verb.options = {
      {.name = "lines", .type = ValueType::flag, .fallback = "false", .help = "one score a line"},
      threads_option(),
      json_option(),
  };
  verb.examples = {"lexirow eval model my.txt", "lexirow eval model my.txt --lines"};
  verb.run = run_eval;
  return verb;
}

}  // namespace lexirow::cli
