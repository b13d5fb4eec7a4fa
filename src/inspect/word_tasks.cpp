#include "inspect/word_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <unordered_map>

#include "inspect/neighbours.h"
#include "inspect/rank_correlation.h"
#include "lexirow/error.h"
#include "text/corpus.h"
#include "text/unicode_forms.h"
#include "text/utf8.h"

namespace lexirow::inspect {
namespace {

std::vector<std::string> columns(std::string_view line, std::string_view separators) {
  std::vector<std::string> parts;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(separators), line.size());
    std::string_view part = line.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return parts;
}

/// The parts of a line between separators: those of the first kind that the line holds.
std::vector<std::string> columns(std::string_view line) {
  for (const std::string_view each : {"\t", ";", ","}) {
    if (line.find(each) != std::string_view::npos) return columns(line, each);
  }
  return columns(line, " ");
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

/// Calls visit(line number, line) for each line that holds anything, without its end.
void for_each_line(const std::string& path,
                   const std::function<void(std::int64_t, std::string_view)>& visit) {
  text::CorpusCounts counts;
  const std::string bytes = text::read_whole_file(path, {}, counts);
  std::string_view text = bytes;
  for (std::int64_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view here = text.substr(0, end);
    if (here.find_first_not_of(" \t") != std::string_view::npos) visit(line, here);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string lower(std::string_view word) {
  std::string result;
  for (std::size_t at = 0; at < word.size();) {
    const text::Utf8Step step = text::utf8_step(word, at);
    const text::LowerCase lowered = text::lower_case(step.code);
    text::append_utf8(result, lowered.first);
    if (lowered.second != 0) text::append_utf8(result, lowered.second);
    at += step.length;
  }
  return result;
}

/// A word's row, or the vector a fastText model makes for it.
struct Found {
  std::vector<float> vector;
  Id row = kNoId;
};

class Words {
 public:
  explicit Words(const store::Table& table) : table_(table) {
    if (table.has_tokens()) return;
    throw Error(ErrorKind::file,
                fmt::format("{}: its rows have no tokens, so no word can be looked "
                            "up; give them by --tokenizer FILE",
                            table.path));
  }

  /// Null for a word without a row that has a direction.
  const Found* find(const std::string& word) {
    const auto [place, is_new] = known_.try_emplace(word);
    if (is_new) place->second = look_up(word);
    return place->second ? &*place->second : nullptr;
  }

  LeftOut left_out;

 private:
  std::optional<Found> look_up(const std::string& word) {
    Found found;
    for (const std::string& spelling : {word, lower(word)}) {
      const auto id = table_.find(spelling);
      if (!id) continue;
      found = {table_.row(*id), *id};
      break;
    }
    if (found.row == kNoId && table_.subwords != nullptr) {
      const auto parts = table_.subwords->parts(word, -1);
      if (!parts.empty()) {
        found.vector.resize(static_cast<std::size_t>(table_.dim()));
        table_.subwords->mean(parts, found.vector.data());
      }
    }
    if (found.vector.empty()) {
      left_out.missing.push_back(word);
      return std::nullopt;
    }
    const base::View1<const float> view(found.vector.data(),
                                        {static_cast<std::int64_t>(found.vector.size())});
    if (similarity(view, view).cosine) return found;
    left_out.zero.push_back(word);
    return std::nullopt;
  }

  const store::Table& table_;
  std::unordered_map<std::string, std::optional<Found>> known_;
};

bool is_right(base::ThreadPool& pool, const store::Table& table, const Found& a, const Found& b,
              const Found& c, const Found& d) {
  if (d.row == kNoId) return false;
  const std::vector<float> wanted = signed_sum({{b.vector, 1}, {a.vector, -1}, {c.vector, 1}});
  const base::View1<const float> query(wanted.data(), {static_cast<std::int64_t>(wanted.size())});
  if (!similarity(query, query).cosine) return false;  // a, b and c cancel out
  const Neighbours answer = nearest_rows(pool, *table.rows, query, 1, {a.row, b.row, c.row});
  return !answer.nearest.empty() && answer.nearest[0].id == d.row;
}

}  // namespace

std::vector<WordPair> read_word_pairs(const std::string& path) {
  std::vector<WordPair> pairs;
  for_each_line(path, [&](std::int64_t line, std::string_view text) {
    if (text.starts_with('#')) return;
    const std::vector<std::string> parts = columns(text);
    // A part of speech may stand before the number, as in SimLex-999.
    std::optional<double> score;
    for (std::size_t i = 2; i < std::min<std::size_t>(parts.size(), 4) && !score; ++i) {
      score = number(parts[i]);
    }
    const bool heading = line == 1 && parts.size() >= 3 && !score;
    if (score && std::isfinite(*score)) {
      pairs.push_back({parts[0], parts[1], *score});
    } else if (!heading) {
      throw Error(
          ErrorKind::file,
          fmt::format("{}, line {}: expected two words and a number between tabs, commas or "
                      "blanks",
                      path, line));
    }
  });
  if (pairs.empty()) throw Error(ErrorKind::file, path + ": no pair of words with a number in it");
  return pairs;
}

PairReport score_pairs(const store::Table& table, const std::vector<WordPair>& pairs) {
  Words words(table);
  PairReport report;
  report.pairs = static_cast<std::int64_t>(pairs.size());
  std::vector<double> given, cosines;
  for (const WordPair& pair : pairs) {
    const Found* const first = words.find(pair.first);
    const Found* const second = words.find(pair.second);
    if (first == nullptr || second == nullptr) continue;
    const auto view = [](const Found& found) {
      return base::View1<const float>(found.vector.data(),
                                      {static_cast<std::int64_t>(found.vector.size())});
    };
    given.push_back(pair.score);
    cosines.push_back(*similarity(view(*first), view(*second)).cosine);
  }
  report.found = static_cast<std::int64_t>(given.size());
  report.spearman = spearman(given, cosines);
  report.left_out = std::move(words.left_out);
  return report;
}

std::vector<Analogy> read_analogies(const std::string& path) {
  std::vector<Analogy> analogies;
  std::string section;
  for_each_line(path, [&](std::int64_t line, std::string_view text) {
    if (text.starts_with('#')) return;
    if (text.starts_with(':')) {
      text.remove_prefix(std::min(text.find_first_not_of(": "), text.size()));
      section = std::string(text);
      return;
    }
    std::vector<std::string> parts = columns(text);
    if (parts.size() != 4) parts = columns(text, " ");  // a comma may itself be a word
    if (parts.size() != 4) {
      throw Error(ErrorKind::file,
                  fmt::format("{}, line {}: got {} words, expected four (a is to b "
                              "as c is to d) or a heading that begins with :",
                              path, line, parts.size()));
    }
    analogies.push_back({parts[0], parts[1], parts[2], parts[3], section});
  });
  if (analogies.empty()) throw Error(ErrorKind::file, path + ": no analogy in it");
  return analogies;
}

AnalogyReport score_analogies(base::ThreadPool& pool, const store::Table& table,
                              const std::vector<Analogy>& analogies) {
  Words words(table);
  AnalogyReport report;
  std::vector<AnalogyScore>& scores = report.sections;
  for (const Analogy& analogy : analogies) {
    if (scores.empty() || scores.back().section != analogy.section) {
      scores.push_back({.section = analogy.section});
    }
    AnalogyScore& score = scores.back();
    ++score.questions;
    const Found* const a = words.find(analogy.a);
    const Found* const b = words.find(analogy.b);
    const Found* const c = words.find(analogy.c);
    const Found* const d = words.find(analogy.d);
    if (a == nullptr || b == nullptr || c == nullptr || d == nullptr) continue;
    ++score.asked;
    if (is_right(pool, table, *a, *b, *c, *d)) ++score.right;
  }
  report.left_out = std::move(words.left_out);
  return report;
}

}  // namespace lexirow::inspect
