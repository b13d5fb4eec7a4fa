#include "text/gpt2_split.h"

#include <algorithm>
#include <bit>

#include "text/code_class.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

constexpr std::uint8_t kWordy = CodeClass::letter | CodeClass::number | CodeClass::space;

/// A character: which of the pattern's three classes (0: none of them), and its bytes.
struct Seen {
  std::uint8_t kind;
  std::size_t length;
};

Seen long_seen(std::string_view text, std::size_t at) {
  const Utf8Step step = long_utf8_step(text, at);
  const std::uint8_t kind = step.bad ? 0 : CodeClassTable::get().of(step.code) & kWordy;
  return {kind, step.length};
}

inline Seen seen(std::string_view text, std::size_t at,
                 const std::array<std::uint8_t, 256>& ascii) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {static_cast<std::uint8_t>(ascii[byte] & kWordy), 1};
  return long_seen(text, at);
}

/// The length of 's, 't, 're, 've, 'm, 'll or 'd at an apostrophe, or 0.
std::size_t contraction(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return 0;
  const char first = text[at + 1];
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (at + 2 >= text.size()) return 0;
  const char second = text[at + 2];
  const bool three =
      (first == 'l' && second == 'l') || ((first == 'r' || first == 'v') && second == 'e');
  return three ? 3 : 0;
}

/// The end of white space that begins at `at` with a character of `length` bytes: what something
/// follows keeps its last character out, unless it is the only one.
std::size_t space_end(std::string_view text, std::size_t at, std::size_t length,
                      const std::array<std::uint8_t, 256>& ascii) {
  std::size_t last = at;
  std::size_t end = at + length;
  while (end < text.size()) {
    const Seen next = seen(text, end, ascii);
    if (next.kind != CodeClass::space) return last > at ? last : end;
    last = end;
    end += next.length;
  }
  return end;
}

}  // namespace

const Gpt2Pieces::Kinds& Gpt2Pieces::byte_kinds() {
  static const Kinds table = [] {
    Kinds kinds{};  // kClosely from 0x80 on
    const std::array<std::uint8_t, 256>& ascii = CodeClassTable::get().ascii();
    for (std::size_t byte = 0; byte < 0x80; ++byte) {
      const int kind = ascii[byte] & kWordy;
      kinds[byte] = kind == CodeClass::space ? kSpace : static_cast<std::uint8_t>(kind + 2);
    }
    return kinds;
  }();
  return table;
}

namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101u;
constexpr std::uint64_t kTops = 0x80 * kOnes;

/// What eight bytes are, in the top bit of each; bytes that are not ASCII may be anything.
struct EightBytes {
  explicit EightBytes(std::uint64_t bytes) : bytes_(bytes & ~kTops), tops(bytes & kTops) {}

  std::uint64_t between(unsigned char first, unsigned char last, std::uint64_t bytes) const {
    return (bytes + (0x80u - first) * kOnes) & ~(bytes + (0x7Fu - last) * kOnes) & kTops;
  }
  std::uint64_t letters() const { return between('a', 'z', bytes_ | 0x20 * kOnes); }
  std::uint64_t digits() const { return between('0', '9', bytes_); }
  std::uint64_t controls() const { return between('\t', '\r', bytes_); }
  std::uint64_t equal(unsigned char byte) const { return between(byte, byte, bytes_); }

 private:
  std::uint64_t bytes_;

 public:
  std::uint64_t tops;  ///< not ASCII
};

/// The top bits of eight bytes as one byte, the first byte's lowest.
std::uint64_t gathered(std::uint64_t tops) {
  return ((tops >> 7) * 0x0102040810204080u) >> 56;
}

/// Bit i says what byte i of a block is.
struct BlockClasses {
  std::uint64_t letters = 0, digits = 0, spaces = 0, blanks = 0, quotes = 0, foreign = 0;

