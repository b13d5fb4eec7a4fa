#include <fmt/format.h>

#include <algorithm>

#include "base/system.h"
#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "lexirow/error.h"
#include "measure/case.h"
#include "measure/machine.h"
#include "text/vocabulary.h"

namespace lexirow::cli {
namespace {

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const measure::CaseEntry& entry : measure::case_list()) names.push_back(entry.name);
  return names;
}

const measure::CaseEntry& entry_of(const std::string& name) {
  const std::vector<measure::CaseEntry>& entries = measure::case_list();
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& candidate) { return candidate.name == name; });
  if (entry == entries.end()) {
    throw UsageError(fmt::format("bench: there is no case {}.{} The cases: {}.", name,
                                 did_you_mean(closest(name, case_names())),
                                 fmt::join(case_names(), ", ")));
  }
  return *entry;
}

/// A size that changes nothing is refused: the figure would be taken for that of another size.
void refuse_unread(const Arguments& arguments, const measure::CaseEntry& entry) {
  const std::vector<std::string> always = {"seconds", "threads", "seed", "json"};
  for (const auto& [name, value] : arguments.given()) {
    const auto is_it = [&name = name](const std::string& known) { return known == name; };
    if (std::any_of(always.begin(), always.end(), is_it)) continue;
    if (std::any_of(entry.reads.begin(), entry.reads.end(), is_it)) continue;
    throw UsageError(fmt::format("--{} changes nothing in the case {}; it reads --{}.", name,
                                 entry.name, fmt::join(entry.reads, ", --")));
  }
}

measure::CaseSizes sizes_of(const Arguments& arguments) {
  measure::CaseSizes sizes;
  sizes.vocab_size = arguments.integer("vocab-size");
  sizes.seconds = arguments.real("seconds");
  train::Settings& settings = sizes.settings;
  settings.dim = arguments.integer("dim");
  settings.hidden = arguments.has("hidden") ? arguments.integer("hidden") : settings.dim;
  settings.layers = arguments.integer("layers");
  settings.activation = arguments.text("activation");
  settings.residual = arguments.flag("residual");
  settings.layer_norm = arguments.flag("layer-norm");
  settings.dropout = arguments.real("dropout");
  settings.batch = arguments.integer("batch");
  settings.context = arguments.integer("context");
  settings.stride = settings.context;
  settings.mixer = arguments.text("mixer");
  settings.tied = arguments.flag("tied");
  settings.bias = !settings.tied;
  settings.optimizer = arguments.text("optimizer");
  if (settings.optimizer != "adamw") settings.weight_decay = 0;
  settings.row_updates = arguments.text("row-updates");
  settings.clip = arguments.real("clip");
  settings.seed = arguments.integer("seed");
  return sizes;
}

measure::Measurement tokenize_case(const Arguments& arguments) {
  if (!arguments.has("text")) {
    throw UsageError("bench tokenize: give --text FILE, the text that is to be encoded.");
  }
  const std::string text = read_bytes(arguments.text("text"));
  const std::string& name = arguments.text("tokenizer");
  text::VocabularyOptions options;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  if (text::is_tokenizer_form(name)) {
    const text::TokenizerForm form = text::parse_tokenizer_form(name);
    options.kind = form.kind;
    options.size = form.size;
    tokenizer = tokenizer_of_text(options, text);
  } else {
    tokenizer = load_tokenizer(name);
  }
  return measure::measure_tokenizer(*tokenizer, text, arguments.real("seconds"));
}

struct Share {
  std::string of;         ///< what is the limit; empty: the case has none
  double per_second = 0;  ///< of this machine
  double share = 0;
};

Share share_of(base::ThreadPool& pool, const measure::Measurement& measurement) {
  if (measurement.work <= 0) return {};
  const bool products = measurement.limit == measure::Limit::matrix_rate;
  const double per_second = products ? measure::matrix_rate(pool) : measure::copy_bandwidth(pool);
  return {products ? "matrix rate" : "copy bandwidth", per_second,
          measurement.work / measurement.timing.seconds / per_second};
}

void print_figures(const measure::CaseEntry& entry, const measure::Measurement& measurement,
                   const Share& share, std::int64_t peak) {
  const measure::Timing& timing = measurement.timing;
  print(fmt::format("{}: {}\n", bold(entry.name, 1), entry.about));
  print(fmt::format("  {:.4g} ms, the median of {}; half of them within {:.0f} % of it\n",
                    1e3 * timing.seconds, counted(timing.repetitions, "repetition"),
                    100 * timing.spread));
  print(fmt::format("  {} tokens/s\n",
                    rounded(static_cast<std::int64_t>(measurement.tokens_per_second()))));
  if (!share.of.empty()) {
    print(fmt::format("  {:.0f} % of this machine's {} ({:.4g} {})\n", 100 * share.share, share.of,
                      share.per_second / 1e9, share.of == "matrix rate" ? "GF/s" : "GB/s"));
  }
  print(fmt::format("  peak memory {}\n", bytes_text(peak)));
}

