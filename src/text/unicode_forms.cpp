#include "text/unicode_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "text/unicode_additions.h"

namespace lexirow::text {
namespace {

using Changed = std::vector<ChangedCharacter>;

bool is_compatible(UnicodeForm form) {
  return form == UnicodeForm::nfkd || form == UnicodeForm::nfkc;
}

bool composes(UnicodeForm form) {
  return form == UnicodeForm::nfc || form == UnicodeForm::nfkc;
}

std::uint8_t combining_class(char32_t code) {
  if (is_later_mark(code)) return 0;
  return static_cast<std::uint8_t>(
      utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class);
}

/// The full decomposition of a character, itself when it has none.
std::size_t decompose(UnicodeForm form, char32_t code, std::array<utf8proc_int32_t, 32>& parts) {
  if (is_later_decomposition(code)) {
    parts[0] = static_cast<utf8proc_int32_t>(code);
    return 1;
  }
  int last_class = UTF8PROC_BOUNDCLASS_START;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE |
                                                      (is_compatible(form) ? UTF8PROC_COMPAT : 0));
  const auto count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                              static_cast<utf8proc_ssize_t>(parts.size()), options, &last_class);
  return static_cast<std::size_t>(std::max<utf8proc_ssize_t>(count, 0));
}

/// The composition of two characters, 0 when there is none.
char32_t compose(char32_t first, char32_t second) {
  std::array<utf8proc_int32_t, 2> pair = {static_cast<utf8proc_int32_t>(first),
                                          static_cast<utf8proc_int32_t>(second)};
  const auto count = utf8proc_normalize_utf32(
      pair.data(), 2, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  const auto whole = static_cast<char32_t>(pair[0]);
  return count == 1 && !is_later_decomposition(whole) ? whole : 0;
}

/// Which characters stay as they are and shut off what stands before them.
class StableTable {
 public:
  explicit StableTable(UnicodeForm form) : stable_(kCodePoints, true) {
    std::array<utf8proc_int32_t, 32> parts{};
    for (char32_t code = 0xA0; code < kCodePoints; ++code) {
      const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
      const bool hangul = code >= 0xAC00 && code < 0xD7A4;
      if (property->combining_class != 0) stable_[code] = false;
      if (property->decomp_seqindex == UINT16_MAX && !hangul) continue;
      const std::size_t count = decompose(form, code, parts);
      const bool changes = count != 1 || static_cast<char32_t>(parts[0]) != code;
      // A composed character may come back as it was, so that only its parts matter.
      if (changes) stable_[code] = false;
      if (composes(form) && !hangul) mark_seconds(code);
    }
    if (!composes(form)) return;
    for (char32_t code = 0x1161; code < 0x1176; ++code) stable_[code] = false;
    for (char32_t code = 0x11A8; code < 0x11C3; ++code) stable_[code] = false;
  }
  bool of(char32_t code) const { return stable_[code]; }

 private:
  /// What can be the second part of a composition depends on what stands before it.
  void mark_seconds(char32_t code) {
    std::array<utf8proc_int32_t, 32> parts{};
    const std::size_t count = decompose(UnicodeForm::nfd, code, parts);
    for (std::size_t i = 1; i < count; ++i) stable_[static_cast<char32_t>(parts[i])] = false;
  }

  std::vector<bool> stable_;
};

const StableTable& stable_table(UnicodeForm form) {
  static const StableTable nfd(UnicodeForm::nfd);
  if (form == UnicodeForm::nfd) return nfd;
  static const StableTable nfc(UnicodeForm::nfc);
  if (form == UnicodeForm::nfc) return nfc;
  static const StableTable nfkd(UnicodeForm::nfkd);
  if (form == UnicodeForm::nfkd) return nfkd;
  static const StableTable nfkc(UnicodeForm::nfkc);
  return nfkc;
}

/// Marks in the order of their classes; a character of class 0 ends a run.
void sort_marks(Changed& characters) {
  for (std::size_t begin = 0; begin < characters.size();) {
    if (characters[begin].combining_class == 0) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < characters.size() && characters[end].combining_class != 0) ++end;
    std::stable_sort(characters.begin() + static_cast<std::ptrdiff_t>(begin),
                     characters.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const ChangedCharacter& a, const ChangedCharacter& b) {
                       return a.combining_class < b.combining_class;
                     });
    begin = end;
  }
}

/// Composes sorted characters: a starter takes up what composes with it and is not blocked.
Changed composed(const Changed& characters) {
  Changed result;
  std::size_t starter = SIZE_MAX;  // in result
  int last_class = -1;             // of what stands between the starter and here
  for (const ChangedCharacter& one : characters) {
    if (starter == SIZE_MAX) {
      if (one.combining_class == 0) starter = result.size();
      result.push_back(one);
      continue;
    }
    ChangedCharacter& first = result[starter];
    const bool blocked = last_class >= static_cast<int>(one.combining_class);
    if (const char32_t whole = blocked ? 0 : compose(first.code, one.code); whole != 0) {
      first = {whole, first.change + one.change - 1, first.combining_class};
      continue;
    }
    if (one.combining_class == 0) {
      starter = result.size();
      last_class = -1;
    } else {
      last_class = one.combining_class;
    }
    result.push_back(one);
  }
  return result;
}

void write_changed(const Changed& characters, TracedText::Rewriter& rewriter) {
  for (const ChangedCharacter& one : characters) {
    if (one.change > 0) {
      rewriter.add(one.code);
      continue;
    }
    rewriter.replace(one.code);
    for (std::int32_t dropped = one.change; dropped < 0; ++dropped) rewriter.drop();
  }
}

}  // namespace

void write_form(UnicodeForm form, std::string_view piece, TracedText::Rewriter& rewriter) {
  const StableTable& stable = stable_table(form);
  Changed characters;
  std::array<utf8proc_int32_t, 32> parts{};
  for (std::size_t at = 0; at < piece.size();) {
    // A stretch up to the next stable character changes by itself.
    std::size_t end = at;
    std::size_t count = 0;
    do {
      const Utf8Step step = utf8_step(piece, end);
      if (count > 0 && stable.of(step.code)) break;
      end += step.length;
      ++count;
    } while (end < piece.size());
    if (count == 1 && stable.of(utf8_step(piece, at).code)) {
      rewriter.keep();
      at = end;
      continue;
    }
    characters.clear();
    while (at < end) {
      const Utf8Step step = utf8_step(piece, at);
      const std::size_t size = decompose(form, step.code, parts);
      for (std::size_t i = 0; i < size; ++i) {
        const auto code = static_cast<char32_t>(parts[i]);
        characters.push_back({code, i == 0 ? 0 : 1, combining_class(code)});
      }
      at += step.length;
    }
    sort_marks(characters);
    write_changed(composes(form) ? composed(characters) : characters, rewriter);
  }
}

LowerCase lower_case(char32_t code) {
  if (code == 0x130) return {'i', 0x307};
  // Pairs of Unicode 16 and 17, where the library knows 15.
  if (code >= 0x16EA0 && code <= 0x16EB8) return {code + 0x1B, 0};
  if (code >= 0x10D50 && code <= 0x10D65) return {code + 0x20, 0};
  switch (code) {
    case 0x1C89:
    case 0xA7CC:
    case 0xA7CE:
    case 0xA7D2:
    case 0xA7D4:
    case 0xA7DA:
      return {code + 1, 0};
    case 0xA7CB:
      return {0x264, 0};
    case 0xA7DC:
      return {0x19B, 0};
    default:
      return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))), 0};
  }
}

}  // namespace lexirow::text
