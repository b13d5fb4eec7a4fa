#include "text/parity.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lexirow/error.h"
#include "text/file_stamp.h"
#include "text/json_text.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

/// Pieces of a text, or why there are none.
struct Outcome {
  std::vector<Piece> pieces;
  std::string error;
};

Outcome outcome_of(const Contestant& one, std::string_view text) {
  Outcome outcome;
  EncodeCounts counts;
  try {
    one.tokenizer.encode_pieces(text, one.rules, outcome.pieces, counts);
  } catch (const Error& error) {
    outcome.error = error.what();
    outcome.pieces.clear();
  }
  return outcome;
}

bool same(const Piece& a, const Piece& b) {
  return a.id == b.id && a.begin == b.begin && a.end == b.end;
}

std::vector<Id> ids_inside(const std::vector<Piece>& pieces, std::int64_t begin, std::int64_t end) {
  std::vector<Id> ids;
  for (const Piece& piece : pieces) {
    if (piece.begin < end && piece.end > begin) ids.push_back(piece.id);
  }
  return ids;
}

}  // namespace

std::optional<ParityDifference> first_difference(const Contestant& first, const Contestant& second,
                                                 std::string_view text) {
  const Outcome a = outcome_of(first, text);
  const Outcome b = outcome_of(second, text);
  const auto [at_a, at_b] =
      std::mismatch(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(), same);
  const bool equal = at_a == a.pieces.end() && at_b == b.pieces.end() && a.error == b.error;
  if (equal) return std::nullopt;
  std::size_t at = text.size();
  if (at_a != a.pieces.end()) at = std::min(at, static_cast<std::size_t>(at_a->begin));
  if (at_b != b.pieces.end()) at = std::min(at, static_cast<std::size_t>(at_b->begin));
  if (!a.error.empty() || !b.error.empty()) at = 0;
  at = std::min(at, text.empty() ? 0 : text.size() - 1);
  const std::size_t before = text.rfind('\n', at == 0 ? 0 : at - 1);
  const std::size_t begin = at == 0 || before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', at), text.empty() ? 0 : text.size() - 1) + 1;
  ParityDifference difference;
  difference.line = place_in(text, begin, {}).line;
  difference.text = std::string(text.substr(begin, end - begin));
  const auto first_byte = static_cast<std::int64_t>(begin);
  const auto last_byte = static_cast<std::int64_t>(end);
  difference.first = ids_inside(a.pieces, first_byte, last_byte);
  difference.second = ids_inside(b.pieces, first_byte, last_byte);
  difference.first_error = a.error;
  difference.second_error = b.error;
  return difference;
}

std::optional<RoundTripDifference> first_loss(const Tokenizer& tokenizer, const EncodeRules& rules,
                                              std::string_view text) {
  std::vector<Id> ids;
  EncodeCounts counts;
  tokenizer.encode(text, rules, ids, counts);
  const std::string decoded = tokenizer.decode(ids);
  const auto [here, there] =
      std::mismatch(text.begin(), text.end(), decoded.begin(), decoded.end());
  if (here == text.end() && there == decoded.end()) return std::nullopt;
  constexpr std::size_t kShown = 24;
  const auto at = static_cast<std::size_t>(here - text.begin());
  RoundTripDifference difference;
  difference.place = place_in(text, at, {});
  difference.expected = std::string(text.substr(at, kShown));
  difference.decoded = decoded.substr(at, kShown);
  return difference;
}

