#include "text/known_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lexirow/error.h"
#include "text/gpt2_split.h"

namespace lexirow::text {
namespace {

// tiktoken writes these with possessive counts, which mean something else in tokenizer.json; the
// pieces are the same.
constexpr const char* kCl100k =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Of DeepSeek V3, behind its cuts of numbers and of Chinese and Japanese.
constexpr const char* kDeepSeek =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::array<KnownSplit, 5> kSplits = {{{"gpt2", kGpt2Pattern},
                                                {"cl100k", kCl100k},
                                                {"o200k", kO200k},
                                                {"llama3", kLlama3},
                                                {"qwen2", kQwen2}}};

}  // namespace

const KnownSplit& known_split(std::string_view name) {
  for (const KnownSplit& split : kSplits) {
    if (name == split.name) return split;
  }
  throw Error(
      ErrorKind::argument,
      fmt::format("split \"{}\" is not known; use gpt2, cl100k, o200k, llama3 or qwen2", name));
}

bool cuts_at_blanks(std::string_view pattern) {
  return pattern == kDeepSeek || std::any_of(kSplits.begin(), kSplits.end(), [&](const auto& one) {
           return pattern == one.pattern;
         });
}

bool ignores_blanks(std::string_view pattern) {
  // The last two: Chinese and Japanese letters, as DeepSeek and others write them.
  constexpr std::array<std::string_view, 6> kPatterns = {
      R"(\p{N})",
      R"(\p{N}{1,3})",
      R"(\d)",
      R"(\d{1,3})",
      "[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+",
      R"(\p{Han}+)"};
  return std::find(kPatterns.begin(), kPatterns.end(), pattern) != kPatterns.end();
}

}  // namespace lexirow::text
