#include "text/pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "lexirow/error.h"
#include "text/json_text.h"
#include "text/regex_translation.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace lexirow::text {
namespace {

std::string pcre2_message(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

std::shared_ptr<const pcre2_code> compiled(const std::string& regex) {
  const std::string pattern = pcre2_pattern(regex);
  int error = 0;
  PCRE2_SIZE offset = 0;
  std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
                    &offset, context.get());
  if (code == nullptr) {
    throw Error(ErrorKind::argument, fmt::format("the regular expression {} cannot be used: {}",
                                                 display_text(regex, true), pcre2_message(error)));
  }
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without it matching is only slower
  return {code, [](const pcre2_code* one) { pcre2_code_free(const_cast<pcre2_code*>(one)); }};
}

/// What a match needs beside the expression; a thread keeps its own.
class MatchState {
 public:
  MatchState()
      : data_(pcre2_match_data_create(1, nullptr)),
        context_(pcre2_match_context_create(nullptr)),
        stack_(pcre2_jit_stack_create(std::size_t{32} << 10, std::size_t{8} << 20, nullptr)) {
    pcre2_jit_stack_assign(context_, nullptr, stack_);
    pcre2_set_heap_limit(context_, std::uint32_t{1} << 20);  // KiB
  }
  ~MatchState() {
    pcre2_match_data_free(data_);
    pcre2_match_context_free(context_);
    pcre2_jit_stack_free(stack_);
  }
  MatchState(const MatchState&) = delete;
  MatchState& operator=(const MatchState&) = delete;

  /// The next match from `from` on; false when there is none, PCRE2's code when it fails.
  int find(const pcre2_code* code, std::string_view text, std::size_t from, ByteRange& match) {
    const auto run = [&](std::uint32_t options) {
      return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                         PCRE2_NO_UTF_CHECK | options, data_, context_);
    };
    int result = run(0);
    // The interpreter is slower, but its memory grows with the text.
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = run(PCRE2_NO_JIT);
    if (result >= 0) {
      const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_);
      match = {ends[0], ends[1]};
    }
    return result;
  }
  /// Steps that one match may take: enough for any text of that size, not for a pattern that runs
  /// away.
  void limit(std::size_t size) {
    const std::size_t steps = std::max<std::size_t>(10'000'000, 64 * size);
    pcre2_set_match_limit(context_,
                          static_cast<std::uint32_t>(std::min<std::size_t>(steps, UINT32_MAX)));
  }

 private:
  pcre2_match_data* data_;
  pcre2_match_context* context_;
  pcre2_jit_stack* stack_;
};

}  // namespace

Pattern Pattern::of_text(std::string text) {
  Pattern pattern;
  pattern.text_ = std::move(text);
  return pattern;
}

Pattern Pattern::of_regex(const std::string& regex) {
  Pattern pattern;
  pattern.regex_ = regex;
  pattern.code_ = compiled(regex);
  return pattern;
}

Pattern Pattern::of_json(const JsonPart& part, const char* key) {
  const nlohmann::json& value = part.field(key);
  const bool one = value.is_object() && value.size() == 1 && value.begin()->is_string();
  if (one && value.begin().key() == "String") {
    const auto text = value.begin()->get<std::string>();
    // An empty text stands everywhere, as an empty expression does.
    return text.empty() ? of_regex("") : of_text(text);
  }
  if (!one || value.begin().key() != "Regex") {
    part.refuse(fmt::format("\"{}\" is {}, expected {{\"String\": ...}} or {{\"Regex\": ...}}", key,
                            shown_json(value)));
  }
  try {
    return of_regex(value.begin()->get<std::string>());
  } catch (const Error& error) {
    part.refuse(error.what());
  }
}

void Pattern::find(std::string_view text, std::vector<Stretch>& stretches) const {
  stretches.clear();
  if (text.empty()) return;
  if (code_) {
    find_regex(text, stretches);
  } else {
    find_text(text, stretches);
  }
}

void Pattern::find_text(std::string_view text, std::vector<Stretch>& stretches) const {
  std::size_t done = 0;
  while (!text_.empty()) {
    const std::size_t at = text.find(text_, done);
    if (at == std::string_view::npos) break;
    if (at > done) stretches.push_back({done, at, false});
    done = at + text_.size();
    stretches.push_back({at, done, true});
  }
  if (done < text.size()) stretches.push_back({done, text.size(), false});
}

