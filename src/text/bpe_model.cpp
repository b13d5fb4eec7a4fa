#include "text/bpe_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lexirow/error.h"
#include "text/bpe_merging.h"
#include "text/byte_letters.h"
#include "text/decoder.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::argument, what);
}

nlohmann::ordered_json optional_json(const std::optional<std::string>& text) {
  return text ? nlohmann::ordered_json(*text) : nlohmann::ordered_json(nullptr);
}

}  // namespace

/// As Hugging Face: unknown symbols wait until a known one follows, so that a run can be one token.
struct BpeModel::UnknownRun {
  void add(std::uint32_t length, std::vector<ModelToken>& tokens, EncodeCounts& counts) {
    if (unk == kNoId) {
      ++counts.left_out;
      return;
    }
    if (!fuse) flush(tokens, counts);
    waiting += length;
  }
  void flush(std::vector<ModelToken>& tokens, EncodeCounts& counts) {
    if (waiting == 0) return;
    tokens.push_back({unk, waiting});
    ++counts.unknown;
    waiting = 0;
  }
  Id unk;
  bool fuse;
  std::uint32_t waiting = 0;
};

BpeModel::BpeModel(BpeParts parts) : parts_(std::move(parts)), pairs_(parts_.merges.size()) {
  const TokenIndex& tokens = parts_.tokens;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty() || !parts_.bytes || !parts_.ignore_merges) continue;
    if (auto bytes = from_byte_letters(tokens[id])) whole_.emplace(*bytes, static_cast<Id>(id));
  }
  check_merges();
  for (const BpeMerge& merge : parts_.merges) {
    pairs_.set(merge.left, merge.right, {merge.rank, merge.result});
  }
  for (int byte = 0; byte < 256; ++byte) {
    const auto letter = byte_letter(static_cast<unsigned char>(byte));
    byte_[static_cast<std::size_t>(byte)] =
        id_of(parts_.bytes ? utf8_of(letter) : fmt::format("<0x{:02X}>", byte));
  }
  for (const char* mark : {"\xE2\x96\x81", "\xC4\xA0"}) {
    if (word_mark_.empty() && begins_words(mark)) word_mark_ = mark;
  }
  if (!parts_.unk_token) return;
  unk_ = id_of(*parts_.unk_token);
  if (unk_ == kNoId) {
    refuse(fmt::format("unk_token \"{}\" is not in the vocabulary",
                       display_text(*parts_.unk_token, true)));
  }
}

void BpeModel::check_merges() const {
  const auto size = static_cast<Id>(parts_.tokens.size());
  for (std::size_t i = 0; i < parts_.merges.size(); ++i) {
    const BpeMerge& merge = parts_.merges[i];
    for (const Id id : {merge.left, merge.right, merge.result}) {
      if (id >= 0 && id < size && !parts_.tokens[static_cast<std::size_t>(id)].empty()) continue;
      refuse(fmt::format("merge {} names the id {}, but the vocabulary has no such token", i, id));
    }
  }
}

/// True when the character is a token and stands at the beginning of tokens only, alone or in a
/// run: then no symbol on its way to a token reaches over it, nor does a run of unknown symbols.
bool BpeModel::begins_words(const std::string& mark) const {
  const bool affixes =
      (parts_.prefix && !parts_.prefix->empty()) || (parts_.suffix && !parts_.suffix->empty());
  if (parts_.bytes || parts_.ignore_merges || affixes || id_of(mark) == kNoId) return false;
  return std::all_of(parts_.tokens.begin(), parts_.tokens.end(), [&](std::string_view token) {
    std::size_t begin = 0;
    while (token.compare(begin, mark.size(), mark) == 0) begin += mark.size();
    return token.find(mark, begin) == std::string_view::npos;
  });
}

Id BpeModel::whole_id(std::string_view piece) const {
  if (!parts_.bytes) return id_of(piece);
  const auto found = whole_.find(piece);
  return found == whole_.end() ? kNoId : found->second;
}

void BpeModel::encode(std::string_view piece, std::vector<ModelToken>& tokens,
                      EncodeCounts& counts) const {
  if (piece.empty()) return;
  if (parts_.ignore_merges) {
    if (const Id id = whole_id(piece); id != kNoId) {
      tokens.push_back({id, static_cast<std::uint32_t>(piece.size())});
      return;
    }
  }
  const std::size_t first = tokens.size();
  UnknownRun unknown{unk_, parts_.fuse_unk};
  if (parts_.bytes) {
    add_bytes(piece, unknown, tokens, counts);
  } else {
    add_characters(piece, unknown, tokens, counts);
  }
  unknown.flush(tokens, counts);
  merge_symbols(pairs_, tokens, first);
}

