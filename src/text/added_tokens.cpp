#include "text/added_tokens.h"

#include <algorithm>

#include "text/code_class.h"
#include "text/utf8.h"

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
  nodes_[node].value = value;
  bool& start = starts_[static_cast<unsigned char>(spelling[0])];
  if (!start) ++starts_count_;
  start = true;
  only_start_ = spelling[0];
  longest_ = std::max(longest_, spelling.size());
}

std::size_t SpellingTrie::next_start(std::string_view text, std::size_t at) const {
  if (starts_count_ == 0 || at >= text.size()) return text.size();
  if (starts_count_ == 1) return std::min(text.find(only_start_, at), text.size());
  while (at < text.size() && !starts_[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

namespace {

bool word_before(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  std::size_t begin = at - 1;
  while (begin > 0 && at - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    --begin;
  return is_word_character(utf8_step(text, begin).code);
}

bool word_at(std::string_view text, std::size_t at) {
  return at < text.size() && is_word_character(utf8_step(text, at).code);
}

/// The beginning of the white space that ends at `end`, not before `least`.
std::size_t space_begin(std::string_view text, std::size_t end, std::size_t least) {
  std::size_t begin = end;
  while (begin > least) {
    std::size_t at = begin - 1;
    while (at > least && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    const Utf8Step step = utf8_step(text, at);
    if (at + step.length != begin || !is_white_space(step.code)) break;
    begin = at;
  }
  return begin;
}

std::size_t space_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Utf8Step step = utf8_step(text, at);
    if (!is_white_space(step.code)) break;
    at += step.length;
  }
  return at;
}

}  // namespace

AddedVocabulary::AddedVocabulary(
    std::vector<AddedToken> tokens,
    const std::function<std::string(const std::string&)>& normalized_content)
    : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    if (token.normalized) {
      normalized_.add(normalized_content(token.content), i);
    } else {
      original_.add(token.content, i);
    }
  }
}

bool AddedVocabulary::is_active(std::size_t value, std::span<const Id> allowed) const {
  const AddedToken& token = tokens_[value];
  return !token.special || std::binary_search(allowed.begin(), allowed.end(), token.id);
}

void AddedVocabulary::find(std::string_view text, bool normalized, std::span<const Id> allowed,
                           std::vector<Found>& found) const {
  found.clear();
  const SpellingTrie& trie = normalized ? normalized_ : original_;
  std::size_t done = 0;
  for (std::size_t at = trie.next_start(text, 0); at < text.size();) {
    const SpellingTrie::Match match = trie.longest_at(text, at, [](std::size_t) { return true; });
    if (match.length == 0) {
      at = trie.next_start(text, at + 1);
      continue;
    }
    const AddedToken& token = tokens_[match.value];
    std::size_t begin = at;
    std::size_t end = at + match.length;
    at = trie.next_start(text, end);
    if (!is_active(match.value, allowed)) continue;
    if (token.single_word && (word_before(text, begin) || word_at(text, end))) continue;
    // As Hugging Face: the white space that the token before took up is looked through again, and
    // a token found in it keeps its place.
    if (token.lstrip) begin = std::max(space_begin(text, begin, done), done);
    if (token.rstrip) end = space_end(text, end);
    end = std::max(begin, end);
    if (done < begin) found.push_back({done, begin, kNoId});
    // One whose white space and all was taken up by the token before is none.
    if (begin < end) found.push_back({begin, end, token.id});
    done = end;
  }
  if (done < text.size()) found.push_back({done, text.size(), kNoId});
}

bool AddedVocabulary::any_normalized(std::span<const Id> allowed) const {
  if (normalized_.empty()) return false;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].normalized && is_active(i, allowed)) return true;
  }
  return false;
}

std::int64_t AddedVocabulary::count_plain(std::string_view text,
                                          std::span<const Id> allowed) const {
  std::int64_t count = 0;
  for (const SpellingTrie* trie : {&original_, &normalized_}) {
    for (std::size_t at = trie->next_start(text, 0); at < text.size();) {
      const SpellingTrie::Match match =
          trie->longest_at(text, at, [&](std::size_t value) { return !is_active(value, allowed); });
      if (match.length > 0) ++count;
      at = trie->next_start(text, at + std::max<std::size_t>(1, match.length));
    }
  }
  return count;
}

CutRule AddedVocabulary::cut_rule(bool normalizes) const {
  CutRule rule = CutRule::lines;
  for (const AddedToken& token : tokens_) {
    // Tokens of blanks alone, as GPT-NeoX has them, are what they are in any normalised text.
    const bool blank = space_end(token.content, 0) == token.content.size();
    const bool reaches =
        token.lstrip || token.rstrip || (!blank && holds_white_space(token.content));
    if (token.single_word || (normalizes && token.normalized && reaches)) return CutRule::depends;
    if (token.lstrip) rule = CutRule::blanks;
  }
  return rule;
}

bool AddedVocabulary::may_cut(std::string_view text, std::size_t at) const {
  for (const AddedToken& token : tokens_) {
    // A token that is unfinished where the text ends counts as one.
    const std::size_t longest = token.content.size();
    for (std::size_t begin = at - std::min(at, longest); begin < at; ++begin) {
      if (begin + longest >= at && token.content.starts_with(text.substr(begin, longest))) {
        return false;
      }
    }
  }
  return true;
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
  // A token that stands for unknown ones is read and trained; it cannot be one that only pads.
  if (roles.unk == roles.pad) roles.pad = kNoId;
  if (roles.unk == roles.eos || roles.unk == roles.bos) roles.unk = kNoId;
  return roles;
}

}  // namespace lexirow::text
