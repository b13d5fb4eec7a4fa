#include "text/pipeline_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lexirow/error.h"
#include "text/byte_letters.h"
#include "text/character_spans.h"
#include "text/code_class.h"
#include "text/gpt2_split.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

std::int64_t place(std::size_t at) {
  return static_cast<std::int64_t>(at);
}

/// Cuts before every mark that does not follow another one.
void cut_at_marks(std::string_view piece, std::string_view mark, std::vector<ByteRange>& parts) {
  std::size_t begin = 0;
  std::size_t behind = 0;  // the mark before
  for (std::size_t at = piece.find(mark); at != std::string_view::npos;
       at = piece.find(mark, behind)) {
    if (at > behind || at == 0) {
      parts.push_back({begin, at});
      begin = at;
    }
    behind = at + mark.size();
  }
  parts.push_back({begin, piece.size()});
}

/// Blanks at the ends of a token's spelling; the letter of a blank byte counts as one.
struct Blanks {
  std::int64_t leading = 0;
  std::int64_t trailing = 0;
};

Blanks blanks_around(std::string_view spelling) {
  Blanks blanks;
  bool visible = false;
  for (std::size_t at = 0; at < spelling.size();) {
    const Utf8Step step = utf8_step(spelling, at);
    const bool blank = step.code == byte_letter(' ') || is_white_space(step.code);
    visible = visible || !blank;
    if (!visible) ++blanks.leading;
    blanks.trailing = blank ? blanks.trailing + 1 : 0;
    at += step.length;
  }
  return blanks;
}

/// The place `count` characters behind `at`, or the end of the text.
std::int64_t after(std::string_view text, std::int64_t at, std::int64_t count) {
  auto place = static_cast<std::size_t>(at);
  for (; count > 0 && place < text.size(); --count) place += utf8_step(text, place).length;
  return static_cast<std::int64_t>(place);
}

/// The place `count` characters before `at`; nothing when there are fewer.
std::optional<std::int64_t> before(std::string_view text, std::int64_t at, std::int64_t count) {
  auto place = static_cast<std::size_t>(at);
  for (; count > 0; --count) {
    if (place == 0) return std::nullopt;
    place = CharacterSpans(text).floor(place - 1);
  }
  return static_cast<std::int64_t>(place);
}

/// The spelling of an added token in a normalised text.
std::function<std::string(const std::string&)> normalized_by(const Normalizer* normalizer) {
  return [normalizer](const std::string& content) {
    TracedText text(content, false);
    if (normalizer != nullptr) normalizer->apply(text);
    return text.text();
  };
}

}  // namespace

PipelineTokenizer::PipelineTokenizer(PipelineParts parts)
    : parts_(std::move(parts)), added_(parts_.added, normalized_by(parts_.normalizer.get())) {
  std::size_t count = parts_.model->tokens().size();
  const auto normalized = normalized_by(parts_.normalizer.get());
  for (const AddedToken& token : parts_.added) {
    // As Hugging Face: what is looked for in normalised text is what such a token decodes to.
    added_spellings_.insert_or_assign(token.id,
                                      token.normalized ? normalized(token.content) : token.content);
    count = std::max(count, static_cast<std::size_t>(token.id) + 1);
  }
  std::string bytes;
  for (std::size_t id = 0; id < count; ++id) {
    const std::string_view token = spelling(id);
    const int byte = parts_.byte_fallback ? fallback_byte(token) : -1;
    bytes.clear();
    if (byte >= 0) {
      bytes = static_cast<char>(byte);
    } else if (!parts_.bytes || !append_from_byte_letters(token, bytes)) {
      bytes = token;
    }
    bytes_.push_back(bytes);
  }
  direct_ = parts_.bytes && !parts_.normalizer && parts_.pre_tokenizer &&
            parts_.pre_tokenizer->is_plain_gpt2();
  lossy_ = !keeps_every_byte();
  cut_rule_ = find_cut_rule();
}

std::string_view PipelineTokenizer::spelling(std::size_t id) const {
  const auto added = added_spellings_.find(static_cast<Id>(id));
  if (added != added_spellings_.end()) return added->second;
  const StringList& tokens = parts_.model->tokens();
  return id < tokens.size() ? tokens[id] : std::string_view();
}

bool PipelineTokenizer::keeps_every_byte() const {
  if (!parts_.bytes || parts_.normalizer || !parts_.byte_level_decoder) return false;
  if (parts_.pre_tokenizer && !parts_.pre_tokenizer->keeps_text()) return false;
  std::vector<bool> known(256, false);
  for (const std::string_view token : parts_.model->tokens()) {
    const int byte = letter_byte(single_code_point(token));
    if (byte >= 0) known[static_cast<std::size_t>(byte)] = true;
  }
  // A token that takes up white space beside it loses it.
  const bool strips = std::any_of(parts_.added.begin(), parts_.added.end(),
                                  [](const AddedToken& one) { return one.lstrip || one.rstrip; });
  return !strips && std::count(known.begin(), known.end(), true) == 256;
}