int run_bench(const Arguments& arguments) {
  const measure::CaseEntry& entry = entry_of(arguments.positional("CASE"));
  refuse_unread(arguments, entry);
  const auto threads = static_cast<int>(arguments.integer("threads"));
  base::ThreadPool pool(threads);
  const measure::Measurement measurement =
      entry.name == "tokenize" ? tokenize_case(arguments)
                               : measure::measure_case(pool, entry.name, sizes_of(arguments));
  // Before the machine's own limit is measured, which takes memory too.
  const std::int64_t peak = base::peak_memory_bytes();
  const Share share = share_of(pool, measurement);
  if (!arguments.flag("json")) {
    print_figures(entry, measurement, share, peak);
    return kDone;
  }
  Json json = {{"case", entry.name},
               {"seconds", measurement.timing.seconds},
               {"spread", measurement.timing.spread},
               {"repetitions", measurement.timing.repetitions},
               {"tokens", measurement.tokens},
               {"tokens_per_second", measurement.tokens_per_second()},
               {"peak_memory_bytes", peak},
               {"threads", threads}};
  json["limit"] = share.of.empty() ? Json(nullptr) : Json(share.of);
  json["limit_per_second"] = share.of.empty() ? Json(nullptr) : Json(share.per_second);
  json["share_of_limit"] = share.of.empty() ? Json(nullptr) : Json(share.share);
  print_json(json);
  return kDone;
}

Option size_option(const std::string& name, const std::string& fallback, const std::string& help,
                   double least = 1) {
  return {.name = name,
          .value = "N",
          .type = ValueType::integer,
          .fallback = fallback,
          .help = help,
          .least = least,
          .group = "Sizes"};
}

/// What shapes the hidden layers, as in `train`.
std::vector<Option> layer_options() {
  return {{.name = "layers",
           .value = "L",
           .type = ValueType::integer,
           .fallback = "1",
           .help = "hidden layers of the MLP",
           .least = 1,
           .group = "Sizes"},
          {.name = "activation",
           .value = "gelu|relu",
           .fallback = "gelu",
           .help = "what follows each hidden layer",
           .group = "Sizes"},
          {.name = "residual",
           .type = ValueType::flag,
           .fallback = "false",
           .help = "hidden layers add to what they read",
           .group = "Sizes"},
          {.name = "layer-norm",
           .type = ValueType::flag,
           .fallback = "false",
           .help = "normalise what hidden layers read",
           .group = "Sizes"},
          {.name = "dropout",
           .value = "P",
           .type = ValueType::real,
           .fallback = "0",
           .help = "share of hidden units left out",
           .least = 0,
           .group = "Sizes"}};
}

std::vector<Option> size_options() {
  std::vector<Option> options = {
      size_option("vocab-size", "50257", "rows of the table, V", 2),
      size_option("dim", "256", "width of a row, D"),
      size_option("hidden", "", "width of the MLP, 0 leaves it out (default: --dim)", 0),
      size_option("batch", "8", "sequences of a batch, B"),
      size_option("context", "256", "tokens of a sequence, T; of generate: tokens read before"),
  };
  for (Option& option : layer_options()) options.push_back(std::move(option));
  options.push_back({.name = "mixer",
                     .value = "NAME",
                     .fallback = "mean",
                     .help = "none, mean, window:W, concat:W, decay:R, or several joined by +",
                     .group = "Sizes"});
  options.push_back({.name = "tied",
                     .type = ValueType::flag,
                     .fallback = "false",
                     .help = "the head is the table, without bias",
                     .group = "Sizes"});
  options.push_back({.name = "optimizer",
                     .value = "NAME",
                     .fallback = "adamw",
                     .help = "adamw, sgd, adagrad or adagrad-row",
                     .group = "Sizes"});
  options.push_back({.name = "row-updates",
                     .value = "NAME",
                     .fallback = "dense",
                     .help = "dense moves every row, lazy those of the batch",
                     .group = "Sizes"});
  options.push_back({.name = "clip",
                     .value = "X",
                     .type = ValueType::real,
                     .fallback = "0",
                     .help = "limit of the gradient's norm; 0: none",
                     .least = 0,
                     .group = "Sizes"});
  return options;
}

std::string details() {
  std::string text =
      "Repeats one part of the work and gives the median, so that sizes and versions can be "
      "compared; run it on a quiet machine. Ids follow Zipf's law. The limit it is compared with, "
      "copying memory or a large product, is measured in the same run.";
  for (const measure::CaseEntry& entry : measure::case_list()) {
    text +=
        fmt::format("\n{}: {} (--{}).", entry.name, entry.about, fmt::join(entry.reads, ", --"));
  }
  return text;
}

}  // namespace

Verb bench_verb() {
  Verb verb;
  verb.name = "bench";
  verb.summary = "times one part of the work on this machine";
  verb.details = details();
  verb.positionals = {{.name = "CASE", .help = "what to time", .choices = case_names()}};
  verb.options = size_options();
  verb.options.push_back({.name = "text",
                          .value = "FILE",
                          .type = ValueType::file,
                          .help = "tokenize: the text to encode"});
  verb.options.push_back(
      {.name = "tokenizer",
       .value = "NAME|FILE",
       .fallback = "word",
       .help = "tokenize: char, byte, word, bpe:N, or a file or folder with one"});
  verb.options.push_back({.name = "seconds",
                          .value = "X",
                          .type = ValueType::real,
                          .fallback = "1",
                          .help = "repeat for so long",
                          .least = 0});
  verb.options.push_back(seed_option("draws ids and weights"));
  verb.options.push_back(threads_option());
  verb.options.push_back(json_option());
  verb.examples = {"lexirow bench step --vocab-size 256 --dim 64 --batch 32 --context 128",
                   "lexirow bench scatter-add --context 2048 --json"};
  verb.run = run_bench;
  return verb;
}

}  // namespace lexirow::cli
