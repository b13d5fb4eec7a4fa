#include "text/parity.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lexirow/error.h"
#include "text/character_spans.h"
#include "text/file_stamp.h"
#include "text/json_text.h"
#include "text/traced_text.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

ParitySide outcome_of(const Contestant& one, std::string_view text) {
  ParitySide outcome;
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

/// The pieces of [begin, end), at most some on either side of piece `at`, which stays.
void keep_around(std::vector<Piece>& pieces, std::size_t at, std::int64_t begin, std::int64_t end) {
  constexpr std::size_t kMost = 16;
  std::size_t first = at;
  while (first > 0 && at - first < kMost && pieces[first - 1].end > begin) --first;
  std::size_t last = std::min(at + 1, pieces.size());
  while (last < pieces.size() && last - at < kMost && pieces[last].begin < end) ++last;
  pieces = std::vector<Piece>(pieces.begin() + static_cast<std::ptrdiff_t>(first),
                              pieces.begin() + static_cast<std::ptrdiff_t>(last));
}

/// Some bytes of the line around byte `at` of a text, in whole characters.
ByteRange around(std::string_view text, std::size_t at) {
  constexpr std::size_t kBytes = 40;
  const CharacterSpans spans(text);
  ByteRange range{at - std::min(at, kBytes), std::min(at + kBytes, text.size())};
  if (const std::size_t line = text.substr(0, at).rfind('\n'); line != std::string_view::npos) {
    range.begin = std::max(range.begin, line + 1);
  }
  range.end = std::min(range.end, std::min(text.find('\n', at), text.size() - 1) + 1);
  if (range.begin < text.size()) range.begin = spans.floor(range.begin);
  range.end = spans.ceiling(range.end);
  return range;
}

}  // namespace

bool ParityDifference::ids_equal() const {
  return first.error.empty() && second.error.empty() &&
         std::equal(first.pieces.begin(), first.pieces.end(), second.pieces.begin(),
                    second.pieces.end(),
                    [](const Piece& a, const Piece& b) { return a.id == b.id; });
}

std::optional<ParityDifference> first_difference(const Contestant& first, const Contestant& second,
                                                 std::string_view text) {
  ParityDifference difference;
  difference.first = outcome_of(first, text);
  difference.second = outcome_of(second, text);
  std::vector<Piece>& a = difference.first.pieces;
  std::vector<Piece>& b = difference.second.pieces;
  const auto [at_a, at_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same);
  const bool refused = !difference.first.error.empty() || !difference.second.error.empty();
  if (at_a == a.end() && at_b == b.end() && difference.first.error == difference.second.error) {
    return std::nullopt;
  }
  std::size_t at = text.size();
  if (at_a != a.end()) at = std::min(at, static_cast<std::size_t>(at_a->begin));
  if (at_b != b.end()) at = std::min(at, static_cast<std::size_t>(at_b->begin));
  if (refused) at = 0;
  const ByteRange range = text.empty() ? ByteRange{} : around(text, std::min(at, text.size() - 1));
  difference.place = place_in(text, at, {});
  difference.excerpt = std::string(text.substr(range.begin, range.end - range.begin));
  difference.cut_front = range.begin > 0 && text[range.begin - 1] != '\n';
  difference.cut_back = range.end < text.size() && text[range.end - 1] != '\n';
  const auto index = static_cast<std::size_t>(at_a - a.begin());  // the same in both
  const auto begin = static_cast<std::int64_t>(range.begin);
  const auto end = static_cast<std::int64_t>(range.end);
  keep_around(a, refused ? 0 : index, begin, end);
  keep_around(b, refused ? 0 : index, begin, end);
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
  constexpr std::size_t kBefore = 8;
  constexpr std::size_t kShown = 24;
  const auto at = static_cast<std::size_t>(here - text.begin());
  RoundTripDifference difference;
  difference.place = place_in(text, at, {});
  difference.before = std::min(at, kBefore);
  const std::size_t begin = at - difference.before;
  difference.expected = std::string(text.substr(begin, kShown));
  difference.decoded = decoded.substr(begin, kShown);
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

/// The ids of one side with their places, or why there are none.
std::string shown_side(const ParitySide& side) {
  if (!side.error.empty()) return side.error;
  std::string text;
  for (const Piece& piece : side.pieces) {
    text +=
        fmt::format("{}{} ({}..{})", text.empty() ? "" : ", ", piece.id, piece.begin, piece.end);
  }
  return text;
}

void prove_encoding(const Contestant& made, const Contestant& read, std::string_view text,
                    const char* what) {
  const auto found = first_difference(made, read, text);
  if (!found) return;
  throw Error(
      ErrorKind::file,
      fmt::format("read back from its file, the tokenizer encodes line {} of {} differently: "
                  "{}, expected {}; it is not saved",
                  found->place.line, what, shown_side(found->second), shown_side(found->first)));
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