/// Takes ids only, from the cache where they are there.
class PipelineTokenizer::IdSink {
 public:
  static constexpr bool kPlaces = false;
  IdSink(const TokenModel& model, PieceCachePool& caches, std::vector<Id>& ids,
         EncodeCounts& counts)
      : model_(model), lease_(caches), cache_(*lease_), ids_(ids), counts_(counts) {}

  void add(Id id, std::size_t, std::size_t) {
    flush();
    ids_.push_back(id);
  }

  /// The pre-token [begin, end) of a text that lasts until the next flush().
  void add_piece(std::string_view text, std::size_t begin, std::size_t end) {
    const std::size_t length = end - begin;
    if (length > PieceCache::kLongest) {
      flush();
      return encode(text.substr(begin, length));
    }
    // It waits for some others: what the cache holds for it is on its way from memory meanwhile.
    Waiting& waiting = waiting_[waiting_count_++];
    waiting.key = PieceCache::key_of(text, begin, length);
    waiting.slot = cache_.slot_of(waiting.key);
    waiting.text = text.data() + begin;
    if (waiting_count_ == waiting_.size()) look_up();
  }

  /// To be called at the end of a text.
  void flush() {
    look_up();
    write_out();
  }

 private:
  struct Waiting {
    PieceCache::Key key;
    std::size_t slot;
    const char* text;
  };

  void look_up() {
    const std::size_t count = std::exchange(waiting_count_, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const Waiting& waiting = waiting_[i];
      const PieceCache::Entry* const held = cache_.find(waiting.slot, waiting.key);
      if (held == nullptr) {
        learn(waiting);
        continue;
      }
      // All that an entry has room for is copied, which costs less than to look how many there are.
      std::copy(held->ids.begin(), held->ids.end(), buffer_.begin() + buffered_);
      buffered_ += held->count();
      if (buffered_ + PieceCache::kMost > buffer_.size()) write_out();
    }
  }
  void write_out() {
    ids_.insert(ids_.end(), buffer_.begin(), buffer_.begin() + buffered_);
    buffered_ = 0;
  }
  void learn(const Waiting& waiting) {
    write_out();
    const std::size_t before = ids_.size();
    const std::int64_t unusual = counts_.unknown + counts_.left_out;
    encode({waiting.text, waiting.key.length()});
    const std::size_t count = ids_.size() - before;
    // What is counted must be met each time.
    if (count > PieceCache::kMost || unusual != counts_.unknown + counts_.left_out) return;
    PieceCache::Entry& entry = cache_.make(waiting.slot, waiting.key);
    entry.ids.fill(kNoId);
    std::copy_n(ids_.end() - static_cast<std::ptrdiff_t>(count), count, entry.ids.begin());
  }
  void encode(std::string_view piece) {
    tokens_.clear();
    model_.encode(piece, tokens_, counts_);
    for (const ModelToken& token : tokens_) ids_.push_back(token.id);
  }

  const TokenModel& model_;
  PieceCachePool::Lease lease_;
  PieceCache& cache_;
  std::vector<Id>& ids_;
  EncodeCounts& counts_;
  std::vector<ModelToken> tokens_;
  std::array<Waiting, 16> waiting_;
  std::size_t waiting_count_ = 0;
  std::array<Id, 1024> buffer_;  // found in the cache, not yet in ids_
  std::size_t buffered_ = 0;
};

/// Takes ids and where they come from.
class PipelineTokenizer::PieceSink {
 public:
  static constexpr bool kPlaces = true;
  PieceSink(const TokenModel& model, std::vector<Piece>& pieces, EncodeCounts& counts)
      : model_(model), pieces_(pieces), counts_(counts) {}

  void add(Id id, std::size_t begin, std::size_t end) {
    pieces_.push_back({id, place(begin), place(end)});
  }

  /// The pre-token [begin, end) of a text; origin(begin, end) says where its bytes come from.
  template <typename Origin>
  void add_piece(std::string_view text, std::size_t begin, std::size_t end, Origin&& origin) {
    tokens_.clear();
    model_.encode(text.substr(begin, end - begin), tokens_, counts_);
    for (const ModelToken& token : tokens_) {
      // Symbols without a token are left out, so the lengths may fall short of the piece, and a
      // token may stand for more than it took.
      const std::size_t token_end = std::min(begin + token.length, end);
      const auto [from, to] = origin(std::min(begin, end - 1), token_end);
      add(token.id, from, to);
      begin = token_end;
    }
  }

