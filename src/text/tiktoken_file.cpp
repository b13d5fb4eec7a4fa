#include "text/tiktoken_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "lexirow/error.h"
#include "text/bpe_files.h"
#include "text/byte_letters.h"
#include "text/known_splits.h"

namespace lexirow::text {
namespace {

[[noreturn]] void refuse(const std::string& where, std::size_t line, const std::string& what) {
  throw Error(ErrorKind::file, fmt::format("{}: line {}: {}", where, line, what));
}

int base64_value(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  if (letter == '+') return 62;
  return letter == '/' ? 63 : -1;
}

std::optional<std::string> base64_bytes(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (const char letter : text) {
    const int value = base64_value(letter);
    if (value < 0) return std::nullopt;
    held = (held << 6 | static_cast<unsigned>(value)) & 0xFFFF;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(held >> bits & 0xFF));
  }
  return bytes;
}

/// A line of a rank file.
struct Rank {
  std::string bytes;
  std::int64_t rank = 0;
};

std::optional<Rank> rank_of_line(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  std::optional<std::string> bytes = base64_bytes(line.substr(0, blank));
  if (!bytes || bytes->empty()) return std::nullopt;
  Rank rank{std::move(*bytes), 0};
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data() + blank + 1, end, rank.rank);
  if (error != std::errc() || rest != end || rank.rank < 0) return std::nullopt;
  return rank;
}

struct Ranks {
  std::vector<std::string> tokens;  // bytes, by rank
  std::size_t count = 0;
};

Ranks read_ranks(std::string_view text, const std::string& where) {
  constexpr std::int64_t kMostRanks = 1 << 24;
  Ranks ranks;
  std::size_t line_number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::optional<Rank> rank = rank_of_line(line);
    if (!rank || rank->rank >= kMostRanks) {
      refuse(where, line_number,
             fmt::format("found \"{}\", expected a token in base64, a blank and its rank",
                         display_text(line.substr(0, 60), true)));
    }
    const auto id = static_cast<std::size_t>(rank->rank);
    if (id >= ranks.tokens.size()) ranks.tokens.resize(id + 1);
    if (!ranks.tokens[id].empty()) {
      refuse(where, line_number, fmt::format("the rank {} stands twice", id));
    }
    ranks.tokens[id] = std::move(rank->bytes);
    ++ranks.count;
  }
  return ranks;
}

/// The cuts of the published encodings by their number of ranks.
constexpr std::pair<std::size_t, const char*> kSizes[] = {
    {50256, "gpt2"},   {50257, "gpt2"},    {50280, "gpt2"},  {100256, "cl100k"},
    {199998, "o200k"}, {128000, "llama3"}, {151643, "qwen2"}};

std::string split_by_size(std::size_t count, const std::string& where) {
  for (const auto& [size, name] : kSizes) {
    if (count == size) return name;
  }
  throw Error(ErrorKind::argument,
              fmt::format("{}: {} ranks are those of no known encoding: is the file whole? If it "
                          "is, say how text is cut: --split gpt2, cl100k, o200k, llama3 or qwen2",
                          where, count));
}

/// How the cut was chosen. A file that was cut at the end of a line has nothing wrong in it, only
/// too few lines.
std::string split_note(const std::string& chosen, bool stated, std::size_t count) {
  if (!stated) {
    return fmt::format("text is cut as {} does (by its {} ranks; --split says otherwise)", chosen,
                       count);
  }
  std::string note = fmt::format("text is cut as {} does (as --split says)", chosen);
  std::vector<std::size_t> sizes;
  for (const auto& [size, name] : kSizes) {
    if (name == chosen) sizes.push_back(size);
  }
  if (std::find(sizes.begin(), sizes.end(), count) == sizes.end()) {
    note += fmt::format(
        "; it has {} ranks, where the published file has {}: it is another one, or "
        "was cut",
        count, fmt::join(sizes, " or "));
  }
  return note;
}

/// Ranks count from 0 without a gap; lines that were lost leave one.
void require_all_ranks(const Ranks& ranks, const std::string& where) {
  // The end of text has its number within the ranks of p50k.
  constexpr std::size_t kP50kRanks = 50280;
  constexpr std::size_t kP50kEnd = 50256;
  for (std::size_t id = 0; id < ranks.tokens.size(); ++id) {
    const bool known = ranks.count == kP50kRanks && id == kP50kEnd;
    if (!ranks.tokens[id].empty() || known) continue;
    throw Error(ErrorKind::file,
                fmt::format("{}: the rank {} is missing, but {} is there: lines were lost; take "
                            "the file from where it came from",
                            where, id, ranks.tokens.size() - 1));
  }
}

