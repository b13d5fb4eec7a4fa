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

/// Bytes in hex, a blank between two.
std::string spaced_hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned char>(byte));
  }
  return text.empty() ? "(the end)" : text;
}

std::string ids_or_error(const text::ParitySide& side, bool places) {
  if (!side.error.empty()) return "refused: " + side.error;
  std::string text;
  for (const text::Piece& piece : side.pieces) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", piece.id);
    if (places) text += fmt::format(" ({}..{})", piece.begin, piece.end);
  }
  return text.empty() ? "no ids" : text;
}

std::string side_name(const NamedContestant& side) {
  const text::Tokenizer& tokenizer = side.contestant.tokenizer;
  const std::string kind = text::tokenizer_kind_name(tokenizer.kind());
  return fmt::format("{} ({}{})", side.name, kind == side.name ? "" : kind + ", ",
                     counted(tokenizer.vocab_size(), "token"));
}

void put_side(Json& json, const std::string& prefix, const text::ParitySide& side) {
  Json ids = Json::array();
  Json places = Json::array();
  for (const text::Piece& piece : side.pieces) {
    ids.push_back(piece.id);
    places.push_back({piece.begin, piece.end});
  }
  json[prefix + "ids"] = std::move(ids);
  json[prefix + "places"] = std::move(places);
  if (!side.error.empty()) json[prefix + "error"] = side.error;
}

Json difference_json(const text::ParityDifference& difference) {
  Json json;
  json["line"] = difference.place.line;
  json["column"] = difference.place.column;
  json["byte"] = difference.place.byte;
  put_token(json, "text", "bytes", difference.excerpt);
  put_side(json, "", difference.first);
  put_side(json, "other_", difference.second);
  return json;
}

void print_difference(const text::ParityDifference& difference, const NamedContestant& first,
                      const NamedContestant& second) {
  const bool places = difference.ids_equal();
  print(fmt::format("Different, first at line {}, column {} (byte {}){}:\n  {}{}{}\n",
                    difference.place.line, difference.place.column, difference.place.byte,
                    places ? ": the ids are equal, their places are not" : "",
                    difference.cut_front ? "..." : "", shown(difference.excerpt),
                    difference.cut_back ? "..." : ""));
  print(fmt::format("{}:\n  {}\n{}:\n  {}\n", side_name(first),
                    ids_or_error(difference.first, places), side_name(second),
                    ids_or_error(difference.second, places)));
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
      json["text_bytes"] = text::hex_bytes(std::string_view(loss->expected).substr(loss->before));
      json["decoded_bytes"] = text::hex_bytes(std::string_view(loss->decoded).substr(loss->before));
    }
    print_json(json);
  } else if (!loss) {
    print(fmt::format("The same: {} as {}, and back.\n", counted(bytes, "byte"),
                      counted(tokens, "token")));
  } else {
    // Both may look the same where they are shown, so their bytes stand below.
    print(fmt::format(
        "Not the same: at line {}, column {} (byte {}) the text goes on with \"{}\", what came "
        "back with \"{}\".\nfrom byte {}\n  text:      {}\n  came back: {}\n",
        loss->place.line, loss->place.column, loss->place.byte,
        shown(std::string_view(loss->expected).substr(loss->before)),
        shown(std::string_view(loss->decoded).substr(loss->before)),
        loss->place.byte - static_cast<std::int64_t>(loss->before), spaced_hex(loss->expected),
        spaced_hex(loss->decoded)));
  }
  return loss ? kFailed : kDone;
}

int compare_tokenizers(const NamedContestant& first, const NamedContestant& second,
                       const std::string& text, bool as_json) {
  const text::Contestant& one = first.contestant;
  const auto difference = text::first_difference(one, second.contestant, text);
  const auto tokens = [&] {
    return static_cast<std::int64_t>(count_tokens(one.tokenizer, one.rules, text));
  };
  if (as_json) {
    Json json = {{"parity", !difference}, {"tokenizer", first.name}, {"other", second.name}};
    if (difference) {
      json.update(difference_json(*difference));
    } else {
      json["tokens"] = tokens();
    }
    print_json(json);
  } else if (difference) {
    print_difference(*difference, first, second);
  } else {
    print(fmt::format("The same: {}, ids and places equal.\n", counted(tokens(), "token")));
  }
  return difference ? kFailed : kDone;
}

}  // namespace lexirow::cli
