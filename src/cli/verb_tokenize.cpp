#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/tokenize_output.h"
#include "cli/tokenize_proofs.h"
#include "cli/tokenize_windows.h"
#include "cli/verbs.h"
#include "lexirow/error.h"
#include "store/tokenizer_file.h"
#include "text/vocabulary.h"
#include "text/windows.h"

namespace lexirow::cli {
namespace {

/// What shows a text is one of these, or the ids alone.
constexpr std::array kModes = {"decode", "pieces", "roundtrip", "parity", "windows"};

/// Options that would change nothing beside the others are refused, not passed over.
void require_sense(const Arguments& arguments) {
  std::string mode;
  for (const char* name : kModes) {
    const bool wanted =
        std::string_view(name) == "parity" ? arguments.has(name) : arguments.flag(name);
    if (!wanted) continue;
    if (!mode.empty()) {
      throw UsageError(
          fmt::format("--{} and --{} show different things: give one of them.", mode, name));
    }
    mode = name;
  }
  for (const char* name : {"special", "strict"}) {
    if (mode != "decode" || !arguments.has(name)) continue;
    throw UsageError(
        fmt::format("--{} says how text is read, but --decode reads ids: leave it out.", name));
  }
  const std::string& first = arguments.text("tokenizer");
  const std::string& second = arguments.text("parity");
  if (arguments.has("word-split") && first != "word" && second != "word") {
    throw UsageError(
        fmt::format("--word-split says how `word` cuts, but --tokenizer is {}: leave it out, or "
                    "give --tokenizer word.",
                    first));
  }
  const bool file =
      !text::is_tokenizer_form(first) || (!second.empty() && !text::is_tokenizer_form(second));
  if (arguments.text("split") != "auto" && !file) {
    throw UsageError(
        fmt::format("--split says how a tiktoken rank file cuts, but --tokenizer is {}: leave it "
                    "out, or give such a file.",
                    first));
  }
}

/// The tokenizer that `name` stands for: of a file, or made of the text.
std::shared_ptr<const text::Tokenizer> wanted_tokenizer(const Arguments& arguments,
                                                        const std::string& name,
                                                        const std::string& text) {
  if (!text::is_tokenizer_form(name)) {
    // Of two files that are compared the option is for the one that it can be for.
    const bool ranks = !arguments.has("parity") || store::holds_ranks(name);
    return load_tokenizer(name, ranks ? arguments.text("split") : "auto");
  }
  text::VocabularyOptions options;
  const text::TokenizerForm form = text::parse_tokenizer_form(name);
  options.kind = form.kind;
  options.size = form.size;
  options.split = text::parse_word_split(arguments.text("word-split"));
  options.strict = arguments.flag("strict");
  std::shared_ptr<const text::Tokenizer> tokenizer = tokenizer_of_text(options, text);
  if (options.kind != text::TokenizerKind::byte) {
    say(fmt::format("The vocabulary of {}, {}, is made of this text itself.", name,
                    counted(tokenizer->vocab_size(), "token")));
  }
  return tokenizer;
}

/// Whole numbers between white space, commas and the brackets of a JSON list.
std::vector<Id> parse_ids(const std::string& text, const text::Tokenizer& tokenizer) {
  const char* const separators = " \t\r\n,[]";
  std::vector<Id> ids;
  std::size_t begin = text.find_first_not_of(separators);
  while (begin != std::string::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (rest != text.data() + end || error == std::errc::invalid_argument) {
      throw Error(ErrorKind::file,
                  fmt::format("\"{}\" at position {} is no id: ids are whole numbers such as 3; "
                              "cast them first, in Python with ids.astype(int).",
                              shown(word), ids.size()));
    }
    if (error == std::errc::result_out_of_range || value < std::numeric_limits<Id>::min() ||
        value > std::numeric_limits<Id>::max()) {
      throw Error(
          ErrorKind::index,
          fmt::format(
              "id {} at position {} is out of range: the vocabulary has {} rows, ids 0 to {}.",
              word, ids.size(), tokenizer.vocab_size(), tokenizer.vocab_size() - 1));
    }
    ids.push_back(static_cast<Id>(value));
    begin = text.find_first_not_of(separators, end);
  }
  return ids;
}

int decode_ids(const Arguments& arguments, const std::string& input) {
  const std::string& name = arguments.text("tokenizer");
  if (text::is_tokenizer_form(name) && name != "byte") {
    throw UsageError(
        "--decode needs the vocabulary that the ids came from: --tokenizer FILE, a tokenizer.json "
        "or a model folder (or --tokenizer byte).");
  }
  const auto tokenizer = wanted_tokenizer(arguments, name, "");
  const std::vector<Id> ids = parse_ids(input, *tokenizer);
  const base::View1<const Id> view(ids.data(), {static_cast<std::int64_t>(ids.size())});
  text::check_ids(view, tokenizer->vocab_size(), tokenizer.get());
  const std::string text = tokenizer->decode(ids);
  if (!arguments.flag("json")) {
    print(text);
    return kDone;
  }
  Json json;
  put_token(json, "text", "bytes", text);
  json["ids"] = ids;
  json["tokens"] = ids.size();
  json["vocab_size"] = tokenizer->vocab_size();
  print_json(json);
  return kDone;
}

WindowsWanted wanted_windows(const Arguments& arguments) {
  WindowsWanted wanted;
  wanted.options.context = arguments.integer("context");
  wanted.options.stride =
      arguments.has("stride") ? arguments.integer("stride") : wanted.options.context;
  wanted.batch = arguments.integer("batch");
  wanted.batches = arguments.integer("batches");
  wanted.dim = arguments.integer("dim");
  wanted.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  return wanted;
}

std::vector<Option> windows_options() {
  std::vector<Option> options = {
      {.name = "context",
       .value = "N",
       .type = ValueType::integer,
       .fallback = "4",
       .help = "tokens in a window",
       .least = 1},
      {.name = "stride",
       .value = "N",
       .type = ValueType::integer,
       .help = "tokens from one window to the next (default: --context)",
       .least = 1},
      {.name = "batch",
       .value = "N",
       .type = ValueType::integer,
       .fallback = "8",
       .help = "windows in a batch",
       .least = 1},
      {.name = "batches",
       .value = "N",
       .type = ValueType::integer,
       .fallback = "1",
       .help = "batches shown",
       .least = 1},
      {.name = "dim",
       .value = "N",
       .type = ValueType::integer,
       .fallback = "0",
       .help = "also look the inputs up in a table with rows of N values, drawn from --seed",
       .least = 0},
      seed_option("of the table, drawn as PyTorch draws it"),
  };
  for (Option& option : options) option.group = "Windows";
  return options;
}

void require_windows(const Arguments& arguments) {
  if (arguments.flag("windows")) return;
  for (const Option& option : windows_options()) {
    if (!arguments.has(option.name)) continue;
    throw UsageError(fmt::format("--{} is for --windows: add --windows.", option.name));
  }
}

/// Prints what the options ask for instead of the plain ids; the exit code, or nothing for those.
std::optional<int> run_other(const Arguments& arguments, const text::Tokenizer& tokenizer,
                             const text::EncodeRules& rules, const std::string& text) {
  const bool as_json = arguments.flag("json");
  if (arguments.flag("windows")) {
    std::vector<Id> ids;
    text::EncodeCounts counts;
    tokenizer.encode(text, rules, ids, counts);
    say_counts(counts);
    return show_windows(tokenizer, std::move(ids), wanted_windows(arguments), as_json);
  }
  if (arguments.flag("roundtrip")) return prove_round_trip(tokenizer, rules, text, as_json);
  if (!arguments.has("parity")) return std::nullopt;
  const std::string& name = arguments.text("parity");
  const auto other = wanted_tokenizer(arguments, name, text);
  text::EncodeRules other_rules = rules;
  const std::vector<std::string> special = arguments.texts("special");
  if (!special.empty()) other_rules.specials = text::allow_specials(*other, special);
  return compare_tokenizers({{tokenizer, rules}, arguments.text("tokenizer")},
                            {{*other, other_rules}, name}, text, as_json);
}

int run_tokenize(const Arguments& arguments) {
  require_sense(arguments);
  require_windows(arguments);
  const auto& files = arguments.positionals("FILE");
  const std::string text = read_bytes(files.empty() ? "-" : files[0]);
  if (arguments.flag("decode")) return decode_ids(arguments, text);

  const auto tokenizer = wanted_tokenizer(arguments, arguments.text("tokenizer"), text);
  text::EncodeRules rules;
  rules.strict = arguments.flag("strict");
  const std::vector<std::string> special = arguments.texts("special");
  if (!special.empty()) rules.specials = text::allow_specials(*tokenizer, special);
  text::EncodeCounts counts;
  try {
    if (const auto code = run_other(arguments, *tokenizer, rules, text)) return *code;
    if (arguments.flag("json")) {
      print_pieces_json(*tokenizer, rules, text, counts);
    } else if (arguments.flag("pieces")) {
      print_pieces(*tokenizer, rules, text, counts);
    } else {
      print_ids(*tokenizer, rules, text, counts);
    }
  } catch (const Error& error) {
    // A character that the given vocabulary lacks: the text does not fit, the command is right.
    if (error.kind() != ErrorKind::argument) throw;
    throw Error(ErrorKind::file, error.what());
  }
  say_counts(counts);
  return kDone;
}

std::vector<Option> tokenize_options() {
  std::vector<Option> options = {
      {.name = "tokenizer",
       .value = "char|byte|word|bpe:N|FILE",
       .type = ValueType::file,
       .fallback = "char",
       .help = "how to cut the text; bpe:N learns N tokens from it; FILE is a tokenizer.json, "
               "GPT-2's encoder.json or vocab.bpe, a "
               "tiktoken rank file, or a folder with one of these, such as a model",
       .choices = {"char", "byte", "word", "bpe:"}},
      {.name = "split",
       .value = "auto|gpt2|cl100k|o200k|llama3|qwen2",
       .type = ValueType::choice,
       .fallback = "auto",
       .help = "how a tiktoken rank file cuts text (auto: by its number of ranks)",
       .choices = {"auto", "gpt2", "cl100k", "o200k", "llama3", "qwen2"}},
      {.name = "special",
       .value = "TOKEN",
       .help = "a special token whose spelling in the text stands for it (all: every one); may be "
               "given several times. The others are plain text"},
      {.name = "word-split",
       .value = "unicode|space",
       .type = ValueType::choice,
       .fallback = "unicode",
       .help = "where `word` cuts: at spaces and punctuation, or at spaces only",
       .choices = {"unicode", "space"}},
      {.name = "decode",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "read ids, between spaces or commas, and write their text"},
      {.name = "pieces",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "a table of id, token, its bytes and its place in bytes (end exclusive)"},
      {.name = "roundtrip",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "prove that decoding the ids gives the text again, byte for byte"},
      {.name = "parity",
       .value = "char|byte|word|bpe:N|FILE",
       .type = ValueType::file,
       .help = "compare --tokenizer with another one: the first place of the text where ids or "
               "places differ",
       .choices = {"char", "byte", "word", "bpe:"}},
      {.name = "windows",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "batches of inputs and targets, as a model trains on them"},
      {.name = "strict",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "refuse invalid UTF-8 instead of reading it as U+FFFD"},
      json_option(),
  };
  const std::vector<Option> windows = windows_options();
  options.insert(options.end(), windows.begin(), windows.end());
  return options;
}

}  // namespace

Verb tokenize_verb() {
  Verb verb;
  verb.name = "tokenize";
  verb.summary = "turns text into ids, or ids back into text";
  verb.details =
      "Prints the ids on one line. No byte of the text is changed first: a byte-order mark and "
      "carriage returns stay. char, word and bpe:N make their vocabulary of the text itself; to "
      "use that "
      "of a model, give its folder to --tokenizer.";
  verb.positionals = {{.name = "FILE",
                       .help = "the text, or the ids with --decode; standard input if absent or -",
                       .type = ValueType::file,
                       .required = false}};
  verb.options = tokenize_options();
  verb.examples = {"lexirow tokenize my.txt --tokenizer byte --pieces",
                   "lexirow tokenize my.txt --tokenizer byte --roundtrip",
                   "lexirow tokenize my.txt --windows --context 4 --stride 1 --batch 8"};
  verb.run = run_tokenize;
  return verb;
}

}  // namespace lexirow::cli
