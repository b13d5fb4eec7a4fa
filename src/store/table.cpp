#include "store/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "text/corpus.h"
#include "text/word_split.h"

namespace lexirow::store {

std::int64_t Table::token_count() const {
  if (tokenizer != nullptr) return std::min(tokenizer->vocab_size(), row_count());
  return words != nullptr ? std::min(words->tokens.size(), row_count()) : 0;
}

std::string Table::token(std::int64_t row) const {
  if (row < 0 || row >= token_count()) return "";
  if (tokenizer != nullptr) return tokenizer->token_bytes(static_cast<Id>(row));
  return std::string(words->tokens[row]);
}

std::optional<Id> Table::find(std::string_view token) const {
  std::optional<std::int64_t> found;
  if (tokenizer != nullptr) {
    found = tokenizer->find(token);
  } else if (words != nullptr) {
    found = words->index.find(token);
  }
  if (!found || *found >= row_count()) return std::nullopt;
  return static_cast<Id>(*found);
}

std::vector<float> Table::row(Id id) const {
  std::vector<float> values(static_cast<std::size_t>(dim()));
  rows->read(id, id + 1, values.data());
  return values;
}

std::function<bool(std::string_view)> words_of_corpus(const std::vector<std::string>& paths) {
  auto words = std::make_shared<std::unordered_set<std::string>>();
  text::CorpusCounts counts;
  for (const std::string& path : text::list_corpus(paths).paths) {
    const std::string whole = text::read_whole_file(path, {}, counts);
    for (const text::WordSplit split : {text::WordSplit::space, text::WordSplit::unicode}) {
      text::for_each_word(whole, split, [&](std::size_t begin, std::size_t end, bool) {
        words->insert(whole.substr(begin, end - begin));
      });
    }
  }
  return [words](std::string_view word) { return words->contains(std::string(word)); };
}

}  // namespace lexirow::store
