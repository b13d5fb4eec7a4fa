#include "text/bpe_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "lexirow/error.h"
#include "text/byte_letters.h"
#include "text/json_text.h"
#include "text/pipeline_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::file, where + ": " + what);
}

/// Finds the ids of the parts of merges.
class MergeReader {
 public:
  MergeReader(const TokenIndex& tokens, std::string prefix)
      : tokens_(tokens), prefix_(std::move(prefix)) {
    merges_.reserve(tokens.size());
  }

  /// `where` names the file and the line.
  template <typename Where>
  void add(std::string_view left, std::string_view right, Where&& where) {
    BpeMerge merge;
    merge.left = id_of(left, where);
    merge.right = id_of(right, where);
    const std::string_view rest = right.starts_with(prefix_) ? right.substr(prefix_.size()) : right;
    joined_.assign(left);
    joined_ += rest;
    merge.result = id_of(joined_, where);
    merge.rank = static_cast<std::int32_t>(merges_.size());
    merges_.push_back(merge);
  }
  std::vector<BpeMerge> take() { return std::move(merges_); }

 private:
  template <typename Where>
  Id id_of(std::string_view token, Where&& where) const {
    const Id id = tokens_.find(token);
    if (id != kNoId) return id;
    refuse(where(), fmt::format("{} is no token of the vocabulary; do merges and vocabulary belong "
                                "together?",
                                quoted_token(token)));
  }

  const TokenIndex& tokens_;
  std::string prefix_;
  std::string joined_;
  std::vector<BpeMerge> merges_;
};

/// The two parts of "a b". Throws Error(file).
template <typename Where>
std::pair<std::string_view, std::string_view> parts_of_line(std::string_view line, Where&& where) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank == 0 || blank + 1 == line.size() ||
      line.find(' ', blank + 1) != std::string_view::npos) {
    refuse(where(), fmt::format("found {}, expected two tokens with one blank between them",
                                quoted_token(line)));
  }
  return {line.substr(0, blank), line.substr(blank + 1)};
}

/// Tokens in brackets that no merge makes.
std::vector<AddedToken> bracketed_tokens(const BpeParts& parts) {
  std::vector<bool> made(parts.tokens.size(), false);
  for (const BpeMerge& merge : parts.merges) made[static_cast<std::size_t>(merge.result)] = true;
  std::vector<AddedToken> added;
  for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
    const std::string_view token = parts.tokens[id];
    if (made[id] || token.size() < 3) continue;
    const bool bracketed = (token.front() == '<' && token.back() == '>') ||
                           (token.front() == '[' && token.back() == ']');
    if (!bracketed) continue;
    added.push_back({.id = static_cast<Id>(id),
                     .content = std::string(token),
                     .normalized = false,
                     .special = true});
  }
  return added;
}

}  // namespace

std::vector<std::string> tokens_from_json(const json& vocab, const std::string& where) {
  if (!vocab.is_object()) refuse(where, "the vocabulary is not an object of tokens and ids");
  const std::size_t limit = id_limit(vocab.size());
  std::vector<std::string> tokens;
  for (const auto& [token, value] : vocab.items()) {
    if (!value.is_number_integer() || value < 0 || value >= limit) {
      refuse(where, fmt::format("token {} has the id {}, expected a whole number from 0 to {}",
                                quoted_token(token), shown_json(value), limit - 1));
    }
    if (token.empty()) refuse(where, fmt::format("id {} is an empty token", shown_json(value)));
    const auto id = value.get<std::size_t>();
    if (id >= tokens.size()) tokens.resize(id + 1);
    if (!tokens[id].empty()) {
      refuse(where, fmt::format("id {} stands for {} and {}", id, quoted_token(tokens[id]),
                                quoted_token(token)));
    }
    tokens[id] = token;
  }
  return tokens;
}

std::vector<BpeMerge> merges_from_lists(const ModelLists& lists, const TokenIndex& tokens,
                                        const std::string& prefix, const std::string& where) {
  MergeReader reader(tokens, prefix);
  for (const auto& [left, right] : lists.merges) {
    reader.add(left, right, [&] { return where; });
  }
  return reader.take();
}

std::vector<BpeMerge> merges_from_json(const json& merges, const TokenIndex& tokens,
                                       const std::string& prefix, const std::string& where) {
  if (!merges.is_array()) refuse(where, "not a list of merges");
  MergeReader reader(tokens, prefix);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const json& merge = merges[i];
    const auto place = [&] { return fmt::format("{}: entry {}", where, i); };
    if (merge.is_string() != merges[0].is_string()) {
      refuse(place(), fmt::format("found {} after {}: two spellings of merges in one list",
                                  shown_json(merge), shown_json(merges[0])));
    }
    if (merge.is_string()) {
      const auto& line = merge.get_ref<const std::string&>();
      const auto [left, right] = parts_of_line(line, place);
      reader.add(left, right, place);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      reader.add(merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>(),
                 place);
    } else {
      refuse(place(),
             fmt::format("found {}, expected \"a b\" or [\"a\", \"b\"]", shown_json(merge)));
    }
  }
  return reader.take();
}