void Pattern::find_regex(std::string_view text, std::vector<Stretch>& stretches) const {
  thread_local MatchState state;
  state.limit(text.size());
  std::size_t from = 0;  // where the search goes on
  std::size_t done = 0;  // end of the last match
  bool matched = false;
  while (from <= text.size()) {
    ByteRange match;
    const int result = state.find(code_.get(), text, from, match);
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result < 0) {
      throw Error(
          ErrorKind::argument,
          fmt::format("the regular expression {} gives up at byte {} of a text of {}: {}",
                      display_text(regex_, true), from, text.size(), pcre2_message(result)));
    }
    if (match.begin == match.end && matched && match.end == done) {
      from += from < text.size() ? utf8_step(text, from).length : 1;
      continue;
    }
    if (match.begin > done) stretches.push_back({done, match.begin, false});
    stretches.push_back({match.begin, match.end, true});
    from = done = match.end;
    matched = true;
  }
  if (done < text.size()) stretches.push_back({done, text.size(), false});
}

SplitBehavior behavior_of_json(const JsonPart& part, const char* fallback) {
  const std::string name =
      fallback == nullptr ? part.text("behavior") : part.text("behavior", fallback);
  constexpr std::pair<std::string_view, SplitBehavior> known[] = {
      {"Removed", SplitBehavior::removed},
      {"Isolated", SplitBehavior::isolated},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous}};
  for (const auto& [spelling, behavior] : known) {
    if (name == spelling) return behavior;
  }
  part.refuse(
      fmt::format("\"behavior\" is \"{}\", expected Removed, Isolated, MergedWithPrevious, "
                  "MergedWithNext or Contiguous",
                  name));
}

namespace {

/// Joins a match to the stretch before it, unless that is a match too.
void merge_previous(bool inverted, const std::vector<Stretch>& stretches,
                    std::vector<ByteRange>& pieces) {
  const std::size_t first = pieces.size();
  bool before = false;
  for (const Stretch& one : stretches) {
    const bool match = one.match != inverted;
    if (match && !before && pieces.size() > first) {
      pieces.back().end = one.end;
    } else {
      pieces.push_back({one.begin, one.end});
    }
    before = match;
  }
}

void merge_next(bool inverted, const std::vector<Stretch>& stretches,
                std::vector<ByteRange>& pieces) {
  const auto first = static_cast<std::ptrdiff_t>(pieces.size());
  bool behind = false;
  for (auto one = stretches.rbegin(); one != stretches.rend(); ++one) {
    const bool match = one->match != inverted;
    if (match && !behind && static_cast<std::ptrdiff_t>(pieces.size()) > first) {
      pieces.back().begin = one->begin;
    } else {
      pieces.push_back({one->begin, one->end});
    }
    behind = match;
  }
  std::reverse(pieces.begin() + first, pieces.end());
}

void merge_runs(bool inverted, const std::vector<Stretch>& stretches,
                std::vector<ByteRange>& pieces) {
  const std::size_t first = pieces.size();
  bool before = false;
  for (const Stretch& one : stretches) {
    const bool match = one.match != inverted;
    if (match == before && pieces.size() > first) {
      pieces.back().end = one.end;
    } else {
      pieces.push_back({one.begin, one.end});
    }
    before = match;
  }
}

}  // namespace

void cut_by(SplitBehavior behavior, bool inverted, const std::vector<Stretch>& stretches,
            std::vector<ByteRange>& pieces) {
  switch (behavior) {
    case SplitBehavior::removed:
      for (const Stretch& one : stretches) {
        if (one.match == inverted) pieces.push_back({one.begin, one.end});
      }
      return;
    case SplitBehavior::isolated:
      for (const Stretch& one : stretches) pieces.push_back({one.begin, one.end});
      return;
    case SplitBehavior::merged_with_previous:
      return merge_previous(inverted, stretches, pieces);
    case SplitBehavior::merged_with_next:
      return merge_next(inverted, stretches, pieces);
    case SplitBehavior::contiguous:
      return merge_runs(inverted, stretches, pieces);
  }
}

}  // namespace lexirow::text