  explicit BlockClasses(const char* block) {
    for (unsigned at = 0; at < Gpt2Pieces::kBlock; at += 8) {
      std::uint64_t bytes = 0;
      for (unsigned i = 0; i < 8; ++i) {  // one load where the lowest byte comes first
        bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(block[at + i])) << (8 * i);
      }
      const EightBytes eight(bytes);
      const std::uint64_t blank = eight.equal(' ');
      letters |= gathered(eight.letters()) << at;
      digits |= gathered(eight.digits()) << at;
      spaces |= gathered(eight.controls() | blank) << at;
      blanks |= gathered(blank) << at;
      quotes |= gathered(eight.equal('\'')) << at;
      foreign |= gathered(eight.tops) << at;
    }
  }
};

/// The bits below `count`, which is 1 to 63.
std::uint64_t low_bits(int count) {
  return (std::uint64_t{1} << count) - 1;
}

}  // namespace

std::uint64_t Gpt2Pieces::starts_from(std::size_t at) const {
  const BlockClasses is(text_.data() + at);
  const std::uint64_t other = ~(is.letters | is.digits | is.spaces);
  const auto goes_on = [](std::uint64_t bytes) { return bytes & (bytes << 1); };
  // A blank belongs to the word or marks behind it. Of white space before something the last
  // character stands apart, and if it is a blank it begins what follows.
  const std::uint64_t visible =
      ~is.spaces & ~goes_on(is.letters) & ~goes_on(is.digits) & ~goes_on(other) & ~(is.blanks << 1);
  const std::uint64_t space = is.spaces & (~(is.spaces << 1) | ~(is.spaces >> 1));
  std::uint64_t known = low_bits(kBlock - 1);  // the last byte waits for the one behind it
  if (is.foreign != 0) known = low_bits(std::max(1, std::countr_zero(is.foreign) - 1));
  std::uint64_t starts = ((visible | space) & known) | 1;
  for (std::uint64_t quotes = is.quotes & starts; quotes != 0; quotes &= quotes - 1) {
    const int quote = std::countr_zero(quotes);
    if (quote > static_cast<int>(kBlock) - 4) return starts & low_bits(quote + 1);
    const auto length = static_cast<int>(contraction(text_, at + static_cast<std::size_t>(quote)));
    if (length == 0) continue;
    starts &= ~(low_bits(length - 1) << (quote + 1));
    starts |= std::uint64_t{1} << (quote + length);
  }
  return starts;
}

std::size_t Gpt2Pieces::end_closely(std::size_t at) const {
  const std::string_view text = text_;
  const std::array<std::uint8_t, 256>& ascii = CodeClassTable::get().ascii();
  if (text[at] == '\'') {
    if (const std::size_t length = contraction(text, at)) return at + length;
  }
  Seen first = seen(text, at, ascii);
  std::size_t end = at + first.length;
  if (first.kind == CodeClass::space) {
    if (text[at] != ' ' || end == text.size()) return space_end(text, at, first.length, ascii);
    const Seen next = seen(text, end, ascii);
    if (next.kind == CodeClass::space) return space_end(text, at, first.length, ascii);
    first = next;
    end += next.length;
  }
  while (end < text.size()) {
    const Seen next = seen(text, end, ascii);
    if (next.kind != first.kind) break;
    end += next.length;
  }
  return end;
}

namespace {

/// True when the character that ends at `end` (above 0) is no white space.
bool ends_visibly(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    --begin;
  const Utf8Step step = utf8_step(text, begin);
  return step.bad || begin + step.length != end || !is_white_space(step.code);
}

bool is_letter_at(std::string_view text, std::size_t at) {
  const Utf8Step step = utf8_step(text, at);
  return !step.bad && (CodeClassTable::get().of(step.code) & CodeClass::letter) != 0;
}

}  // namespace

SafeCut spaced_cut(std::string_view text, std::size_t scanned, bool lines) {
  // Backwards, so that a usual text is decided within a few bytes. What was looked at before is
  // looked at again as far as a cut needs to see.
  constexpr std::size_t kSeen = 8;
  const std::size_t first = scanned > kSeen ? scanned - kSeen : 0;
  for (std::size_t at = text.size(); at-- > first + 1;) {
    if (text[at] == ' ' && ends_visibly(text, at)) return {at, text.size()};
    if (lines && text[at] == '\n' && at + 1 < text.size() && ends_visibly(text, at) &&
        is_letter_at(text, at + 1)) {
      return {at + 1, text.size()};
    }
  }
  return {0, text.size()};
}

}  // namespace lexirow::text