/// Special tokens of the published encodings, which stand in no rank file.
std::vector<AddedToken> special_tokens(const std::string& split, std::size_t count) {
  std::vector<std::pair<const char*, Id>> known;
  if (split == "gpt2" && count >= 50256) known = {{"<|endoftext|>", 50256}};
  if (split == "cl100k" && count == 100256) {
    known = {{"<|endoftext|>", 100257},
             {"<|fim_prefix|>", 100258},
             {"<|fim_middle|>", 100259},
             {"<|fim_suffix|>", 100260},
             {"<|endofprompt|>", 100276}};
  }
  if (split == "o200k" && count == 199998) {
    known = {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}};
  }
  if (split == "llama3" && count == 128000) {
    known = {{"<|begin_of_text|>", 128000}, {"<|end_of_text|>", 128001}};
  }
  if (split == "qwen2" && count == 151643) {
    known = {{"<|endoftext|>", 151643}, {"<|im_start|>", 151644}, {"<|im_end|>", 151645}};
  }
  std::vector<AddedToken> added;
  for (const auto& [content, id] : known) {
    added.push_back({.id = id, .content = content, .normalized = false, .special = true});
  }
  return added;
}

/// tiktoken merges any two neighbours that are a token together, the lowest rank first: a merge for
/// every way to cut a token in two.
std::vector<BpeMerge> merges_of(const std::vector<std::string>& tokens) {
  WordMap<Id> ids;
  ids.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].empty()) ids.emplace(tokens[id], static_cast<Id>(id));
  }
  std::vector<BpeMerge> merges;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::string_view token = tokens[id];
    const std::size_t first = merges.size();
    for (std::size_t size = 1; size < token.size(); ++size) {
      const auto left = ids.find(token.substr(0, size));
      const auto right = ids.find(token.substr(size));
      if (left == ids.end() || right == ids.end()) continue;
      merges.push_back(
          {left->second, right->second, static_cast<Id>(id), static_cast<std::int32_t>(id)});
    }
    std::sort(merges.begin() + static_cast<std::ptrdiff_t>(first), merges.end(),
              [](const BpeMerge& a, const BpeMerge& b) {
                return std::pair(a.left, a.right) < std::pair(b.left, b.right);
              });
  }
  return merges;
}

void require_all_bytes(const std::vector<std::string>& tokens, const std::string& where) {
  std::array<bool, 256> known{};
  for (const std::string& token : tokens) {
    if (token.size() == 1) known[static_cast<unsigned char>(token[0])] = true;
  }
  const auto missing = std::find(known.begin(), known.end(), false);
  if (missing == known.end()) return;
  throw Error(ErrorKind::file,
              fmt::format("{}: the byte {:02x} has no rank, but any text may hold it; is the file "
                          "whole?",
                          where, missing - known.begin()));
}

}  // namespace

bool looks_like_ranks(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return rank_of_line(line).has_value();
}

std::unique_ptr<Tokenizer> tokenizer_from_ranks(std::string_view text, const std::string& split,
                                                const std::string& where) {
  const Ranks ranks = read_ranks(text, where);
  require_all_bytes(ranks.tokens, where);
  require_all_ranks(ranks, where);
  const std::string chosen = split.empty() ? split_by_size(ranks.count, where) : split;
  const KnownSplit& known = known_split(chosen);
  BpeParts parts;
  parts.merges = merges_of(ranks.tokens);
  parts.ignore_merges = true;
  parts.rank_is_result = true;
  std::vector<std::string> tokens;
  for (const std::string& token : ranks.tokens) tokens.push_back(to_byte_letters(token));
  std::vector<AddedToken> added = special_tokens(chosen, ranks.count);
  for (const AddedToken& token : added) {
    // They stand in the vocabulary too, so that every reader gives them these ids.
    const auto id = static_cast<std::size_t>(token.id);
    if (id >= tokens.size()) tokens.resize(id + 1);
    if (!tokens[id].empty()) {
      throw Error(ErrorKind::file, fmt::format("{}: the rank {} is that of the special token {}",
                                               where, token.id, token.content));
    }
    tokens[id] = token.content;
  }
  parts.tokens = std::move(tokens);
  return make_byte_level_bpe(std::move(parts), std::move(added), known.pattern,
                             {split_note(chosen, !split.empty(), ranks.count)});
}

}  // namespace lexirow::text