 private:
  const TokenModel& model_;
  std::vector<Piece>& pieces_;
  EncodeCounts& counts_;
  std::vector<ModelToken> tokens_;
};

template <typename Sink>
void PipelineTokenizer::encode_direct(std::string_view text, std::size_t offset, Sink& sink) const {
  if constexpr (Sink::kPlaces) {
    const CharacterSpans spans(text);
    const auto origin = [&](std::size_t begin, std::size_t end) {
      return std::pair(offset + spans.floor(begin), offset + spans.ceiling(end));
    };
    for_each_gpt2_piece(text, [&](std::size_t begin, std::size_t end) {
      sink.add_piece(text, begin, end, origin);
    });
  } else {
    for_each_gpt2_piece(
        text, [&](std::size_t begin, std::size_t end) { sink.add_piece(text, begin, end); });
    sink.flush();
  }
}

template <typename Sink>
void PipelineTokenizer::encode_traced(TracedText text, std::size_t offset, Sink& sink) const {
  if (parts_.pre_tokenizer) {
    parts_.pre_tokenizer->apply(text);
  } else if (parts_.bytes) {
    text.restore_bytes();
  }
  const std::string& mark = parts_.model->word_mark();
  if (!mark.empty())
    text.split([&](std::string_view piece, std::vector<ByteRange>& parts) {
      cut_at_marks(piece, mark, parts);
    });
  const auto origin = [&](std::size_t begin, std::size_t end) {
    const TracedText::Origin from = text.origin(begin, end);
    return std::pair(offset + from.begin, offset + from.end);
  };
  for (const ByteRange& range : text.pieces()) {
    if constexpr (Sink::kPlaces) {
      sink.add_piece(text.text(), range.begin, range.end, origin);
    } else {
      sink.add_piece(text.text(), range.begin, range.end);
    }
  }
  if constexpr (!Sink::kPlaces) sink.flush();
}

template <typename Sink>
void PipelineTokenizer::encode_stretch(std::string_view text, std::size_t offset,
                                       const EncodeRules& rules, EncodeCounts& counts,
                                       Sink& sink) const {
  const bool added = added_.any_normalized(rules.specials);
  if (direct_ && !added) return encode_direct(text, offset, sink);
  const bool origins =
      Sink::kPlaces || added || (parts_.pre_tokenizer && parts_.pre_tokenizer->needs_origins());
  TracedText traced(text, origins);
  if (!parts_.bytes) counts.replaced += traced.replaced();
  traced.first = offset == 0 && !rules.continues;
  traced.begins = offset > 0 || !rules.continues;
  if (parts_.normalizer) parts_.normalizer->apply(traced);
  if (!added) return encode_traced(std::move(traced), offset, sink);
  std::vector<AddedVocabulary::Found> found;
  added_.find(traced.text(), true, rules.specials, found);
  for (const AddedVocabulary::Found& one : found) {
    if (one.id == kNoId) {
      encode_traced(traced.slice({one.begin, one.end}), offset, sink);
    } else {
      const TracedText::Origin origin = traced.origin(one.begin, one.end);
      sink.add(one.id, offset + origin.begin, offset + origin.end);
    }
  }
}

template <typename Sink>
void PipelineTokenizer::encode_all(std::string_view text, const EncodeRules& rules,
                                   EncodeCounts& counts, Sink& sink) const {
  if (rules.strict) require_utf8(text, rules.start);
  counts.special_spellings += added_.count_plain(text, rules.specials);
  std::vector<AddedVocabulary::Found> found;
  added_.find(text, false, rules.specials, found);
  for (const AddedVocabulary::Found& one : found) {
    if (one.id == kNoId) {
      encode_stretch(text.substr(one.begin, one.end - one.begin), one.begin, rules, counts, sink);
    } else {
      sink.add(one.id, one.begin, one.end);
    }
  }
}

void PipelineTokenizer::encode_pieces(std::string_view text, const EncodeRules& rules,
                                      std::vector<Piece>& pieces, EncodeCounts& counts) const {
  const std::size_t first = pieces.size();
  PieceSink sink(*parts_.model, pieces, counts);
  encode_all(text, rules, counts, sink);
  if (parts_.trim.on) trim_places(text, rules.continues, pieces, first);
}

void PipelineTokenizer::encode_ids(std::string_view text, const EncodeRules& rules,
                                   std::vector<Id>& ids, EncodeCounts& counts) const {
  IdSink sink(*parts_.model, caches_, ids, counts);
  encode_all(text, rules, counts, sink);
}

