#include "text/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lexirow/error.h"
#include "text/byte_letters.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"
#include "text/json_text.h"
#include "text/token_model.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace lexirow::text {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(
      ErrorKind::file,
      fmt::format("{}: {}; expected a char, byte or word tokenizer.json as lexirow writes it",
                  where, what));
}

const json& part_of(const json& object, const char* key, const std::string& where) {
  static const json absent;
  if (!object.is_object())
    refuse(where, fmt::format("found {} where an object should be", shown_json(object)));
  const auto found = object.find(key);
  return found == object.end() ? absent : *found;
}

bool same(const json& part, const ordered_json& expected) {
  return part == json(expected);
}

/// Which of the own kinds the pre-tokenizer says.
struct Form {
  TokenizerKind kind;
  WordSplit split;
  ordered_json decoder;
};

Form form_of(const json& root, const std::string& where) {
  const json& pre = part_of(root, "pre_tokenizer", where);
  const Form forms[] = {
      {TokenizerKind::character, WordSplit::unicode, {{"type", "Fuse"}}},
      {TokenizerKind::byte, WordSplit::unicode, byte_level(true, false)},
      {TokenizerKind::word, WordSplit::unicode, nullptr},
      {TokenizerKind::word, WordSplit::space, nullptr},
  };
  const ordered_json expected[] = {char_pre_tokenizer(), byte_pre_tokenizer(),
                                   word_pre_tokenizer(WordSplit::unicode),
                                   word_pre_tokenizer(WordSplit::space)};
  for (std::size_t i = 0; i < std::size(forms); ++i) {
    if (!same(pre, expected[i])) continue;
    const json& decoder = part_of(root, "decoder", where);
    const json type = decoder.is_null() ? json() : part_of(decoder, "type", where);
    if (type != (forms[i].decoder.is_null() ? json() : json(forms[i].decoder.at("type")))) {
      refuse(where,
             fmt::format("decoder {} does not belong to its pre_tokenizer", shown_json(decoder)));
    }
    return forms[i];
  }
  refuse(where, fmt::format("pre_tokenizer {} is not supported", shown_json(pre)));
}

/// Reads an id that must be in [0, limit).
Id id_from(const json& value, std::int64_t limit, const std::string& token,
           const std::string& where) {
  if (!value.is_number_integer() || value < 0 || value >= limit) {
    refuse(where, fmt::format("token \"{}\" has the id {}, outside 0 to {}",
                              display_text(token, true), shown_json(value), limit - 1));
  }
  return value.get<Id>();
}

/// Tokens by id, special ones too, each id once.
struct Entries {
  std::vector<std::string> tokens;
  SpecialTokens specials;
};

void put(std::vector<std::optional<std::string>>& by_id, Id id, const std::string& token,
         const std::string& where) {
  std::optional<std::string>& entry = by_id[static_cast<std::size_t>(id)];
  if (entry && *entry != token) {
    refuse(where, fmt::format("id {} stands for \"{}\" and \"{}\"", id, display_text(*entry, true),
                              display_text(token, true)));
  }
  entry = token;
}

Entries entries_of(const json& root, const std::string& where) {
  const json& vocab = part_of(part_of(root, "model", where), "vocab", where);
  const json& added = part_of(root, "added_tokens", where);
  if (!vocab.is_object()) refuse(where, "model.vocab is not an object of tokens and ids");
  if (!added.is_null() && !added.is_array()) refuse(where, "added_tokens is not a list");
  const std::int64_t limit = static_cast<std::int64_t>(vocab.size() + added.size());
  std::vector<std::optional<std::string>> by_id(static_cast<std::size_t>(limit));
  for (const auto& [token, value] : vocab.items())
    put(by_id, id_from(value, limit, token, where), token, where);

  Entries entries;
  for (const json& entry : added) {
    const json& content = part_of(entry, "content", where);
    const std::string token =
        content.is_string() ? content.get<std::string>() : shown_json(content);
    const auto* role = std::find_if(kSpecialRoles.begin(), kSpecialRoles.end(),
                                    [&](const SpecialRole& one) { return token == one.spelling; });
    if (role == kSpecialRoles.end()) {
      refuse(where,
             fmt::format("added token \"{}\" is not supported (<pad>, <unk>, <bos>, <eos> are)",
                         display_text(token, true)));
    }
    const Id id = id_from(part_of(entry, "id", where), limit, token, where);
    put(by_id, id, token, where);
    entries.specials.*role->id = id;
  }
  // Every id below the last one must be there; the special ones come last.
  while (!by_id.empty() && !by_id.back()) by_id.pop_back();
  const auto size = static_cast<std::int64_t>(by_id.size());
  const std::int64_t ordinary = size - count_specials(entries.specials);
  for (std::int64_t id = 0; id < size; ++id) {
    const std::optional<std::string>& token = by_id[static_cast<std::size_t>(id)];
    if (!token) refuse(where, fmt::format("no token has the id {}", id));
    const bool special = special_spelling(entries.specials, static_cast<Id>(id)) != nullptr;
    if (special != (id >= ordinary)) {
      refuse(where, fmt::format("id {} (\"{}\"): special tokens must follow the ordinary ones", id,
                                display_text(*token, true)));
    }
    if (!special) entries.tokens.push_back(*token);
  }
  return entries;
}

