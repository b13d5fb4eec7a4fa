#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "context/mixer.h"
#include "inspect/word_tasks.h"
#include "store/model_folder.h"
#include "store/table.h"
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

void put_left_out(Json& json, const inspect::LeftOut& left_out) {
  json["missing"] = left_out.missing;
  json["zero"] = left_out.zero;
}

void say_words(const std::vector<std::string>& words, const char* what) {
  if (words.empty()) return;
  constexpr std::size_t kNamed = 10;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, words.size()); ++i) names += " " + shown(words[i]);
  if (words.size() > kNamed) names += " ...";
  say(fmt::format("{} {}:{}", counted(static_cast<std::int64_t>(words.size()), "word"), what,
                  names));
}

void say_left_out(const inspect::LeftOut& left_out) {
  say_words(left_out.missing, "without a row");
  say_words(left_out.zero, "whose row has no direction (zeros, or numbers that are not finite)");
}

void print_pairs(const inspect::PairReport& report, bool as_json) {
  if (as_json) {
    Json json;
    json["spearman"] = std::isfinite(report.spearman) ? Json(report.spearman) : Json(nullptr);
    json["pairs"] = report.pairs;
    json["found"] = report.found;
    put_left_out(json, report.left_out);
    print_json(json);
    return;
  }
  if (!std::isfinite(report.spearman)) {
    print(
        fmt::format("Spearman undefined: {} of {} found, and it takes two that differ in what "
                    "people said and in their cosines\n",
                    report.found, counted(report.pairs, "pair")));
  } else {
    print(fmt::format("Spearman {:.4f} over the {} found of {}\n", report.spearman,
                      counted(report.found, "pair"), report.pairs));
  }
  say_left_out(report.left_out);
}

void print_analogies(const inspect::AnalogyReport& report, bool as_json) {
  inspect::AnalogyScore all;
  Json sections = Json::array();
  for (const inspect::AnalogyScore& score : report.sections) {
    all.questions += score.questions;
    all.asked += score.asked;
    all.right += score.right;
    sections.push_back({{"section", score.section},
                        {"questions", score.questions},
                        {"asked", score.asked},
                        {"right", score.right}});
  }
  const auto share = [](const inspect::AnalogyScore& score) {
    return static_cast<double>(score.right) / static_cast<double>(score.asked);
  };
  if (as_json) {
    Json json;
    json["accuracy"] = all.asked > 0 ? Json(share(all)) : Json(nullptr);
    json["questions"] = all.questions;
    json["asked"] = all.asked;
    json["right"] = all.right;
    json["sections"] = std::move(sections);
    put_left_out(json, report.left_out);
    print_json(json);
    return;
  }
  const auto line = [&](const std::string& name, const inspect::AnalogyScore& score) {
    const std::string right =
        score.asked > 0 ? fmt::format("{:5.1f} %", 100 * share(score)) : std::string("    - ");
    print(fmt::format("{}  {} right of {} asked, {} in the file  {}\n", right, score.right,
                      score.asked, score.questions, name));
  };
  for (const inspect::AnalogyScore& score : report.sections) {
    if (report.sections.size() > 1) line(shown(score.section), score);
  }
  line("all", all);
  say_left_out(report.left_out);
}

/// What is measured of a table by word lists.
int run_word_task(const Arguments& arguments) {
  if (!arguments.positionals("FILE").empty() || arguments.flag("lines")) {
    throw UsageError(
        "--similarity and --analogy measure a table alone; leave out FILE and --lines");
  }
  if (arguments.has("similarity") && arguments.has("analogy")) {
    throw UsageError("--similarity and --analogy: give one of them");
  }
  const store::Table table = open_table_argument(arguments);
  if (arguments.has("similarity")) {
    print_pairs(inspect::score_pairs(table, inspect::read_word_pairs(arguments.text("similarity"))),
                arguments.flag("json"));
    return kDone;
  }
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  print_analogies(
      inspect::score_analogies(pool, table, inspect::read_analogies(arguments.text("analogy"))),
      arguments.flag("json"));
  return kDone;
}

int run_eval(const Arguments& arguments) {
  if (arguments.has("similarity") || arguments.has("analogy")) return run_word_task(arguments);
  if (arguments.positionals("FILE").empty()) {
    throw UsageError(
        "FILE is missing: lexirow eval MODEL FILE measures a loss, lexirow eval TABLE --similarity "
        "PAIRS or --analogy QUESTIONS a table.");
  }
  refuse_table_options(arguments, "is for tables that --similarity or --analogy measures");
  const store::ModelFolder folder = store::open_model(arguments.positional(kTableArgument));
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const std::string& path = arguments.positional("FILE");
  const bool as_json = arguments.flag("json");
  if (arguments.flag("lines")) {
    print_lines(pool, folder, path, as_json);
    return kDone;
  }
  if (context::leaks_future(folder.config.mixer)) {
    say(fmt::format("Warning: --mixer {} reads the tokens it predicts, so this loss means nothing.",
                    context::mixer_name(folder.config.mixer)));
  }
  const train::EvalReport report =
      train::evaluate_file(pool, folder, path, [](const std::string& line) { say(line); });
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
  verb.summary = "measures a model's loss on a text, or a table by word lists";
  verb.details =
      "Windows of the training context without overlap, under the corpus rules the model was "
      "trained with. --lines scores every line by itself, one score a line of input: the mean loss "
      "in nats of its predicted tokens, or - where a line has none (fewer than 2 tokens). "
      "--similarity and --analogy take any table: Spearman's rank correlation "
      "between the cosines of pairs and what people said of them, and the share of analogies whose "
      "answer is the nearest row.";
  verb.positionals = {table_positional(),
                      {.name = "FILE",
                       .help = "the text, a file or folder; - is standard input",
                       .type = ValueType::file,
                       .required = false}};
  verb.options = {
      {.name = "lines", .type = ValueType::flag, .fallback = "false", .help = "one score a line"},
      {.name = "similarity",
       .value = "FILE",
       .type = ValueType::file,
       .help = "word pairs with what people said of them, such as WordSim-353 or SimLex-999"},
      {.name = "analogy",
       .value = "FILE",
       .type = ValueType::file,
       .help = "a line of four words each: a is to b as c is to d"},
      threads_option(),
      json_option(),
  };
  add_table_options(verb.options);
  verb.examples = {"lexirow eval model my.txt", "lexirow eval model my.txt --lines"};
  verb.run = run_eval;
  return verb;
}

}  // namespace lexirow::cli
