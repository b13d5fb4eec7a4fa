#include "cli/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.h"
#include "lexirow/error.h"
#include "store/tokenizer_file.h"
#include "train/sizes.h"

namespace lexirow::cli {
namespace {

/// Up to three distinct spellings of a text that became <unk>.
std::vector<std::string> unknown_spellings(const text::Tokenizer& tokenizer,
                                           const std::string& text,
                                           const std::vector<text::Piece>& pieces) {
  std::vector<std::string> spellings;
  for (const text::Piece& piece : pieces) {
    if (piece.id != tokenizer.specials().unk || spellings.size() == 3) continue;
    const std::string spelling = shown(text.substr(
        static_cast<std::size_t>(piece.begin), static_cast<std::size_t>(piece.end - piece.begin)));
    if (std::find(spellings.begin(), spellings.end(), spelling) == spellings.end()) {
      spellings.push_back(spelling);
    }
  }
  return spellings;
}

}  // namespace

Positional model_positional() {
  return {.name = "MODEL",
          .help = "a model folder written by `lexirow train`",
          .type = ValueType::folder};
}

Positional table_positional() {
  return {.name = kTableArgument,
          .help =
              "a model folder (Lexirow's or Hugging Face's), safetensors, npy, npz, word vectors, "
              "fastText's .bin, the projector's TSV; what a file is shows in its contents",
          .type = ValueType::file};
}

void add_table_options(std::vector<Option>& options) {
  const char* group = "Opening a table";
  options.push_back({.name = "tensor",
                     .value = "NAME",
                     .help = "the tensor that is the table, in a file of several (the embedding)",
                     .group = group});
  options.push_back({.name = "tokenizer",
                     .value = "FILE",
                     .type = ValueType::file,
                     .help =
                         "tokens of the rows: tokenizer.json or another file that holds some, or a "
                         "list of one a line",
                     .group = group});
  options.push_back({.name = "limit",
                     .value = "N",
                     .type = ValueType::integer,
                     .help = "the first N rows only",
                     .least = 1,
                     .group = group});
  options.push_back({.name = "only-words-of",
                     .value = "CORPUS",
                     .type = ValueType::file,
                     .help = "only rows whose word stands in this text; may be given several times",
                     .group = group});
  options.push_back({.name = "header",
                     .value = "WHICH",
                     .type = ValueType::choice,
                     .fallback = "auto",
                     .help = "whether word vectors begin with a line 'count dim'",
                     .choices = {"auto", "yes", "no"},
                     .group = group});
  options.push_back({.name = "lenient",
                     .type = ValueType::flag,
                     .help = "take word vectors whose number of words is not that of their header",
                     .group = group});
}

store::TableOptions table_options(const Arguments& arguments) {
  store::TableOptions options;
  options.tensor = arguments.text("tensor");
  options.tokenizer = arguments.text("tokenizer");
  if (arguments.has("limit")) options.limit = arguments.integer("limit");
  const std::vector<std::string> corpus = arguments.texts("only-words-of");
  if (!corpus.empty()) options.keep = store::words_of_corpus(corpus);
  const std::string& header = arguments.text("header");
  options.header = header == "yes"  ? files::VectorHeader::yes
                   : header == "no" ? files::VectorHeader::no
                                    : files::VectorHeader::detect;
  options.lenient = arguments.flag("lenient");
  return options;
}

void refuse_table_options(const Arguments& arguments, const std::string& reason) {
  std::vector<Option> options;
  add_table_options(options);
  for (const Option& option : options) {
    if (!arguments.has(option.name)) continue;
    throw UsageError(fmt::format("--{} {}; leave it out", option.name, reason));
  }
}

store::Table open_table_argument(const Arguments& arguments, const std::string& positional) {
  store::Table table =
      store::open_table(arguments.positional(positional), table_options(arguments));
  for (const std::string& note : table.notes) say(fmt::format("Note: {}.", note));
  return table;
}

void say_notes(const store::WrittenTable& written) {
  for (const std::string& warning : written.warnings) say(fmt::format("Warning: {}.", warning));
  for (const std::string& note : written.notes) say(fmt::format("Note: {}.", note));
}

std::shared_ptr<const text::Tokenizer> load_tokenizer(const std::string& path,
                                                      const std::string& split) {
  const store::OpenedTokenizer opened = store::open_tokenizer(path, split == "auto" ? "" : split);
  for (const std::string& note : opened.tokenizer->notes()) say("Tokenizer: " + note + ".");
  return opened.tokenizer;
}

std::shared_ptr<const text::Tokenizer> tokenizer_of_text(const text::VocabularyOptions& options,
                                                         const std::string& text) {
  text::VocabularyBuilder builder(options);
  builder.push(text);
  builder.end_file();
  text::VocabularyReport report;
  return builder.build(report);
}

std::vector<text::Piece> pieces_for_model(const text::Tokenizer& tokenizer, const std::string& text,
                                          const std::string& what) {
  std::vector<text::Piece> pieces;
  text::EncodeCounts counts;
  try {
    tokenizer.encode_pieces(text, {}, pieces, counts);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::argument) throw;
    throw Error(ErrorKind::file, fmt::format("{}: {}", what, error.what()));
  }
  if (counts.unknown > 0) {
    say(fmt::format("{} of {} tokens of the {} are not in the vocabulary and became <unk>: {}",
                    counts.unknown, pieces.size(), what,
                    fmt::join(unknown_spellings(tokenizer, text, pieces), ", ")));
    counts.unknown = 0;
  }
  say_counts(counts);
  return pieces;
}

std::vector<text::Piece> pieces_for_model(const store::ModelFolder& folder, const std::string& text,
                                          const std::string& what) {
  const text::Tokenizer& tokenizer = *folder.tokenizer;
  if (!train::stored_settings(folder).eos) return pieces_for_model(tokenizer, text, what);
  // As in training: <eos> in the place of every line end.
  std::vector<text::Piece> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const auto shift = static_cast<std::int64_t>(begin);
    for (text::Piece piece : pieces_for_model(tokenizer, text.substr(begin, end - begin), what)) {
      pieces.push_back({piece.id, piece.begin + shift, piece.end + shift});
    }
    if (end == text.size()) break;
    const auto at = static_cast<std::int64_t>(end);
    pieces.push_back({tokenizer.specials().eos, at, at + 1});
    begin = end + 1;
  }
  return pieces;
}

void say_counts(const text::EncodeCounts& counts) {
  if (counts.unknown > 0) {
    say(fmt::format("{} not in the vocabulary: read as <unk>", counted(counts.unknown, "token")));
  }
  if (counts.replaced > 0) {
    say(fmt::format("{} of invalid UTF-8 read as U+FFFD", counted(counts.replaced, "sequence")));
  }
  if (counts.special_spellings > 0) {
    say(fmt::format("{} of a special token read as ordinary text",
                    counted(counts.special_spellings, "spelling")));
  }
  if (counts.left_out > 0) {
    say(fmt::format("{} without a token left out: this tokenizer has none for unknown ones",
                    counted(counts.left_out, "character")));
  }
  if (counts.special_unknown > 0) {
    say(fmt::format("{} of a special token read as <unk>: the words are not in the vocabulary",
                    counted(counts.special_unknown, "spelling")));
  }
  if (counts.unk_words > 0) {
    say(fmt::format("{} spelt <unk> read as the <unk> token", counted(counts.unk_words, "word")));
  }
}

}  // namespace lexirow::cli