void PipelineTokenizer::trim_places(std::string_view text, bool continues,
                                    std::vector<Piece>& pieces, std::size_t first) const {
  for (std::size_t i = first; i < pieces.size(); ++i) {
    Piece& piece = pieces[i];
    const auto id = static_cast<std::size_t>(piece.id);
    // An added token counts with the white space that it took up.
    const auto begin = static_cast<std::size_t>(piece.begin);
    const std::string_view place = text.substr(begin, static_cast<std::size_t>(piece.end) - begin);
    // An unknown piece, where the token for it is an added one too, counts by that token's
    // spelling.
    const bool unknown = piece.id == parts_.model->unk() && place.find(spelling(id)) == place.npos;
    const bool added = added_spellings_.contains(piece.id) && !unknown;
    const Blanks blanks = blanks_around(added ? place : spelling(id));
    if (blanks.leading > 0) {
      const bool at_first = !continues && (i == first || piece.begin == 0);
      const bool put = at_first && parts_.trim.prefix_space && blanks.leading == 1;
      if (!put) piece.begin = std::min(after(text, piece.begin, blanks.leading), piece.end);
    }
    if (const auto end = before(text, piece.end, blanks.trailing)) {
      piece.end = std::max(*end, piece.begin);
    }
  }
}

void PipelineTokenizer::check_id(Id id, std::size_t position) const {
  if (id >= 0 && id < vocab_size()) return;
  throw Error(ErrorKind::index,
              fmt::format("decode, position {}: id {} is outside the vocabulary of {} tokens "
                          "(ids 0 to {}); is this the tokenizer the ids were made with?",
                          position, id, vocab_size(), vocab_size() - 1));
}

std::string PipelineTokenizer::decode(std::span<const Id> ids, bool goes_on) const {
  std::string text;
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check_id(ids[i], i);
    const auto id = static_cast<std::size_t>(ids[i]);
    if (parts_.byte_level_decoder) {
      if (parts_.bytes) {
        text += bytes_[id];
      } else if (!append_from_byte_letters(spelling(id), text)) {
        text += spelling(id);
      }
    } else if (!spelling(id).empty()) {
      tokens.emplace_back(spelling(id));
    }
  }
  if (parts_.byte_level_decoder) return text;
  if (parts_.decoder) {
    parts_.decoder->apply(tokens, goes_on);
    for (const std::string& token : tokens) text += token;
    return text;
  }
  return fmt::format("{}", fmt::join(tokens, " "));
}

std::string PipelineTokenizer::token_bytes(Id id) const {
  check_id(id, 0);
  return std::string(bytes_[static_cast<std::size_t>(id)]);
}

std::optional<Id> PipelineTokenizer::find(std::string_view token) const {
  if (token.empty()) return std::nullopt;
  for (const AddedToken& added : parts_.added) {
    if (added.content == token) return added.id;
  }
  for (std::size_t id = 0; id < bytes_.size(); ++id) {
    if (bytes_[id] == token) return static_cast<Id>(id);
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, Id>> PipelineTokenizer::special_spellings() const {
  std::vector<std::pair<std::string, Id>> all;
  for (const AddedToken& token : parts_.added) {
    if (token.special) all.emplace_back(token.content, token.id);
  }
  return all;
}

/// Where texts may be cut: what the pre-tokenizer says, or where blanks become the marks at which
/// the model begins its words.
CutRule PipelineTokenizer::find_cut_rule() const {
  CutRule most = added_.cut_rule(parts_.normalizer != nullptr);
  if (parts_.normalizer) {
    most = std::min(most, parts_.normalizer->cut_rule());
    if (parts_.normalizer->replaces_blanks() && parts_.pre_tokenizer) return CutRule::depends;
  }
  const CutRule rule = parts_.pre_tokenizer ? parts_.pre_tokenizer->cut_rule() : CutRule::local;
  if (most == CutRule::depends || rule == CutRule::depends) return CutRule::depends;
  if (rule != CutRule::local || parts_.model->word_mark().empty()) return std::min(rule, most);
  TracedText probe("a b", true);
  probe.begins = probe.first = false;
  if (parts_.normalizer) parts_.normalizer->apply(probe);
  if (parts_.pre_tokenizer) parts_.pre_tokenizer->apply(probe);
  const bool marked = probe.text() == "a" + parts_.model->word_mark() + "b";
  return marked ? CutRule::blanks : CutRule::local;
}

SafeCut PipelineTokenizer::safe_cut(std::string_view text, std::size_t scanned) const {
  if (cut_rule_ < CutRule::blanks) return {0, text.size()};
  SafeCut cut = spaced_cut(text, scanned, cut_rule_ == CutRule::lines);
  if (cut.end > 0 && !added_.may_cut(text, cut.end)) cut.end = 0;
  return cut;
}

nlohmann::ordered_json PipelineTokenizer::to_json() const {
  nlohmann::ordered_json root = parts_.frame;
  root["model"] = parts_.model->to_json();
  return root;
}

}  // namespace lexirow::text
