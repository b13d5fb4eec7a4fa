#include "cli/tokenize_proofs.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/program.h"

namespace lexirow::cli {
namespace {

std::size_t count_tokens(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                         const std::string& text) {
  std::vector<Id> ids;
  text::EncodeCounts counts;
  tokenizer.encode(text, rules, ids, counts);
  return ids.size();
}

std::string ids_or_error(const std::vector<Id>& ids, const std::string& error) {
  return error.empty() ? fmt::format("{}", fmt::join(ids, " ")) : "refused: " + error;
}

}  // namespace

int prove_round_trip(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                     const std::string& text, bool as_json) {
  const auto loss = text::first_loss(tokenizer, rules, text);
  const auto tokens = static_cast<std::int64_t>(count_tokens(tokenizer, rules, text));
  const auto bytes = static_cast<std::int64_t>(text.size());
  if (as_json) {
    Json json = {{"roundtrip", !loss}, {"bytes", bytes}, {"tokens", tokens}};
    json["vocab_size"] = tokenizer.vocab_size();
    if (loss) {
      json["line"] = loss->place.line;
      json["column"] = loss->place.column;
      json["byte"] = loss->place.byte;
    }
    print_json(json);
  } else if (!loss) {
    print(fmt::format("The same: {} as {}, and back.\n", counted(bytes, "byte"),
                      counted(tokens, "token")));
  } else {
    print(
        fmt::format("Not the same: at line {}, column {} (byte {}) the text goes on with \"{}\", "
                    "what came back with \"{}\".\n",
                    loss->place.line, loss->place.column, loss->place.byte, shown(loss->expected),
                    shown(loss->decoded)));
  }
  return loss ? kFailed : kDone;
}

int compare_tokenizers(const text::Contestant& first, const text::Contestant& second,
                       const std::string& text, bool as_json) {
  const auto difference = text::first_difference(first, second, text);
  if (as_json) {
    Json json = {{"parity", !difference}};
    if (difference) {
      json["line"] = difference->line;
      put_token(json, "text", "bytes", difference->text);
      json["ids"] = difference->first;
      json["other_ids"] = difference->second;
      if (!difference->first_error.empty()) json["error"] = difference->first_error;
      if (!difference->second_error.empty()) json["other_error"] = difference->second_error;
    } else {
      json["tokens"] = count_tokens(first.tokenizer, first.rules, text);
    }
    print_json(json);
  } else if (!difference) {
    const auto tokens = static_cast<std::int64_t>(count_tokens(first.tokenizer, first.rules, text));
    print(fmt::format("The same: {}, ids and places equal.\n", counted(tokens, "token")));
  } else {
    print(fmt::format("Different, first in line {}: {}\nthis:  {}\nother: {}\n", difference->line,
                      shown(difference->text),
                      ids_or_error(difference->first, difference->first_error),
                      ids_or_error(difference->second, difference->second_error)));
  }
  return difference ? kFailed : kDone;
}

}  // namespace lexirow::cli
