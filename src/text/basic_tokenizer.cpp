#include "text/basic_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lexirow/error.h"

namespace lexirow::text {

void BasicTokenizer::append_token(Id id, std::size_t position, std::string& text) const {
  if (id >= 0 && id < ordinary_) {
    append_ordinary(id, text);
  } else if (const char* spelling = special_spelling(specials_, id)) {
    text += spelling;
  } else {
    throw Error(ErrorKind::index,
                fmt::format("decode, position {}: id {} is outside the vocabulary of {} tokens "
                            "(ids 0 to {}); is this the tokenizer the ids were made with?",
                            position, id, vocab_size(), vocab_size() - 1));
  }
}

std::string BasicTokenizer::decode(std::span<const Id> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) append_token(ids[i], i, text);
  return text;
}

std::string BasicTokenizer::token_bytes(Id id) const {
  std::string text;
  append_token(id, 0, text);
  return text;
}

SafeCut BasicTokenizer::cut_before_spelling(std::string_view text, SafeCut cut) const {
  cut.end = std::min(cut.end, unfinished_spelling(specials_, text));
  return cut;
}

}  // namespace lexirow::text
