#include "inspect/spelling.h"

#include <utf8proc.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "text/utf8.h"

namespace lexirow::inspect {

namespace {

std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const text::Utf8Step step = text::utf8_step(text, i);
    points += step.code;
    i += step.length;
  }
  return points;
}

std::u32string without_case(std::u32string points) {
  for (char32_t& point : points) {
    point = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point)));
  }
  return points;
}

}  // namespace

std::size_t edit_distance(const std::u32string& a, const std::u32string& b, std::size_t limit) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    std::size_t least = row[0];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
      least = std::min(least, row[j + 1]);
    }
    if (least > limit) return limit + 1;
  }
  return std::min(row[b.size()], limit + 1);
}

std::vector<std::string> close_spellings(const text::Tokenizer& tokenizer, std::string_view token,
                                         std::size_t count) {
  const text::SpecialTokens& specials = tokenizer.specials();
  const auto token_of = [&](Id id) {
    const bool special =
        id == specials.pad || id == specials.unk || id == specials.bos || id == specials.eos;
    return special ? std::string() : tokenizer.token_bytes(id);
  };
  return close_spellings(tokenizer.vocab_size(), token_of, token, count);
}

std::vector<std::string> close_spellings(std::int64_t tokens,
                                         const std::function<std::string(Id)>& token_of,
                                         std::string_view token, std::size_t count) {
  const std::u32string wanted = code_points(token);
  const std::u32string wanted_plain = without_case(wanted);
  // Distance without case, distance with case, id: the order of closeness.
  std::vector<std::tuple<std::size_t, std::size_t, Id>> found;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const auto id = static_cast<Id>(i);
    const std::u32string known = code_points(token_of(id));
    if (known.empty()) continue;
    const std::size_t longer = std::max(known.size(), wanted.size());
    const std::size_t limit = longer / 2;
    if (longer - std::min(known.size(), wanted.size()) > limit) continue;
    const std::size_t plain = edit_distance(wanted_plain, without_case(known), limit);
    if (plain > limit) continue;
    found.emplace_back(plain, edit_distance(wanted, known, longer), id);
  }
  const std::size_t listed = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(listed),
                    found.end());
  std::vector<std::string> spellings;
  for (std::size_t i = 0; i < listed; ++i) {
    spellings.push_back(token_of(std::get<2>(found[i])));
  }
  return spellings;
}

}  // namespace lexirow::inspect
