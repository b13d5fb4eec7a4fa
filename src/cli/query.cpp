#include "cli/query.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/subject.h"
#include "inspect/pooling.h"
#include "inspect/spelling.h"
#include "lexirow/error.h"
#include "text/byte_letters.h"

namespace lexirow::cli {

namespace {

/// The vector that a fastText model gives to a word without a row; nothing where it has none.
std::optional<Subject> unseen_word(const store::Table& table, const std::string& word) {
  if (table.subwords == nullptr) return std::nullopt;
  const auto parts = table.subwords->parts(word, -1);
  if (parts.empty()) return std::nullopt;
  Subject subject;
  subject.label = word;
  subject.title = fmt::format("{} (not in the vocabulary: the mean of {})", shown(word),
                              counted(static_cast<std::int64_t>(parts.size()), "n-gram"));
  subject.vector.resize(static_cast<std::size_t>(table.dim()));
  table.subwords->mean(parts, subject.vector.data());
  say(fmt::format("\"{}\" is not in the vocabulary; its vector is made of {}.", shown(word),
                  counted(static_cast<std::int64_t>(parts.size()), "n-gram")));
  return subject;
}

/// The token that is shown so, as tables or `tokenize --pieces` do, or is written so in files of
/// byte letters.
std::optional<Id> find_shown(const store::Table& table, const std::string& spelling) {
  for (std::int64_t id = 0; id < table.token_count(); ++id) {
    const std::string token = table.token(id);
    if (shown(token) == spelling || visible(token) == spelling) return static_cast<Id>(id);
  }
  if (const auto bytes = text::undisplayed(spelling)) {
    if (const auto id = table.find(*bytes)) return id;
  }
  const auto bytes = text::from_byte_letters(spelling);
  return bytes ? table.find(*bytes) : std::nullopt;
}

}  // namespace

Id find_token(const store::Table& table, const std::string& spelling) {
  if (!table.has_tokens()) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: its rows have no tokens; name a row by --id N, or give the tokens by "
                    "--tokenizer FILE",
                    table.path));
  }
  if (const auto id = table.find(spelling)) return *id;
  const auto token_of = [&](std::int64_t id) { return table.token(id); };
  if (const auto id = find_shown(table, spelling)) return *id;
  std::vector<std::string> close;
  for (const std::string& token :
       inspect::close_spellings(table.token_count(), token_of, spelling, 5)) {
    close.push_back(shown(token));
  }
  throw Error(ErrorKind::file,
              fmt::format("\"{}\" is not in the vocabulary of {}.{}{}", shown(spelling),
                          counted(table.token_count(), "token"),
                          close.empty() ? "" : " Close spellings: ", fmt::join(close, ", ")));
}

Id checked_row(const store::Table& table, std::int64_t number) {
  if (number < 0 || number >= table.row_count()) {
    throw Error(ErrorKind::index,
                fmt::format("row {} does not exist: the table has {} rows, ids 0 to {}.", number,
                            table.row_count(), table.row_count() - 1));
  }
  return static_cast<Id>(number);
}

std::string row_title(const store::Table& table, Id id) {
  if (id >= table.token_count()) return fmt::format("row {}", id);
  return fmt::format("{} (id {})", shown(table.token(id)), id);
}

Subject row_subject(const store::Table& table, Id id, const std::string& label) {
  return {label, row_title(table, id), {id}, table.row(id)};
}

Subject token_subject(const store::Table& table, const std::string& spelling) {
  const auto id = table.find(spelling);
  if (!id) {
    if (auto unseen = unseen_word(table, spelling)) return *unseen;
  }
  return row_subject(table, id ? *id : find_token(table, spelling), spelling);
}

Subject text_subject(const store::Table& table, const std::string& text) {
  inspect::PooledText pooled;
  if (table.tokenizer != nullptr) {
    std::vector<Id> ids;
    for (const text::Piece& piece : pieces_for_model(*table.tokenizer, text, "text")) {
      checked_row(table, piece.id);
      ids.push_back(piece.id);
    }
    pooled = inspect::pool_ids(table, std::move(ids));
  } else {
    pooled = inspect::pool_words(table, text);
    // A word may be spelt as tables show it; else it is refused with close spellings.
    std::vector<Id> ids = pooled.rows;
    for (const std::string& word : pooled.unknown) ids.push_back(find_token(table, word));
    if (!pooled.unknown.empty()) pooled = inspect::pool_ids(table, std::move(ids));
  }
  if (pooled.non_finite > 0) {
    say(fmt::format("Left out: {} of the text with values that are not finite.",
                    counted(pooled.non_finite, "row")));
  }
  if (pooled.parts == 0 && pooled.non_finite > 0) {
    throw Error(ErrorKind::file, fmt::format("{}: no row of the text is finite", table.path));
  }
  if (pooled.parts == 0) {
    throw UsageError("--text is empty: it has no rows to take the mean of.");
  }
  Subject subject;
  subject.label = text;
  subject.title = fmt::format("the mean of {}", counted(pooled.parts, "row"));
  const auto unseen = pooled.parts - static_cast<std::int64_t>(pooled.rows.size());
  if (unseen > 0) {
    say(fmt::format("{} not in the vocabulary, made of n-grams", counted(unseen, "word")));
  }
  subject.rows = std::move(pooled.rows);
  subject.vector = std::move(pooled.vector);
  return subject;
}

std::vector<double> parse_vector(const std::string& option, const std::string& text) {
  std::vector<double> values;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (error != std::errc() || rest != text.data() + end) {
      throw UsageError(fmt::format("--{} takes numbers between commas, such as 1,0.5, not \"{}\".",
                                   option, text));
    }
    values.push_back(value);
    begin = end + 1;
  }
  return values;
}

}  // namespace lexirow::cli
