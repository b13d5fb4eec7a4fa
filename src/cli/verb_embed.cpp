#include <fmt/format.h>

#include <algorithm>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "inspect/embed_lines.h"

namespace lexirow::cli {
namespace {

/// Numbers of lines for people, the first few.
std::string lines_listed(const inspect::EmbeddedLines& result) {
  constexpr std::size_t kListedEmpty = 5;
  const std::vector<std::int64_t>& lines = result.empty_lines;
  const auto end =
      lines.begin() + static_cast<std::ptrdiff_t>(std::min(kListedEmpty, lines.size()));
  return fmt::format("{}{}", fmt::join(lines.begin(), end, ", "),
                     result.empty > std::int64_t{kListedEmpty} ? " ..." : "");
}

void say_what_was_met(const inspect::EmbeddedLines& result) {
  if (result.empty > 0) {
    say(fmt::format("no tokens: {} (line {}): the vector is zeros", counted(result.empty, "line"),
                    lines_listed(result)));
  }
  if (result.unknown_words > 0) {
    say(fmt::format("{} without a row left out", counted(result.unknown_words, "word")));
  }
  if (result.non_finite > 0) {
    say(
        fmt::format("Warning: {} left out: the rows hold a NaN or an infinity (lexirow doctor "
                    "tells which).",
                    counted(result.non_finite, "token")));
  }
  if (result.corpus.byte_order_marks > 0) say("dropped a byte-order mark (--raw keeps it)");
  if (result.corpus.carriage_returns > 0) {
    say(fmt::format("read {} as LF (--raw keeps them)",
                    counted(result.corpus.carriage_returns, "CRLF line end")));
  }
  say_counts(result.encoded);
}

int run_embed(const Arguments& arguments) {
  const std::string& out = arguments.text("out");
  if (out.empty()) throw UsageError("--out X.npy is missing: it names the array to write.");
  const store::Table table = open_table_argument(arguments);
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  files::NpyWriter writer(out, table.dim());
  const text::CorpusRules rules{.raw = arguments.flag("raw")};
  const inspect::EmbeddedLines result =
      inspect::embed_lines(pool, table, arguments.positional("FILE"), rules, writer);
  writer.commit();
  say_what_was_met(result);
  if (arguments.flag("json")) {
    Json json;
    json["lines"] = result.lines;
    json["empty"] = result.empty;
    json["dim"] = table.dim();
    json["tokens"] = result.parts;
    json["unknown"] = result.unknown_words + result.encoded.unknown;
    json["non_finite"] = result.non_finite;
    json["no_tokens"] = result.empty_lines;
    json["out"] = out;
    print_json(json);
  } else {
    print(fmt::format("{}: {}, each the mean of its tokens' rows, {} x {}\n", out,
                      counted(result.lines, "line"), result.lines, table.dim()));
  }
  return kDone;
}

}  // namespace

Verb embed_verb() {
  Verb verb;
  verb.name = "embed";
  verb.summary = "turns each line of a text into one vector";
  verb.details =
      "Writes an npy array with a row for every line of FILE: the mean of the rows of its tokens, "
      "as `near --text` uses it. What stands in other lines changes nothing, pads count for "
      "nothing, and a line without tokens is a vector of zeros and is told. A table of words cuts "
      "lines at white space and leaves out words that it does not have. FILE may be of any length: "
      "it is read a piece at a time.";
  verb.positionals = {table_positional(),
                      {.name = "FILE",
                       .help = "a text, a line for each vector; - for standard input",
                       .type = ValueType::file}};
  verb.options = {
      {.name = "out",
       .value = "X.npy",
       .type = ValueType::file,
       .help = "the array to write",
       .output = true},
      {.name = "raw",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "keep a byte-order mark and CRLF line ends as they are"},
      threads_option(),
      json_option(),
  };
  add_table_options(verb.options);
  verb.examples = {"lexirow embed model my.txt --out lines.npy"};
  verb.run = run_embed;
  return verb;
}

}  // namespace lexirow::cli
