#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.h"

namespace lexirow::text {

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A text on its way from the original to pre-tokens: what it is by now, where each byte of it
/// comes from, and the pieces that it is cut into. Places follow the rules of Hugging Face's
/// NormalizedString, so that offsets agree.
class TracedText {
 public:
  /// Where a byte comes from: bytes of the original.
  struct Origin {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  /// One piece, the whole text. Each maximal subsequence that is not UTF-8 becomes U+FFFD, counted
  /// in `replaced`. Without `traced` origins are not kept, unless there are such subsequences.
  /// Borrows the original, which must have less than 2^32 bytes: Error(argument).
  TracedText(std::string_view original, bool traced);

  const std::string& text() const { return text_; }
  std::string_view piece(const ByteRange& range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  const std::vector<ByteRange>& pieces() const { return pieces_; }
  bool traced() const { return traced_; }
  std::int64_t replaced() const { return replaced_; }
  /// Where bytes [begin, end) of the text come from; needs traced().
  Origin origin(std::size_t begin, std::size_t end) const;

  /// True when the first piece is the beginning of a text: then what is put before texts is put.
  bool begins = true;
  /// True when the beginning of the original is that of the whole text, no added token before it.
  bool first = true;

  /// Cuts every piece: cut(piece, ranges) appends ranges inside it; empty ones are dropped.
  template <typename Cut>
  void split(Cut&& cut) {
    std::vector<ByteRange> all, inside;
    all.reserve(pieces_.size());
    for (const ByteRange& range : pieces_) {
      inside.clear();
      cut(piece(range), inside);
      for (const ByteRange& part : inside) {
        if (part.begin < part.end)
          all.push_back({range.begin + part.begin, range.begin + part.end});
      }
    }
    pieces_ = std::move(all);
  }

  class Rewriter;
  /// Writes every piece anew: write(piece, rewriter).
  template <typename Write>
  void rewrite(Write&& write);

  /// The part [begin, end) of the text as a text of its own, one piece, of the same original.
  TracedText slice(const ByteRange& range) const;

  /// Puts the bytes back for which U+FFFD stands: for a model that takes bytes.
  void restore_bytes();

 private:
  TracedText() = default;
  bool stands_for_bad(std::size_t at) const;

  std::string_view original_;
  std::string text_;
  std::vector<Origin> origins_;  // of every byte of text_, when traced_
  std::vector<ByteRange> pieces_;
  bool traced_ = false;
  std::int64_t replaced_ = 0;
};

/// Reads the characters of one piece in order and writes new ones. A character that is put in place
/// of one that was read takes over its origin; one that is added takes over that of the byte before
/// the place that reading has come to.
class TracedText::Rewriter {
 public:
  Rewriter(const TracedText& from, TracedText& to) : from_(from), to_(to) {}

  void begin(const ByteRange& piece) {
    piece_ = piece;
    at_ = piece.begin;
    start_ = to_.text_.size();
  }
  void end() {
    if (to_.text_.size() > start_) to_.pieces_.push_back({start_, to_.text_.size()});
  }

  bool done() const { return at_ >= piece_.end; }
  /// True when the next character comes from the first byte of the original.
  bool at_start() const { return origin_at(at_).begin == 0 && (from_.traced_ || at_ == 0); }
  Utf8Step peek() const { return utf8_step(from_.text_, at_); }
  /// Passes over the next character.
  void drop() { at_ += peek().length; }
  /// Copies the next character, or the rest of the piece.
  void keep() { keep_bytes(peek().length); }
  void keep_rest() { keep_bytes(piece_.end - at_); }
  /// Puts a character for the next one.
  void replace(char32_t code) {
    put(code, origin_at(at_));
    at_ += peek().length;
  }
  /// Adds a character.
  void add(char32_t code) { put(code, origin_before(at_)); }
  /// Adds one with the origin of the next.
  void add_for_next(char32_t code) { put(code, origin_at(at_)); }
  /// Puts the bytes of the original that the next character comes from, or its own.
  void keep_original_bytes();
  /// The same, each byte as its letter.
  void spell_bytes();

 private:
  Origin origin_at(std::size_t at) const {
    return from_.traced_ && at < from_.origins_.size() ? from_.origins_[at] : Origin{};
  }
  Origin origin_before(std::size_t at) const;
  void put(char32_t code, Origin origin);
  void keep_bytes(std::size_t count);

  const TracedText& from_;
  TracedText& to_;
  ByteRange piece_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
};

template <typename Write>
void TracedText::rewrite(Write&& write) {
  TracedText result;
  result.original_ = original_;
  result.traced_ = traced_;
  result.replaced_ = replaced_;
  result.begins = begins;
  result.first = first;
  result.text_.reserve(text_.size() + text_.size() / 8);
  if (traced_) result.origins_.reserve(text_.size() + text_.size() / 8);
  result.pieces_.reserve(pieces_.size());
  Rewriter rewriter(*this, result);
  for (const ByteRange& range : pieces_) {
    rewriter.begin(range);
    write(piece(range), rewriter);
    rewriter.end();
  }
  *this = std::move(result);
}

}  // namespace lexirow::text