std::unique_ptr<Tokenizer> char_from(const Entries& entries, const std::string& where) {
  std::vector<char32_t> codes;
  for (const std::string& token : entries.tokens) {
    codes.push_back(single_code_point(token));
    if (codes.back() == kCodePoints) {
      refuse(where, fmt::format("token \"{}\" is not one character", display_text(token, true)));
    }
  }
  return std::make_unique<CharTokenizer>(std::move(codes), entries.specials);
}

std::unique_ptr<Tokenizer> byte_from(const Entries& entries, const std::string& where) {
  bool fits = entries.tokens.size() == static_cast<std::size_t>(ByteTokenizer::kBytes);
  for (std::size_t byte = 0; fits && byte < entries.tokens.size(); ++byte) {
    fits = single_code_point(entries.tokens[byte]) == byte_letter(static_cast<unsigned char>(byte));
  }
  if (!fits) refuse(where, "the vocabulary is not that of the 256 bytes in order");
  return std::make_unique<ByteTokenizer>(entries.specials);
}

std::unique_ptr<Tokenizer> word_from(Entries entries, WordSplit split, const std::string& where) {
  if (entries.specials.unk == kNoId)
    refuse(where, "a word tokenizer needs <unk> among added_tokens");
  return std::make_unique<WordTokenizer>(std::move(entries.tokens), split, entries.specials);
}

}  // namespace

ordered_json char_pre_tokenizer() {
  return {{"type", "Split"},
          {"pattern", {{"Regex", "[\\s\\S]"}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

ordered_json byte_level(bool trim_offsets, bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", trim_offsets},
          {"use_regex", use_regex}};
}

ordered_json byte_pre_tokenizer() {
  return {{"type", "Sequence"},
          {"pretokenizers", ordered_json::array({byte_level(false, false), char_pre_tokenizer()})}};
}

ordered_json word_pre_tokenizer(WordSplit split) {
  return {{"type", split == WordSplit::unicode ? "BertPreTokenizer" : "WhitespaceSplit"}};
}

ordered_json tokenizer_json(const ordered_json& pre_tokenizer, const ordered_json& decoder,
                            const std::vector<std::string>& tokens, const SpecialTokens& specials) {
  std::vector<AddedToken> added;
  std::vector<std::string> all = tokens;
  for (const SpecialRole& role : kSpecialRoles) {
    const Id id = specials.*role.id;
    if (id == kNoId) continue;
    all.push_back(role.spelling);
    added.push_back({.id = id, .content = role.spelling, .normalized = false, .special = true});
  }
  ordered_json root = frame_json(added);
  root["pre_tokenizer"] = pre_tokenizer;
  root["decoder"] = decoder;
  // The format wants an unk_token even where the vocabulary has none.
  root["model"] = {{"type", "WordLevel"}, {"vocab", vocab_json(all)}, {"unk_token", "<unk>"}};
  return root;
}

ordered_json frame_json(const std::vector<AddedToken>& added) {
  ordered_json list = ordered_json::array();
  for (const AddedToken& token : added) {
    list.push_back({{"id", token.id},
                    {"content", token.content},
                    {"single_word", token.single_word},
                    {"lstrip", token.lstrip},
                    {"rstrip", token.rstrip},
                    {"normalized", token.normalized},
                    {"special", token.special}});
  }
  return {{"version", "1.0"},          {"truncation", nullptr}, {"padding", nullptr},
          {"added_tokens", list},      {"normalizer", nullptr}, {"pre_tokenizer", nullptr},
          {"post_processor", nullptr}, {"decoder", nullptr},    {"model", nullptr}};
}

std::unique_ptr<Tokenizer> tokenizer_from_json(const json& root, const std::string& where) {
  if (!root.is_object())
    refuse(where, fmt::format("found {} where an object should be", shown_json(root)));
  const json& type = part_of(part_of(root, "model", where), "type", where);
  if (type != "WordLevel")
    refuse(where, fmt::format("model type {} is not supported", shown_json(type)));
  for (const char* key : {"truncation", "padding", "normalizer", "post_processor"}) {
    const json& part = part_of(root, key, where);
    if (!part.is_null())
      refuse(where, fmt::format("{} {} is not supported", key, shown_json(part)));
  }
  const Form form = form_of(root, where);
  Entries entries = entries_of(root, where);
  switch (form.kind) {
    case TokenizerKind::character:
      return char_from(entries, where);
    case TokenizerKind::byte:
      return byte_from(entries, where);
    default:
      break;
  }
  return word_from(std::move(entries), form.split, where);
}

}  // namespace lexirow::text
