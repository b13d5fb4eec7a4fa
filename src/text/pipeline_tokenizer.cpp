#include "text/pipeline_tokenizer.h"

#include <fmt/format.h>

#include "lexirow/error.h"
#include "text/byte_letters.h"
#include "text/gpt2_split.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

/// Moves ends of tokens out to those of the characters that they cut.
class CharacterSpans {
 public:
  explicit CharacterSpans(std::string_view text) : text_(text) {}

  /// The first byte of the character that holds byte `at`; places never go back by more than a
  /// character.
  std::size_t floor(std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && at - begin < 3 && is_tail(begin)) --begin;
    return begin == at || holds(begin, at) ? begin : at;
  }
  std::size_t ceiling(std::size_t end) {
    if (end == text_.size() || !is_tail(end)) return end;
    const std::size_t begin = floor(end);
    return begin == end ? end : begin + utf8_step(text_, begin).length;
  }

 private:
  bool is_tail(std::size_t at) const {
    return (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80;
  }
  bool holds(std::size_t begin, std::size_t at) const {
    const Utf8Step step = utf8_step(text_, begin);
    return !step.bad && begin + step.length > at;
  }

  std::string_view text_;
};

void check_utf8(std::string_view text, const EncodeRules& rules) {
  for (std::size_t at = 0; rules.strict && at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.bad) refuse_bytes(text, at, rules.start);
    at += step.length;
  }
}

}  // namespace

PipelineTokenizer::PipelineTokenizer(PipelineParts parts) : parts_(std::move(parts)) {
  for (const std::string& token : parts_.model->tokens()) {
    bytes_.push_back(from_byte_letters(token).value_or(token));
  }
  for (const AddedToken& token : parts_.added) {
    const auto id = static_cast<std::size_t>(token.id);
    if (id >= bytes_.size()) bytes_.resize(id + 1);
    bytes_[id] = token.content;
    if (token.special) specials_.add(token.content, id);
  }
}

void PipelineTokenizer::encode_pieces(std::string_view text, const EncodeRules& rules,
                                      std::vector<Piece>& pieces, EncodeCounts& counts) const {
  check_utf8(text, rules);
  counts.special_spellings += count_matches(specials_, text);
  std::vector<ModelToken> tokens;
  CharacterSpans spans(text);
  for_each_gpt2_piece(text, [&](std::size_t begin, std::size_t end) {
    tokens.clear();
    parts_.model->encode(text.substr(begin, end - begin), tokens, counts);
    for (const ModelToken& token : tokens) {
      const std::size_t token_end = begin + token.length;
      pieces.push_back({token.id, static_cast<std::int64_t>(spans.floor(begin)),
                        static_cast<std::int64_t>(spans.ceiling(token_end))});
      begin = token_end;
    }
  });
}

void PipelineTokenizer::encode_ids(std::string_view text, const EncodeRules& rules,
                                   std::vector<Id>& ids, EncodeCounts& counts) const {
  check_utf8(text, rules);
  counts.special_spellings += count_matches(specials_, text);
  std::vector<ModelToken> tokens;
  for_each_gpt2_piece(text, [&](std::size_t begin, std::size_t end) {
    tokens.clear();
    parts_.model->encode(text.substr(begin, end - begin), tokens, counts);
    for (const ModelToken& token : tokens) ids.push_back(token.id);
  });
}

std::string PipelineTokenizer::decode(std::span<const Id> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocab_size()) {
      throw Error(ErrorKind::index,
                  fmt::format("decode, position {}: id {} is outside the vocabulary of {} tokens "
                              "(ids 0 to {}); is this the tokenizer the ids were made with?",
                              i, ids[i], vocab_size(), vocab_size() - 1));
    }
    text += bytes_[static_cast<std::size_t>(ids[i])];
  }
  return text;
}

std::string PipelineTokenizer::token_bytes(Id id) const {
  return decode(std::span<const Id>(&id, 1));
}

std::optional<Id> PipelineTokenizer::find(std::string_view token) const {
  for (std::size_t id = 0; id < bytes_.size(); ++id) {
    if (bytes_[id] == token) return static_cast<Id>(id);
  }
  return std::nullopt;
}

SafeCut PipelineTokenizer::safe_cut(std::string_view text, std::size_t scanned) const {
  return spaced_cut(text, scanned);
}

nlohmann::ordered_json PipelineTokenizer::to_json() const {
  nlohmann::ordered_json root = parts_.frame;
  root["model"] = parts_.model->to_json();
  return root;
}

}  // namespace lexirow::text
