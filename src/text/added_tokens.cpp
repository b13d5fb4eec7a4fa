#include "text/added_tokens.h"

#include <algorithm>
#include <cstring>

namespace lexirow::text {

std::size_t SpellingTrie::child(std::size_t node, char byte) const {
  for (const auto& [label, target] : nodes_[node].children) {
    if (label == byte) return target;
  }
  return kNone;
}

void SpellingTrie::add(std::string_view spelling, std::size_t value) {
  if (spelling.empty()) return;
  std::size_t node = 0;
  for (const char byte : spelling) {
    std::size_t next = child(node, byte);
    if (next == kNone) {
      next = nodes_.size();
      nodes_.emplace_back();
      nodes_[node].children.emplace_back(byte, next);
    }
    node = next;
  }
  if (nodes_[node].value == kNone) nodes_[node].value = value;
  bool& start = starts_[static_cast<unsigned char>(spelling[0])];
  if (!start) ++starts_count_;
  start = true;
  only_start_ = spelling[0];
  longest_ = std::max(longest_, spelling.size());
}

SpellingTrie::Match SpellingTrie::longest_at(std::string_view text, std::size_t at) const {
  Match match;
  std::size_t node = 0;
  for (std::size_t end = at; end < text.size(); ++end) {
    node = child(node, text[end]);
    if (node == kNone) break;
    if (nodes_[node].value != kNone) match = {end + 1 - at, nodes_[node].value};
  }
  return match;
}

std::size_t SpellingTrie::next_start(std::string_view text, std::size_t at) const {
  if (starts_count_ == 0 || at >= text.size()) return text.size();
  if (starts_count_ == 1) return std::min(text.find(only_start_, at), text.size());
  while (at < text.size() && !starts_[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

bool SpellingTrie::unfinished_at(std::string_view text, std::size_t at) const {
  std::size_t node = 0;
  for (; at < text.size(); ++at) {
    node = child(node, text[at]);
    if (node == kNone) return false;
  }
  return !nodes_[node].children.empty();
}

std::int64_t count_matches(const SpellingTrie& spellings, std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = spellings.next_start(text, 0); at < text.size();) {
    const SpellingTrie::Match match = spellings.longest_at(text, at);
    if (match.length > 0) ++count;
    at = spellings.next_start(text, at + std::max<std::size_t>(1, match.length));
  }
  return count;
}

namespace {

Id first_named(const std::vector<AddedToken>& tokens, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const AddedToken& token : tokens) {
      if (token.special && token.content == name) return token.id;
    }
  }
  return kNoId;
}

}  // namespace

SpecialTokens roles_by_name(const std::vector<AddedToken>& tokens, Id unk) {
  SpecialTokens roles;
  roles.eos =
      first_named(tokens, {"<eos>", "<|endoftext|>", "<|end_of_text|>", "</s>", "[EOS]", "<|eos|>",
                           "<\xEF\xBD\x9C"
                           "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"});
  roles.bos = first_named(
      tokens, {"<bos>", "<|begin_of_text|>", "<|startoftext|>", "<s>", "[BOS]", "<|bos|>",
               "<\xEF\xBD\x9C"
               "begin\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"});
  roles.pad = first_named(tokens, {"<pad>", "[PAD]", "<|pad|>", "<|finetune_right_pad_id|>"});
  roles.unk = unk != kNoId ? unk : first_named(tokens, {"<unk>", "[UNK]"});
  if (roles.unk == roles.eos || roles.unk == roles.bos || roles.unk == roles.pad) roles.unk = kNoId;
  return roles;
}

}  // namespace lexirow::text
