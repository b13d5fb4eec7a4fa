#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/thread_pool.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "store/tokenizer_file.h"
#include "train/corpus_preparation.h"
#include "train/presets.h"

namespace lexirow::cli {
namespace {

/// The settings of `train` that a vocabulary depends on.
train::Settings settings_of(const Arguments& arguments) {
  train::Settings settings;
  settings.tokenizer = fmt::format("bpe:{}", arguments.integer("vocab-size"));
  settings.pad = arguments.flag("pad");
  settings.bos = arguments.flag("bos");
  settings.eos = arguments.flag("eos");
  settings.raw = arguments.flag("raw");
  settings.strict = arguments.flag("strict");
  return settings;
}

void print_vocabulary(const train::Vocabulary& made, const std::string& out, bool as_json) {
  const std::int64_t size = made.tokenizer->vocab_size();
  if (!as_json) {
    print(fmt::format("{}: {}, {} learned from {} distinct words in {} of text\n", out,
                      counted(size, "token"), counted(made.report.merges, "merge"),
                      made.report.distinct, bytes_text(made.counts.text_bytes)));
    return;
  }
  Json json;
  json["vocab_size"] = size;
  json["rows"] = size;
  json["merges"] = made.report.merges;
  json["exhausted"] = made.report.exhausted;
  json["words"] = made.report.tokens;
  json["distinct_words"] = made.report.distinct;
  json["tokenizer"] = out;
  print_json(json);
}

/// A vocabulary must not become a part of the text that it is learned from.
void refuse_out_in_corpus(const std::string& out, const std::vector<std::string>& corpus) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path target = fs::weakly_canonical(out, none);
  for (const std::string& path : corpus) {
    const fs::path text = fs::weakly_canonical(path, none);
    const bool inside =
        fs::is_directory(text, none) &&
        std::mismatch(text.begin(), text.end(), target.begin(), target.end()).first == text.end();
    if (!inside) continue;
    throw Error(
        ErrorKind::argument,
        fmt::format("--out {} lies in the corpus {}: name a file somewhere else", out, path));
  }
}

int run_vocab(const Arguments& arguments) {
  if (arguments.positional("ACTION") != "train") {
    throw UsageError(
        fmt::format("vocab {}: the one action is train, as in lexirow vocab train "
                    "CORPUS --vocab-size 8192 --out tokenizer.json.",
                    arguments.positional("ACTION")));
  }
  const std::string& out = arguments.text("out");
  if (out.empty()) throw UsageError("--out FILE is missing: the tokenizer.json to write.");
  if (!arguments.has("vocab-size")) {
    throw UsageError("--vocab-size N is missing: how many tokens to make, 256 bytes included.");
  }
  refuse_out_in_corpus(out, arguments.positionals("CORPUS"));
  if (files::exists(out) && !arguments.flag("force")) {
    throw Error(ErrorKind::io,
                fmt::format("--out {} exists: name a new file, or add --force to replace it", out));
  }
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const train::Reading reading{[](const std::string& line) { say(line); }, &stop_on_interrupt(),
                               &pool};
  try {
    const train::Vocabulary made =
        train::learn_vocabulary(arguments.positionals("CORPUS"), settings_of(arguments), reading);
    store::save_tokenizer(*made.tokenizer, out);
    print_vocabulary(made, out, arguments.flag("json"));
  } catch (const text::Stopped&) {
    say(fmt::format("Stopped: nothing was written to {}.", out));
    return kInterrupted;
  }
  return kDone;
}

Option flag_option(const std::string& name, const std::string& help) {
  return {.name = name, .type = ValueType::flag, .fallback = "false", .help = help};
}

}  // namespace

Verb vocab_verb() {
  Verb verb;
  verb.name = "vocab";
  verb.summary = "learns a vocabulary from texts";
  verb.details =
      "vocab train learns byte-level BPE: it begins with the 256 bytes and merges, again and "
      "again, "
      "the pair of tokens that stands most often side by side within a word, as GPT-2 cuts words; "
      "of equally frequent pairs the one with the lowest ids. The same text gives the same file. "
      "It "
      "stops early when every word is one token. The file is Hugging Face's tokenizer.json; give "
      "it "
      "to --tokenizer of train and tokenize. train --tokenizer bpe:N does both in one go.";
  verb.positionals = {
      {.name = "ACTION", .help = "train", .choices = {"train"}},
      {.name = "CORPUS",
       .help = "texts: files, folders, or - for standard input",
       .type = ValueType::file,
       .many = true},
  };
  verb.options = {
      {.name = "vocab-size",
       .value = "N",
       .type = ValueType::integer,
       .help = "tokens to make, the 256 bytes and the special tokens among them",
       .least = 1,
       .most = std::numeric_limits<Id>::max()},
      {.name = "out",
       .value = "FILE",
       .type = ValueType::file,
       .help = "the tokenizer.json to write",
       .output = true},
      flag_option("force", "replace the file in --out"),
      flag_option("pad", "add a token <pad>"),
      flag_option("bos", "add a token <bos>"),
      flag_option("eos", "add a token <eos>"),
      flag_option("raw", "keep byte-order marks and CRLF"),
      flag_option("strict", "refuse invalid UTF-8"),
      threads_option(),
      json_option(),
  };
  verb.examples = {"lexirow vocab train my.txt --vocab-size 300 --out tokenizer.json"};
  verb.run = run_vocab;
  return verb;
}

}  // namespace lexirow::cli
