#include "text/tokenizer_json.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "lexirow/error.h"
#include "text/byte_letters.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"
#include "text/file_stamp.h"
#include "text/pipeline_json.h"
#include "text/token_model.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace lexirow::text {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Which of the own kinds the pre-tokenizer says.
struct Form {
  TokenizerKind kind;
  WordSplit split;
};

std::optional<Form> form_of(const json& pre, const json& decoder) {
  const json no_decoder;
  if (pre == json(char_pre_tokenizer()) && decoder == json({{"type", "Fuse"}})) {
    return Form{TokenizerKind::character, WordSplit::unicode};
  }
  if (pre == json(byte_pre_tokenizer()) && decoder == json(byte_level(true, false))) {
    return Form{TokenizerKind::byte, WordSplit::unicode};
  }
  for (const WordSplit split : {WordSplit::unicode, WordSplit::space}) {
    if (pre == json(word_pre_tokenizer(split)) && decoder == no_decoder) {
      return Form{TokenizerKind::word, split};
    }
  }
  return std::nullopt;
}

/// Tokens by id, special ones behind them.
struct Entries {
  std::vector<std::string> tokens;
  SpecialTokens specials;
};

/// The entries when special tokens have the four own spellings and stand last.
///   vocab  by id; ids without a token are empty
std::optional<Entries> entries_of(const TokenIndex& vocab, const json& added) {
  Entries entries;
  std::map<std::string, Id, std::less<>> specials;
  for (const json& one : added) {
    const json content = one.is_object() ? one.value("content", json()) : json();
    const json id = one.is_object() ? one.value("id", json()) : json();
    const auto* role =
        std::find_if(kSpecialRoles.begin(), kSpecialRoles.end(),
                     [&](const SpecialRole& known) { return content == known.spelling; });
    if (role == kSpecialRoles.end() || !id.is_number_integer() || id < 0 || id > INT32_MAX) {
      return std::nullopt;
    }
    entries.specials.*role->id = id.get<Id>();
    specials[role->spelling] = id.get<Id>();
  }
  // The special ids follow, each once.
  std::set<Id> ids;
  auto ordinary = static_cast<Id>(vocab.distinct());
  for (const auto& [spelling, id] : specials) {
    ids.insert(id);
    const Id stated = vocab.find(spelling);
    if (stated != kNoId && stated != id) return std::nullopt;
    if (stated != kNoId) --ordinary;
  }
  const auto count = static_cast<Id>(ids.size());
  if (ids.size() != specials.size()) return std::nullopt;
  if (count > 0 && (*ids.begin() != ordinary || *ids.rbegin() != ordinary + count - 1)) {
    return std::nullopt;
  }
  // All others stand before them, without a hole.
  if (vocab.size() < static_cast<std::size_t>(ordinary)) return std::nullopt;
  for (std::size_t id = 0; id < static_cast<std::size_t>(ordinary); ++id) {
    entries.tokens.emplace_back(vocab[id]);
  }
  for (const std::string& token : entries.tokens) {
    if (token.empty() || specials.contains(token)) return std::nullopt;
  }
  return entries;
}

/// The vocabulary of a model as JSON; nothing where anything in it is odd.
std::optional<TokenIndex> vocabulary_of(const json& model) {
  json copy = {{"vocab", model.value("vocab", json())}};
  ModelLists lists = lift_lists(copy);
  if (copy.contains("vocab")) return std::nullopt;
  return std::move(lists.tokens);
}

std::unique_ptr<Tokenizer> char_from(const Entries& entries) {
  std::vector<char32_t> codes;
  for (const std::string& token : entries.tokens) {
    codes.push_back(single_code_point(token));
    if (codes.back() == kCodePoints) return nullptr;
  }
  return std::make_unique<CharTokenizer>(std::move(codes), entries.specials);
}

std::unique_ptr<Tokenizer> byte_from(const Entries& entries) {
  if (entries.tokens.size() != static_cast<std::size_t>(ByteTokenizer::kBytes)) return nullptr;
  for (std::size_t byte = 0; byte < entries.tokens.size(); ++byte) {
    const char32_t letter = single_code_point(entries.tokens[byte]);
    if (letter != byte_letter(static_cast<unsigned char>(byte))) return nullptr;
  }
  return std::make_unique<ByteTokenizer>(entries.specials);
}

std::unique_ptr<Tokenizer> word_from(Entries entries, WordSplit split) {
  if (entries.specials.unk == kNoId) return nullptr;
  return std::make_unique<WordTokenizer>(std::move(entries.tokens), split, entries.specials);
}

/// The tokenizer when the file has exactly the form in which one of the own kinds is written, else
/// null.
///   lists  of the model; null: they stand in `root`
std::unique_ptr<Tokenizer> own_tokenizer(const json& root, const ModelLists* lists) {
  for (const char* key : {"model", "pre_tokenizer", "decoder", "added_tokens", "normalizer",
                          "post_processor", "truncation", "padding"}) {
    if (!root.contains(key)) return nullptr;
  }
  for (const char* key : {"normalizer", "post_processor", "truncation", "padding"}) {
    if (!root[key].is_null()) return nullptr;
  }
  const json& model = root["model"];
  if (!model.is_object() || model.value("type", json()) != "WordLevel" ||
      model.value("unk_token", json()) != "<unk>") {
    return nullptr;
  }
  const std::optional<Form> form = form_of(root["pre_tokenizer"], root["decoder"]);
  if (!form || !root["added_tokens"].is_array()) return nullptr;
  std::optional<TokenIndex> lifted;
  if (lists == nullptr && !(lifted = vocabulary_of(model))) return nullptr;
  const TokenIndex& vocab = lists == nullptr ? *lifted : lists->tokens;
  std::optional<Entries> entries = entries_of(vocab, root["added_tokens"]);
  if (!entries) return nullptr;
  if (form->kind == TokenizerKind::character) return char_from(*entries);
  if (form->kind == TokenizerKind::byte) return byte_from(*entries);
  return word_from(std::move(*entries), form->split);
}

std::unique_ptr<Tokenizer> any_tokenizer(const json& root, ModelLists* lists,
                                         const std::string& where) {
  std::unique_ptr<Tokenizer> own = root.is_object() ? own_tokenizer(root, lists) : nullptr;
  return own != nullptr ? std::move(own) : pipeline_from_json(root, lists, where);
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
  root["model"] = {
      {"type", "WordLevel"}, {"vocab", vocab_json(StringList(all))}, {"unk_token", "<unk>"}};
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
  const FileStamp stamp(root, nullptr);
  std::unique_ptr<Tokenizer> tokenizer = any_tokenizer(root, nullptr, where);
  stamp.check(*tokenizer, where);
  return tokenizer;
}

std::unique_ptr<Tokenizer> tokenizer_from_lifted(LiftedFile file, const std::string& where) {
  if (file.rest == nullptr) return nullptr;
  const FileStamp stamp(*file.rest, &file.lists);
  if (!stamp.is_quick()) return nullptr;
  try {
    std::unique_ptr<Tokenizer> tokenizer = any_tokenizer(*file.rest, &file.lists, where);
    stamp.check(*tokenizer, where);
    return tokenizer;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace lexirow::text
