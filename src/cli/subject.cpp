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
    say(fmt::format("{} of a special token kept as plain text",
                    counted(counts.special_spellings, "spelling")));
  }
  if (counts.left_out > 0) {
    say(fmt::format("{} without a token left out: this tokenizer has none for unknown ones",
                    counted(counts.left_out, "character")));
  }
  if (counts.unk_words > 0) {
    say(fmt::format("{} spelt <unk> read as the <unk> token", counted(counts.unk_words, "word")));
  }
}

}  // namespace lexirow::cli
