#include "cli/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.h"
#include "lexirow/error.h"
#include "store/tokenizer_file.h"

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

std::vector<Id> encode_for_model(const text::Tokenizer& tokenizer, const std::string& text,
                                 const std::string& what) {
  std::vector<Id> ids;
  for (const text::Piece& piece : pieces_for_model(tokenizer, text, what)) ids.push_back(piece.id);
  return ids;
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
