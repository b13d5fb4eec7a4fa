#include "train/start_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/wording.h"
#include "lexirow/error.h"
#include "text/byte_letters.h"

namespace lexirow::train {

StartRows::StartRows(const std::string& path, const text::Tokenizer& tokenizer, std::int64_t dim)
    : table_(store::open_table(path)), tokens_(tokenizer.vocab_size()) {
  if (table_.dim() != dim) {
    throw Error(ErrorKind::argument,
                fmt::format("--table {}: its rows have {} numbers, but --dim is {}; give --dim {}, "
                            "or another table",
                            path, table_.dim(), dim, table_.dim()));
  }
  if (!table_.has_tokens()) {
    throw Error(ErrorKind::argument,
                fmt::format("--table {}: its rows have no tokens to be found by; give a table with "
                            "words, or a folder with its tokenizer",
                            path));
  }
  find_rows(tokenizer);
  if (rows_.empty()) {
    throw Error(ErrorKind::argument,
                fmt::format("--table {}: none of the {} of the tokenizer is in it; is it made of "
                            "other units (words, characters, pieces)?",
                            path, base::counted(tokens_, "token")));
  }
  require_finite(tokenizer);
}

// Where word2vec's forms cannot hold a token, convert and --save-vectors spell it in GPT-2's
// letters for bytes: all tokens of a table in which some are no UTF-8, else those alone.
void StartRows::find_rows(const text::Tokenizer& tokenizer) {
  bool of_bytes = false;
  bool spelt = false;
  for (Id id = 0; id < tokens_; ++id) {
    const std::string token = tokenizer.token_bytes(id);
    of_bytes = of_bytes || text::display_loses(token);
    if (token.empty() || files::is_plain_word(token) || table_.find(token)) continue;
    spelt = spelt || table_.find(text::to_byte_letters(token));
  }
  for (Id id = 0; id < tokens_; ++id) {
    const std::string token = tokenizer.token_bytes(id);
    const bool letters = spelt && (of_bytes || !files::is_plain_word(token));
    const auto row = table_.find(letters ? text::to_byte_letters(token) : token);
    if (row) rows_.emplace_back(id, *row);
  }
}

// Training would only tell of a loss that is not finite, and of the learning rate.
void StartRows::require_finite(const text::Tokenizer& tokenizer) const {
  std::vector<float> values(static_cast<std::size_t>(table_.dim()));
  std::int64_t broken = 0;
  std::string first;
  for (const auto& [own, other] : rows_) {
    table_.rows->read(other, other + 1, values.data());
    if (std::all_of(values.begin(), values.end(), [](float one) { return std::isfinite(one); })) {
      continue;
    }
    if (++broken > 1) continue;
    first = fmt::format("row {} ({})", other, text::display_text(tokenizer.token_bytes(own), true));
  }
  if (broken == 0) return;
  throw Error(
      ErrorKind::file,
      fmt::format("--table {}: {} of those to start from {} a NaN or an infinity, first {}; "
                  "lexirow doctor {} --repair OUT sets them to the mean of the others",
                  table_.path, base::counted(broken, "row"), broken == 1 ? "holds" : "hold", first,
                  base::shell_word(table_.path)));
}

std::string StartRows::description(const model::ModelConfig& config) const {
  std::string text = fmt::format("table {} ({}): {} of {} start from its rows", table_.path,
                                 table_.format, matched(), base::counted(tokens_, "token"));
  if (matched() < tokens_) {
    text += fmt::format(", the other {} {} drawn", tokens_ - matched(),
                        tokens_ - matched() == 1 ? "is" : "are");
  }
  if (config.pad_id != kNoId) {
    text += config.pad_policy == model::PadPolicy::zero
                ? "; the pad row is zeros whatever the table says (--pad-row keep takes its own)"
                : "; the pad row keeps what it starts from";
  }
  return text;
}

void StartRows::apply(const model::ModelConfig& config,
                      model::Parameters<float>& parameters) const {
  float* const values = parameters.token_embedding().data();
  for (const auto& [own, other] : rows_) {
    table_.rows->read(other, other + 1, values + std::int64_t{own} * config.dim);
  }
  model::apply_pad_policy(config, parameters);
}

}  // namespace lexirow::train