std::string torture_text() {
  std::string text;
  for (char32_t code = 0; code < 0x80; ++code) append_utf8(text, code);
  text +=
      "\nDon't can't I'll we've they're you'd I'm DON'T 'Ve '\xC5\xBF\n"
      "  leading, trailing  \t tabs\t\r\n\r\n\n\n   \n end   \n"
      "12345 6789 3.14159 1e-9 0xFF x=1;y+=2; ==== //// ```\n"
      "def f(x):\n    return x  # two\n\n\n"
      "http://example.test/a?b=c&d=%20 snake_case CamelCase ALLCAPS\n"
      "<|endoftext|> <s> </s> <unk> [UNK] <pad> <mask> <0x0A> \xE2\x96\x81 \xC4\xA0\n";
  // Composed, decomposed and ligatures; Hangul in both forms; marks out of order.
  text +=
      "caf\xC3\xA9 cafe\xCC\x81 \xC3\xBC"
      "ber \xEF\xAC\x81 \xC3\x85 \xE2\x84\xAB \xEA\xB0\x81 \xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8 "
      "q\xCC\xA3\xCC\x87 q\xCC\x87\xCC\xA3"
      " \xC4\xB0 \xCE\xA3\xCF\x82 \xC3\x9F\n";
  // Chinese, Japanese, Arabic, Hindi, Thai, Cyrillic, Greek; numbers that are no digits.
  text +=
      "\xE5\x90\x88\xE5\x90\x8C\xE8\xBF\x9D\xE7\xBA\xA6\xE3\x80\x82\xE3\x81\x93\xE3\x82\x93\xE3\x81"
      "\xAB\xE3\x81\xA1\xE3\x81\xAF "
      "\xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7 \xE0\xA4\x95\xE0\xA4\xBC \xE0\xB8\x99\xE0\xB8\xB3 "
      "\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82 \xCE\xB3\xCE\xB5\xCE\xB9\xCE\xB1 \xC2\xBD "
      "\xC2\xB2 \xE2\x85\xA7 \xD9\xA4\n";
  // Emoji with joiners; spaces of all kinds; a byte-order mark inside.
  text +=
      "\xF0\x9F\x9A\x80 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB "
      "\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7"
      "\xC2\xA0no-"
      "break\xE3\x80\x80wide\xE2\x80\x8Bzero\xE2\x80\xA8line\xC2\x85next\xE1\xA0\x8Evowel\xEF\xBB"
      "\xBFmark\n";
  text += std::string(300, 'a') + ' ' + std::string(300, '=') + std::string(200, ' ') + "x\n";
  text += "bad \xFF\xC3 \xE4\xB8 \xED\xA0\x80 \xF5\x80\x80\x80 \x80 end";
  return text;
}

namespace {

void prove_encoding(const Contestant& made, const Contestant& read, std::string_view text,
                    const char* what) {
  const auto found = first_difference(made, read, text);
  if (!found) return;
  throw Error(
      ErrorKind::file,
      fmt::format("read back from its file, the tokenizer encodes line {} of {} differently: "
                  "[{}] {}, expected [{}] {}; it is not saved",
                  found->line, what, fmt::join(found->second, " "), found->second_error,
                  fmt::join(found->first, " "), found->first_error));
}

}  // namespace

std::string proved_tokenizer_json(const Tokenizer& tokenizer) {
  const std::string json = tokenizer_file_text(tokenizer);
  const std::string name = "the tokenizer as it would be saved";
  const std::unique_ptr<Tokenizer> read = tokenizer_from_json(parse_json(json, name), name);
  std::vector<Id> ids(static_cast<std::size_t>(tokenizer.vocab_size()));
  for (std::size_t id = 0; id < ids.size(); ++id) ids[id] = static_cast<Id>(id);
  const std::string all_tokens = tokenizer.decode(ids);
  if (read->vocab_size() != tokenizer.vocab_size() || read->decode(ids) != all_tokens) {
    throw Error(
        ErrorKind::file,
        fmt::format("read back from its file, the tokenizer decodes its {} ids differently; "
                    "it is not saved",
                    tokenizer.vocab_size()));
  }
  Contestant made{tokenizer};
  Contestant again{*read};
  const bool special = !tokenizer.special_spellings().empty();
  for (int round = 0; round < (special ? 2 : 1); ++round) {
    if (round == 1) made.rules.specials = again.rules.specials = allow_specials(tokenizer, {"all"});
    prove_encoding(made, again, torture_text(), "the built-in text");
    prove_encoding(made, again, all_tokens, "the text of its own tokens");
  }
  return json;
}

}  // namespace lexirow::text