std::vector<BpeMerge> merges_from_lines(std::string_view text, const TokenIndex& tokens,
                                        const std::string& where) {
  MergeReader reader(tokens, "");
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const auto place = [&] { return fmt::format("{}: line {}", where, number); };
    const auto [left, right] = parts_of_line(line, place);
    reader.add(left, right, place);
  }
  return reader.take();
}

namespace {

/// One token in this many that no merge makes is too many.
constexpr std::size_t kLostShare = 10;

/// True when only a merge can make the token: it is longer than one symbol.
bool needs_merge(const BpeParts& parts, std::string_view token) {
  if (token == parts.unk_token) return false;
  if (parts.byte_fallback && token.starts_with("<0x")) return false;
  if (parts.prefix && token.starts_with(*parts.prefix)) token.remove_prefix(parts.prefix->size());
  if (parts.suffix && token.ends_with(*parts.suffix)) token.remove_suffix(parts.suffix->size());
  return !token.empty() && utf8_step(token, 0).length != token.size();
}

}  // namespace

std::string require_merges(const BpeParts& parts, const std::vector<AddedToken>& added,
                           const std::string& where) {
  const StringList& tokens = parts.tokens.spellings();
  std::vector<bool> made(tokens.size());
  for (const BpeMerge& merge : parts.merges) {
    if (merge.result >= 0 && merge.result < static_cast<Id>(made.size())) {
      made[static_cast<std::size_t>(merge.result)] = true;
    }
  }
  for (const AddedToken& one : added) {
    if (one.id >= 0 && one.id < static_cast<Id>(made.size())) {
      made[static_cast<std::size_t>(one.id)] = true;
    }
  }
  std::size_t lost = 0;
  std::size_t first = 0;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (made[id] || !needs_merge(parts, tokens[id])) continue;
    if (lost++ == 0) first = id;
  }
  if (lost == 0) return "";
  const std::string which = fmt::format("{} (id {})", quoted_token(tokens[first]), first);
  if (parts.merges.empty()) {
    refuse(where, fmt::format("there are no merges, but the vocabulary holds {}, which only "
                              "merges can make; the merges were lost",
                              which));
  }
  // A few that nothing makes are usual; many are those of merges that are not there any more.
  if (!parts.ignore_merges && lost * kLostShare > tokens.size()) {
    refuse(where, fmt::format("no merge makes {} of the {} tokens, such as {}; the merges were cut "
                              "short or are those of another vocabulary",
                              lost, tokens.size(), which));
  }
  return fmt::format("no merge makes {} of the {} tokens, such as {}, which no text will give",
                     lost, tokens.size(), which);
}

std::unique_ptr<Tokenizer> make_byte_level_bpe(BpeParts parts, std::vector<AddedToken> added,
                                               const std::string& pattern,
                                               std::vector<std::string> notes) {
  parts.bytes = true;
  PipelineParts pipeline;
  pipeline.roles = roles_by_name(added, kNoId);
  pipeline.frame = frame_json(added);
  json pre_tokenizer = byte_level(true, pattern == kGpt2Pattern);
  if (pattern != kGpt2Pattern) {
    const json split = {{"type", "Split"},
                        {"pattern", {{"Regex", pattern}}},
                        {"behavior", "Isolated"},
                        {"invert", false}};
    pre_tokenizer = {{"type", "Sequence"}, {"pretokenizers", {split, pre_tokenizer}}};
  }
  // Keys in the order that parts of a file have which was read, so that saving is stable.
  pipeline.frame["pre_tokenizer"] = pre_tokenizer;
  pipeline.frame["decoder"] = json(byte_level(true, true));
  pipeline.pre_tokenizer =
      pre_tokenizer_of_json(pre_tokenizer, "pre_tokenizer", {.letters = false});
  pipeline.bytes = true;
  pipeline.byte_level_decoder = true;
  pipeline.notes = std::move(notes);
  pipeline.model = std::make_unique<const BpeModel>(std::move(parts));
  pipeline.added = std::move(added);
  return std::make_unique<PipelineTokenizer>(std::move(pipeline));
}

std::unique_ptr<Tokenizer> tokenizer_from_gpt2_files(std::string_view vocab,
                                                     const std::string& vocab_name,
                                                     std::string_view merges,
                                                     const std::string& merges_name,
                                                     LiftedFile* lifted) {
  BpeParts parts;
  std::optional<LiftedFile> own;
  if (lifted == nullptr && (own = lift_json(vocab))) lifted = &*own;
  parts.tokens = lifted != nullptr && lifted->rest == nullptr
                     ? std::move(lifted->lists.tokens)
                     : tokens_from_json(parse_json(vocab, vocab_name), vocab_name);
  parts.merges = merges_from_lines(merges, parts.tokens, merges_name);
  parts.bytes = true;
  std::vector<AddedToken> added = bracketed_tokens(parts);
  // GPT-2's two files belong together to the last token; other vocabularies hold some of their own.
  std::vector<std::string> notes;
  if (const std::string lost = require_merges(parts, added, merges_name); !lost.empty()) {
    notes.push_back(fmt::format("{}: {}; is a line missing?", merges_name, lost));
  }
  return make_byte_level_bpe(std::move(parts), std::move(added), kGpt2Pattern, std::move(notes));
}

}  // namespace lexirow::text
