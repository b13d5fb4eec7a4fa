#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <memory>
#include <optional>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/tokenize_proofs.h"
#include "cli/tokenize_windows.h"
#include "cli/verbs.h"
#include "lexirow/error.h"
#include "text/token_stream.h"
#include "text/vocabulary.h"
#include "text/windows.h"

namespace lexirow::cli {
namespace {

std::shared_ptr<const text::Tokenizer> wanted_tokenizer(const Arguments& arguments,
                                                        const std::string& text) {
  const std::string& name = arguments.text("tokenizer");
  if (arguments.has("word-split") && name != "word") {
    throw UsageError(
        fmt::format("--word-split says how `word` cuts, but --tokenizer is {}: leave it out, or "
                    "give --tokenizer word.",
                    name));
  }
  if (!text::is_tokenizer_form(name)) return load_tokenizer(name, arguments.text("split"));
  text::VocabularyOptions options;
  const text::TokenizerForm form = text::parse_tokenizer_form(name);
  options.kind = form.kind;
  options.size = form.size;
  options.split = text::parse_word_split(arguments.text("word-split"));
  options.strict = arguments.flag("strict");
  std::shared_ptr<const text::Tokenizer> tokenizer = tokenizer_of_text(options, text);
  if (options.kind != text::TokenizerKind::byte) {
    say(fmt::format("The vocabulary of {} is made of this text itself.",
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
  const auto tokenizer = wanted_tokenizer(arguments, "");
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

/// Ids in one line, written as they come, so that a reader may stop early.
void print_ids(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
               const std::string& text, text::EncodeCounts& counts) {
  text::StreamEncoder encoder(tokenizer, rules, {});
  std::vector<Id> ids;
  std::vector<std::int64_t> boundaries;
  bool first = true;
  const auto write = [&] {
    std::string line;
    for (const Id id : ids) {
      if (!first) line += ' ';
      line += std::to_string(id);
      first = false;
    }
    ids.clear();
    print(line);
  };
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  for (std::size_t begin = 0; begin < text.size(); begin += kChunk) {
    encoder.push(std::string_view(text).substr(begin, kChunk), ids, boundaries);
    write();
  }
  encoder.end_file(ids, boundaries);
  write();
  print("\n");
  counts = encoder.counts();
}

/// A token for the table of pieces: blanks made visible too, wherever they stand.
std::string visible(std::string_view token) {
  std::string text;
  for (const char byte : shown(token)) {
    if (byte == ' ') {
      text += "\xE2\x90\xA3";  // U+2423 OPEN BOX
    } else {
      text += byte;
    }
  }
  return text;
}

void print_pieces(const text::Tokenizer& tokenizer, const std::vector<text::Piece>& pieces) {
  Table table({"id", "token", "bytes", "place"}, "rllr");
  for (const text::Piece& piece : pieces) {
    const std::string token = tokenizer.token_bytes(piece.id);
    table.add({std::to_string(piece.id), visible(token), text::hex_bytes(token),
               fmt::format("{}..{}", piece.begin, piece.end)});
  }
  print(table.text());
}

void print_json_of(const text::Tokenizer& tokenizer, const std::vector<text::Piece>& pieces) {
  Json ids = Json::array();
  Json list = Json::array();
  for (const text::Piece& piece : pieces) {
    ids.push_back(piece.id);
    Json entry = {{"id", piece.id}};
    put_token(entry, "token", "bytes", tokenizer.token_bytes(piece.id));
    entry["begin"] = piece.begin;
    entry["end"] = piece.end;
    list.push_back(std::move(entry));
  }
  Json json;
  json["ids"] = std::move(ids);
  json["pieces"] = std::move(list);
  json["tokens"] = pieces.size();
  json["vocab_size"] = tokenizer.vocab_size();
  print_json(json);
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
  const auto other = load_tokenizer(arguments.text("parity"), arguments.text("split"));
  text::EncodeRules other_rules = rules;
  const std::vector<std::string> special = arguments.texts("special");
  if (!special.empty()) other_rules.specials = text::allow_specials(*other, special);
  return compare_tokenizers({tokenizer, rules}, {*other, other_rules}, text, as_json);
}

int run_tokenize(const Arguments& arguments) {
  require_windows(arguments);
  const auto& files = arguments.positionals("FILE");
  const std::string text = read_bytes(files.empty() ? "-" : files[0]);
  if (arguments.flag("decode")) return decode_ids(arguments, text);

  const auto tokenizer = wanted_tokenizer(arguments, text);
  text::EncodeRules rules;
  rules.strict = arguments.flag("strict");
  const std::vector<std::string> special = arguments.texts("special");
  if (!special.empty()) rules.specials = text::allow_specials(*tokenizer, special);
  text::EncodeCounts counts;
  try {
    if (const auto code = run_other(arguments, *tokenizer, rules, text)) return *code;
    if (arguments.flag("json") || arguments.flag("pieces")) {
      std::vector<text::Piece> pieces;
      tokenizer->encode_pieces(text, rules, pieces, counts);
      if (arguments.flag("json")) {
        print_json_of(*tokenizer, pieces);
      } else {
        print_pieces(*tokenizer, pieces);
      }
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
       .value = "OTHER",
       .type = ValueType::file,
       .help = "compare with another tokenizer: the first line that the two encode differently"},
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