void BpeModel::add_bytes(std::string_view piece, UnknownRun& unknown,
                         std::vector<ModelToken>& tokens, EncodeCounts& counts) const {
  for (const char byte : piece) {
    const Id id = byte_[static_cast<unsigned char>(byte)];
    if (id == kNoId) {
      unknown.add(1, tokens, counts);
    } else {
      unknown.flush(tokens, counts);
      tokens.push_back({id, 1});
    }
  }
}

void BpeModel::add_characters(std::string_view piece, UnknownRun& unknown,
                              std::vector<ModelToken>& tokens, EncodeCounts& counts) const {
  std::string symbol;
  for (std::size_t at = 0; at < piece.size();) {
    const auto length = static_cast<std::uint32_t>(utf8_step(piece, at).length);
    symbol.clear();
    if (at > 0 && parts_.prefix) symbol += *parts_.prefix;
    symbol += piece.substr(at, length);
    at += length;
    if (at == piece.size() && parts_.suffix) symbol += *parts_.suffix;
    if (const Id id = id_of(symbol); id != kNoId) {
      unknown.flush(tokens, counts);
      tokens.push_back({id, length});
    } else if (!parts_.byte_fallback || !add_fallback(symbol, tokens)) {
      unknown.add(length, tokens, counts);
    }
  }
}

bool BpeModel::add_fallback(std::string_view symbol, std::vector<ModelToken>& tokens) const {
  const auto known = [this](char byte) { return byte_[static_cast<unsigned char>(byte)] != kNoId; };
  if (!std::all_of(symbol.begin(), symbol.end(), known)) return false;
  for (const char byte : symbol) tokens.push_back({byte_[static_cast<unsigned char>(byte)], 1});
  return true;
}

bool BpeModel::makes(Id id) const {
  const std::string_view whole = tokens()[static_cast<std::size_t>(id)];
  if (parts_.byte_fallback && fallback_byte(whole) >= 0) return true;
  std::string_view spelling = whole;
  const std::string prefix = parts_.prefix.value_or("");
  const std::string suffix = parts_.suffix.value_or("");
  const bool inside = !prefix.empty() && spelling.starts_with(prefix);
  if (inside) spelling.remove_prefix(prefix.size());
  const bool last = !suffix.empty() && spelling.ends_with(suffix);
  if (last) spelling.remove_suffix(suffix.size());
  std::vector<ModelToken> symbols;
  for (std::size_t at = 0; at < spelling.size();) {
    const std::size_t length = utf8_step(spelling, at).length;
    std::string symbol = inside || at > 0 ? prefix : std::string();
    symbol += spelling.substr(at, length);
    at += length;
    if (last && at == spelling.size()) symbol += suffix;
    if (const Id known = id_of(symbol); known != kNoId) {
      symbols.push_back({known, 1});
    } else if (!parts_.byte_fallback || !add_fallback(symbol, symbols)) {
      return false;
    }
  }
  merge_symbols(pairs_, symbols, 0);
  return symbols.size() == 1 && symbols[0].id == id;
}

nlohmann::ordered_json BpeModel::to_json() const {
  nlohmann::ordered_json merges = nlohmann::ordered_json::array();
  const auto spelling = [this](Id id) {
    return std::string(parts_.tokens[static_cast<std::size_t>(id)]);
  };
  // "a b" is read by every version and in half the time. A token with a blank needs ["a", "b"], and
  // one that begins as the head of a merges.txt does, which is passed over.
  const bool pairs = std::any_of(parts_.merges.begin(), parts_.merges.end(), [&](const auto& one) {
    const std::string left = spelling(one.left);
    return (left + spelling(one.right)).find(' ') != std::string::npos ||
           left.starts_with("#version");
  });
  for (const BpeMerge& merge : parts_.merges) {
    if (pairs) {
      merges.push_back({spelling(merge.left), spelling(merge.right)});
    } else {
      merges.push_back(spelling(merge.left) + ' ' + spelling(merge.right));
    }
  }
  nlohmann::ordered_json model = {{"type", "BPE"},
                                  {"dropout", nullptr},
                                  {"unk_token", optional_json(parts_.unk_token)},
                                  {"continuing_subword_prefix", optional_json(parts_.prefix)},
                                  {"end_of_word_suffix", optional_json(parts_.suffix)},
                                  {"fuse_unk", parts_.fuse_unk},
                                  {"byte_fallback", parts_.byte_fallback},
                                  {"ignore_merges", parts_.ignore_merges}};
  // Other readers, which take the order of the merges, pass over this.
  if (parts_.rank_is_result) model[kRankIsResult] = true;
  model["vocab"] = vocab_json(parts_.tokens.spellings());
  model["merges"] = std::move(merges);
  return model;
}

}  // namespace lexirow::text
