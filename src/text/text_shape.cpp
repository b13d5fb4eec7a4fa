#include <fmt/format.h>
#include <utf8proc.h>

#include <cmath>
#include <unordered_map>
#include <vector>

#include "text/utf8.h"
#include "text/vocabulary.h"
#include "text/word_split.h"

namespace lexirow::text {
namespace {

constexpr double kMostly = 0.7;
constexpr std::size_t kLongestWord = 20;
constexpr std::size_t kLongestUnspaced = 6;
constexpr std::int64_t kOften = 3;  // a word learns from so many places at least
constexpr double kRepeated = 0.25;
constexpr int kVocabulary = 8;  // fewer words are none to learn from

bool is_letter(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;  // L, M and N
}

/// Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han.
bool is_unspaced(char32_t code) {
  return (code >= 0x0E00 && code <= 0x0EFF) || (code >= 0x1000 && code <= 0x109F) ||
         (code >= 0x1780 && code <= 0x17FF) || (code >= 0x3040 && code <= 0x30FF) ||
         (code >= 0x3400 && code <= 0x4DBF) || (code >= 0x4E00 && code <= 0x9FFF) ||
         (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x20000 && code <= 0x3FFFF);
}

bool joins_letters(char32_t code) {
  return code == '\'' || code == '-' || code == 0x2019 || code == 0x2010 || code == 0x200C ||
         code == 0x200D;
}

/// What a run between white space holds.
struct Run {
  std::size_t letters = 0;
  bool word = false;
  std::u32string core;  // from its first letter to its last
};

Run look_at_run(const std::u32string& run) {
  Run seen;
  bool unspaced = false;
  std::size_t first = run.size();
  std::size_t last = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (!is_letter(run[i])) continue;
    ++seen.letters;
    unspaced = unspaced || is_unspaced(run[i]);
    first = std::min(first, i);
    last = i;
  }
  if (seen.letters == 0) return seen;
  seen.core = run.substr(first, last - first + 1);
  seen.word = last - first + 1 <= (unspaced ? kLongestUnspaced : kLongestWord);
  for (std::size_t i = first; i <= last; ++i) {
    seen.word = seen.word && (is_letter(run[i]) || joins_letters(run[i]));
  }
  return seen;
}

using WordCounts = std::unordered_map<std::u32string, std::int64_t>;

/// The words that stand there three times or more, as a share of all words; 0 for a handful of
/// them.
double repeated_share(const WordCounts& words) {
  std::int64_t all = 0;
  std::int64_t repeated = 0;
  int kept = 0;
  for (const auto& [word, count] : words) {
    all += count;
    if (count < kOften) continue;
    repeated += count;
    ++kept;
  }
  return kept < kVocabulary ? 0 : static_cast<double>(repeated) / static_cast<double>(all);
}

}  // namespace

TextShape look_at(std::string_view sample) {
  std::size_t letters = 0;
  std::size_t in_words = 0;
  std::size_t runs_in_line = 0;   // that hold letters
  std::size_t words_in_line = 0;  // letters of theirs
  WordCounts words;
  std::u32string run;
  const auto end_run = [&] {
    const Run seen = look_at_run(run);
    run.clear();
    if (seen.letters == 0) return;
    letters += seen.letters;
    ++runs_in_line;
    if (!seen.word) return;
    words_in_line += seen.letters;
    ++words[seen.core];
  };
  const auto end_line = [&] {
    end_run();
    // A run alone on its line is a list entry or a text without spaces, not a word among words.
    if (runs_in_line > 1) in_words += words_in_line;
    runs_in_line = words_in_line = 0;
  };
  const std::string_view text = sample.substr(0, finished_utf8(sample));
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    at += step.length;
    if (step.code == '\n') {
      end_line();
    } else if (!step.bad && char_class(step.code) == CharClass::space) {
      end_run();
    } else {
      run.push_back(step.code);
    }
  }
  end_line();
  if (letters == 0) return {false, "it holds no letters", false};
  const double share = static_cast<double>(in_words) / static_cast<double>(letters);
  const auto percent = std::floor(100 * share);
  if (share >= kMostly) {
    return {true, fmt::format("{} % of its letters stand in words between spaces", percent),
            repeated_share(words) < kRepeated};
  }
  return {false, fmt::format("only {} % of its letters stand in words between spaces", percent),
          false};
}

}  // namespace lexirow::text
