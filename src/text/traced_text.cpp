#include "text/traced_text.h"

#include <fmt/format.h>

#include "lexirow/error.h"
#include "text/byte_letters.h"

namespace lexirow::text {

TracedText::TracedText(std::string_view original, bool traced) : original_(original) {
  if (original.size() >= UINT32_MAX) {
    throw Error(ErrorKind::argument,
                fmt::format("{} bytes are too many for one text, expected less than 4 GiB; cut it "
                            "into files or lines first",
                            original.size()));
  }
  text_ = repair_utf8(original, replaced_);
  traced_ = traced || replaced_ > 0;
  if (!text_.empty()) pieces_.push_back({0, text_.size()});
  if (!traced_) return;
  origins_.reserve(text_.size());
  for (std::size_t at = 0; at < original.size();) {
    const Utf8Step step = utf8_step(original, at);
    const Origin origin = {static_cast<std::uint32_t>(at),
                           static_cast<std::uint32_t>(at + step.length)};
    const std::size_t length = step.bad ? 3 : step.length;  // of U+FFFD
    origins_.insert(origins_.end(), length, origin);
    at += step.length;
  }
}

TracedText::Origin TracedText::origin(std::size_t begin, std::size_t end) const {
  if (begin >= end) {
    if (origins_.empty()) return {};
    const std::uint32_t at = begin < origins_.size() ? origins_[begin].begin : origins_.back().end;
    return {at, at};
  }
  return {origins_[begin].begin, origins_[end - 1].end};
}

TracedText TracedText::slice(const ByteRange& range) const {
  TracedText part;
  part.original_ = original_;
  part.text_ = text_.substr(range.begin, range.end - range.begin);
  part.traced_ = traced_;
  part.replaced_ = replaced_;
  part.first = first;
  part.begins = begins || range.begin > 0;
  if (traced_) {
    const auto from = origins_.begin();
    part.origins_.assign(from + static_cast<std::ptrdiff_t>(range.begin),
                         from + static_cast<std::ptrdiff_t>(range.end));
  }
  if (!part.text_.empty()) part.pieces_.push_back({0, part.text_.size()});
  return part;
}

bool TracedText::stands_for_bad(std::size_t at) const {
  if (replaced_ == 0 || at + 3 > text_.size() || text_.compare(at, 3, "\xEF\xBF\xBD") != 0) {
    return false;
  }
  const Origin& origin = origins_[at];
  return utf8_step(original_, origin.begin).bad;
}

void TracedText::restore_bytes() {
  if (replaced_ == 0) return;
  rewrite([](std::string_view, Rewriter& rewriter) {
    while (!rewriter.done()) rewriter.keep_original_bytes();
  });
}

void TracedText::Rewriter::keep_original_bytes() {
  if (!from_.stands_for_bad(at_)) {
    keep();
    return;
  }
  const Origin origin = from_.origins_[at_];
  for (std::uint32_t byte = origin.begin; byte < origin.end; ++byte) {
    to_.text_.push_back(from_.original_[byte]);
    to_.origins_.push_back({byte, byte + 1});
  }
  at_ += 3;
}

void TracedText::Rewriter::spell_bytes() {
  if (from_.stands_for_bad(at_)) {
    const Origin origin = from_.origins_[at_];
    for (std::uint32_t byte = origin.begin; byte < origin.end; ++byte) {
      put(byte_letter(static_cast<unsigned char>(from_.original_[byte])), {byte, byte + 1});
    }
    at_ += 3;
    return;
  }
  const std::size_t length = peek().length;
  const Origin origin = origin_at(at_);
  for (std::size_t i = 0; i < length; ++i) {
    put(byte_letter(static_cast<unsigned char>(from_.text_[at_ + i])), origin);
  }
  at_ += length;
}

TracedText::Origin TracedText::Rewriter::origin_before(std::size_t at) const {
  if (!from_.traced_ || from_.origins_.empty()) return {};
  if (at > piece_.begin) return from_.origins_[at - 1];
  const std::uint32_t begin = origin_at(piece_.begin).begin;
  return {begin, begin};
}

void TracedText::Rewriter::put(char32_t code, Origin origin) {
  const std::size_t before = to_.text_.size();
  append_utf8(to_.text_, code);
  if (to_.traced_) to_.origins_.resize(to_.origins_.size() + to_.text_.size() - before, origin);
}

void TracedText::Rewriter::keep_bytes(std::size_t count) {
  to_.text_.append(from_.text_, at_, count);
  if (to_.traced_) {
    const auto first = from_.origins_.begin() + static_cast<std::ptrdiff_t>(at_);
    to_.origins_.insert(to_.origins_.end(), first, first + static_cast<std::ptrdiff_t>(count));
  }
  at_ += count;
}

}  // namespace lexirow::text
