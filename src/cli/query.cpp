#include "cli/query.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/options.h"
#include "cli/output.h"
#include "inspect/spelling.h"
#include "lexirow/error.h"

namespace lexirow::cli {

Id find_token(const store::ModelFolder& folder, const std::string& spelling) {
  const text::Tokenizer& tokenizer = *folder.tokenizer;
  if (const auto id = tokenizer.find(spelling)) return *id;
  for (Id id = 0; id < tokenizer.vocab_size(); ++id) {
    if (shown(tokenizer.token_bytes(id)) == spelling) return id;
  }
  std::vector<std::string> close;
  for (const std::string& token : inspect::close_spellings(tokenizer, spelling, 5)) {
    close.push_back(shown(token));
  }
  throw Error(ErrorKind::file,
              fmt::format("\"{}\" is not in the vocabulary of {}.{}{}", shown(spelling),
                          counted(tokenizer.vocab_size(), "token"),
                          close.empty() ? "" : " Close spellings: ", fmt::join(close, ", ")));
}

Id checked_row(const store::ModelFolder& folder, std::int64_t number) {
  const std::int64_t rows = folder.config.vocab_size;
  if (number < 0 || number >= rows) {
    throw Error(ErrorKind::index,
                fmt::format("row {} does not exist: the table has {} rows, ids 0 to {}.", number,
                            rows, rows - 1));
  }
  return static_cast<Id>(number);
}

base::View1<const float> row_of(const store::ModelFolder& folder, Id id) {
  return folder.parameters.token_embedding()[id];
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
