#include "text/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "lexirow/error.h"
#include "text/bpe_files.h"
#include "text/bpe_training.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"
#include "text/chunk_joiner.h"
#include "text/gpt2_split.h"
#include "text/in_file.h"
#include "text/special_tokens.h"
#include "text/utf8.h"
#include "text/word_split.h"
#include "text/word_tokenizer.h"

namespace lexirow::text {

bool is_tokenizer_form(std::string_view name) {
  return name == "char" || name == "byte" || name == "word" || name == "bpe" ||
         name.starts_with("bpe:");
}

TokenizerForm parse_tokenizer_form(std::string_view name) {
  if (name != "bpe" && !name.starts_with("bpe:")) return {parse_tokenizer_kind(name), 0};
  const std::string_view size = name.substr(std::min<std::size_t>(name.size(), 4));
  TokenizerForm form{TokenizerKind::bpe, 0};
  const auto [rest, error] = std::from_chars(size.data(), size.data() + size.size(), form.size);
  const bool fits = form.size >= 1 && form.size <= std::numeric_limits<Id>::max();
  if (error != std::errc() || rest != size.data() + size.size() || !fits) {
    throw Error(ErrorKind::argument,
                fmt::format("tokenizer \"{}\": expected the number of tokens behind bpe:, such as "
                            "bpe:8192",
                            name));
  }
  return form;
}

struct VocabularyBuilder::Counts {
  explicit Counts(const VocabularyOptions& chosen) : options(chosen) {
    if (options.kind == TokenizerKind::word) options.unk = true;
    if (options.kind == TokenizerKind::character) characters.resize(kCodePoints);
  }

  void count_characters(std::string_view text);
  void count_words(std::string_view text);
  void count_pre_tokens(std::string_view text);
  void count_pre_tokens(std::string_view text, WordMap<std::int64_t>& into) const;
  void join_parts();
  static void count_word(WordMap<std::int64_t>& into, std::string_view word, std::int64_t by) {
    const auto found = into.find(word);
    if (found != into.end()) {
      found->second += by;
    } else {
      into.emplace(word, by);
    }
  }
  void count(std::string_view text);
  SpecialTokens place(std::size_t ordinary) const {
    return place_specials(static_cast<std::int64_t>(ordinary), options.pad, options.unk,
                          options.bos, options.eos);
  }
  std::unique_ptr<Tokenizer> build_characters(VocabularyReport& report) const;
  std::unique_ptr<Tokenizer> build_words(VocabularyReport& report) const;
  std::unique_ptr<Tokenizer> build_bpe(VocabularyReport& report,
                                       const std::atomic<bool>* stop) const;

  VocabularyOptions options;
  ChunkJoiner joiner;
  TextPlace place_in_file;
  std::vector<std::int64_t> characters;  // [kCodePoints]
  WordMap<std::int64_t> words;
  std::vector<WordMap<std::int64_t>> part_words;  // counted by several threads, not yet in words
  std::int64_t bytes = 0;
  std::int64_t replaced = 0;
  std::int64_t special_spellings = 0;
};

void VocabularyBuilder::Counts::count_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.bad) {
      if (options.strict) refuse_bytes(text, at, place_in_file);
      ++replaced;
    }
    ++characters[step.code];
    at += step.length;
  }
}

void VocabularyBuilder::Counts::count_words(std::string_view text) {
  for_each_word(text, options.split, [&](std::size_t begin, std::size_t end, bool bad) {
    const std::string_view word = text.substr(begin, end - begin);
    if (!bad) {
      count_word(words, word, 1);
      return;
    }
    for (std::size_t at = begin; options.strict; at += utf8_step(text, at).length) {
      if (utf8_step(text, at).bad) refuse_bytes(text, at, place_in_file);
    }
    count_word(words, repair_utf8(word, replaced), 1);
  });
}

void VocabularyBuilder::Counts::count_pre_tokens(std::string_view text,
                                                 WordMap<std::int64_t>& into) const {
  // Where lines are encoded each by itself, no pre-token holds a line end.
  const bool by_line = options.eos_per_line || options.lines;
  while (!text.empty()) {
    const std::size_t end = by_line ? std::min(text.find('\n'), text.size()) : text.size();
    const std::string_view part = text.substr(0, end);
    for_each_gpt2_piece(part, [&](std::size_t from, std::size_t to) {
      count_word(into, part.substr(from, to - from), 1);
    });
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void VocabularyBuilder::Counts::count_pre_tokens(std::string_view text) {
  if (options.strict) require_utf8(text, place_in_file);
  const SpecialTokens specials = place(0);
  for (const SpecialRole& role : kSpecialRoles) {
    if (specials.*role.id == kNoId) continue;
    // No cut of a text lies within a spelling: it holds no blank and no line end.
    const std::string_view spelling = role.spelling;
    for (std::size_t at = text.find(spelling); at != std::string_view::npos;
         at = text.find(spelling, at + spelling.size())) {
      ++special_spellings;
    }
  }
  if (options.pool == nullptr || options.pool->threads() == 1) return count_pre_tokens(text, words);
  constexpr std::size_t kPart = std::size_t{1} << 17;
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (text.size() > kPart) {
      const std::size_t cut = spaced_cut(text.substr(0, kPart), 0).end;
      if (cut > 0) end = cut;
    }
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  part_words.resize(std::max(part_words.size(), parts.size()));
  options.pool->parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
    const auto part = static_cast<std::size_t>(i);
    count_pre_tokens(parts[part], part_words[part]);
  });
}

void VocabularyBuilder::Counts::join_parts() {
  for (const WordMap<std::int64_t>& part : std::exchange(part_words, {})) {
    for (const auto& [word, count] : part) count_word(words, word, count);
  }
}

void VocabularyBuilder::Counts::count(std::string_view text) {
  if (options.kind == TokenizerKind::character) {
    count_characters(text);
  } else if (options.kind == TokenizerKind::word) {
    count_words(text);
  } else {
    count_pre_tokens(text);
  }
  advance_place(place_in_file, text);
}

std::unique_ptr<Tokenizer> VocabularyBuilder::Counts::build_characters(
    VocabularyReport& report) const {
  std::vector<char32_t> codes;
  for (char32_t code = 0; code < kCodePoints; ++code) {
    if (characters[code] == 0) continue;
    if (code == '\n' && (options.eos_per_line || options.lines)) continue;
    codes.push_back(code);
    report.tokens += characters[code];
    report.highest_count = std::max(report.highest_count, characters[code]);
  }
  report.distinct = report.kept = static_cast<std::int64_t>(codes.size());
  if (codes.empty()) {
    throw Error(
        ErrorKind::file,
        fmt::format(
            "no vocabulary: the text has no characters ({} bytes); give a text that has some",
            bytes));
  }
  const SpecialTokens specials = place(codes.size());
  return std::make_unique<CharTokenizer>(std::move(codes), specials);
}

std::unique_ptr<Tokenizer> VocabularyBuilder::Counts::build_words(VocabularyReport& report) const {
  using Entry = WordMap<std::int64_t>::value_type;
  std::vector<const Entry*> entries;
  entries.reserve(words.size());
  const SpecialTokens in_use = place(0);
  for (const Entry& entry : words) {
    const auto& [word, count] = entry;
    if (word == "<unk>" && options.split == WordSplit::space) continue;  // is the token
    report.tokens += count;
    if (find_special(in_use, word)) {  // the spelling is taken: such words are unknown
      report.dropped_tokens += count;
      continue;
    }
    ++report.distinct;
    report.highest_count = std::max(report.highest_count, count);
    if (count >= options.min_count) {
      entries.push_back(&entry);
    } else {
      report.dropped_tokens += count;
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) {
    return a->second != b->second ? a->second > b->second : a->first < b->first;
  });
  const auto limit = static_cast<std::size_t>(options.max_vocab);
  while (limit > 0 && entries.size() > limit) {
    report.dropped_tokens += entries.back()->second;
    entries.pop_back();
  }
  report.kept = static_cast<std::int64_t>(entries.size());
  if (entries.empty() && report.distinct == 0) {
    throw Error(
        ErrorKind::file,
        fmt::format("no vocabulary: the text has no words ({} bytes); give a text that has some",
                    bytes));
  }
  if (entries.empty()) {
    const auto would_stay = std::count_if(words.begin(), words.end(), [&](const Entry& entry) {
      return entry.second >= report.highest_count && !find_special(in_use, entry.first);
    });
    throw Error(
        ErrorKind::argument,
        fmt::format(
            "no vocabulary: {} distinct tokens, 0 kept with --min-count {}, highest count {}; "
            "--min-count {} would keep {}",
            report.distinct, options.min_count, report.highest_count, report.highest_count,
            would_stay));
  }
  std::vector<std::string> kept;
  kept.reserve(entries.size());
  for (const Entry* entry : entries) kept.push_back(entry->first);
  const SpecialTokens specials = place(kept.size());
  return std::make_unique<WordTokenizer>(std::move(kept), options.split, specials);
}

std::unique_ptr<Tokenizer> VocabularyBuilder::Counts::build_bpe(
    VocabularyReport& report, const std::atomic<bool>* stop) const {
  if (words.empty()) {
    throw Error(ErrorKind::file, fmt::format("no vocabulary: the text is empty ({} bytes); give a "
                                             "text that has characters",
                                             bytes));
  }
  report.distinct = static_cast<std::int64_t>(words.size());
  for (const auto& [word, count] : words) {
    report.tokens += count;
    report.highest_count = std::max(report.highest_count, count);
    std::int64_t bad = 0;
    repair_utf8(word, bad);
    report.replaced += bad * count;
  }
  report.special_spellings = special_spellings;
  LearnedBpe learned = learn_bpe(words, options.size - count_specials(place(0)), stop);
  report.kept = static_cast<std::int64_t>(learned.tokens.size());
  report.merges = static_cast<std::int64_t>(learned.merges.size());
  report.exhausted = learned.exhausted;
  const SpecialTokens specials = place(learned.tokens.size());
  std::vector<AddedToken> added;
  for (const SpecialRole& role : kSpecialRoles) {
    if (specials.*role.id == kNoId) continue;
    added.push_back(
        {.id = specials.*role.id, .content = role.spelling, .normalized = false, .special = true});
  }
  BpeParts parts;
  parts.tokens = std::move(learned.tokens);
  parts.merges = std::move(learned.merges);
  return make_byte_level_bpe(std::move(parts), std::move(added));
}

namespace {

void require_bpe_options(const VocabularyOptions& options) {
  if (options.unk) {
    throw Error(ErrorKind::argument,
                "--unk: byte-level BPE has a token for every byte, so nothing is unknown; leave "
                "out --unk");
  }
  const std::int64_t least =
      kByteTokens +
      count_specials(place_specials(0, options.pad, options.unk, options.bos, options.eos));
  if (options.size < least) {
    throw Error(
        ErrorKind::argument,
        fmt::format("a byte-level BPE vocabulary of {}: the 256 bytes and {} are in it; give {} or "
                    "more",
                    base::counted(options.size, "token"),
                    base::counted(least - kByteTokens, "special token"), least));
  }
}

}  // namespace

VocabularyBuilder::VocabularyBuilder(const VocabularyOptions& options) {
  if (options.min_count < 1) {
    throw Error(ErrorKind::argument,
                fmt::format("--min-count {}: must be 1 or more", options.min_count));
  }
  if (options.max_vocab < 0) {
    throw Error(
        ErrorKind::argument,
        fmt::format("--max-vocab {}: must be 1 or more, or 0 for no limit", options.max_vocab));
  }
  if (options.kind == TokenizerKind::bpe) require_bpe_options(options);
  counts_ = std::make_unique<Counts>(options);
}

VocabularyBuilder::~VocabularyBuilder() = default;

void VocabularyBuilder::push(std::string_view bytes) {
  Counts& counts = *counts_;
  counts.bytes += static_cast<std::int64_t>(bytes.size());
  if (counts.options.kind == TokenizerKind::byte) return;
  counts.joiner.push(
      bytes,
      [&counts](std::string_view text, std::size_t scanned) {
        if (counts.options.kind == TokenizerKind::word)
          return word_cut(text, scanned, counts.options.split);
        if (counts.options.kind == TokenizerKind::bpe) return spaced_cut(text, scanned);
        const std::size_t finished = finished_utf8(text);
        return SafeCut{finished, finished};
      },
      [&counts](std::string_view text) { counts.count(text); });
}

void VocabularyBuilder::end_file() {
  counts_->joiner.finish([this](std::string_view text) { counts_->count(text); });
  counts_->place_in_file = {};
}

std::unique_ptr<Tokenizer> VocabularyBuilder::build(VocabularyReport& report,
                                                    const std::atomic<bool>* stop) {
  end_file();
  counts_->join_parts();
  report = {};
  report.replaced = counts_->replaced;
  switch (counts_->options.kind) {
    case TokenizerKind::character:
      return counts_->build_characters(report);
    case TokenizerKind::word:
      return counts_->build_words(report);
    case TokenizerKind::byte:
      break;
    case TokenizerKind::bpe:
      return counts_->build_bpe(report, stop);
    case TokenizerKind::word_level:
      throw Error(
          ErrorKind::argument,
          fmt::format("a {} vocabulary cannot be made of a text here; use char, byte, word, "
                      "bpe:N or the path of a tokenizer.json",
                      tokenizer_kind_name(counts_->options.kind)));
  }
  report.distinct = report.kept = ByteTokenizer::kBytes;
  report.tokens = counts_->bytes;
  return std::make_unique<ByteTokenizer>(
      counts_->place(static_cast<std::size_t>(ByteTokenizer::kBytes)));
}

void count_corpus(const CorpusFiles& files, const CorpusRules& rules, VocabularyBuilder& builder,
                  CorpusCounts& counts) {
  for (const std::string& path : files.paths) {
    read_corpus_file(path, rules, counts,
                     [&](std::string_view chunk) { in_file(path, [&] { builder.push(chunk); }); });
    in_file(path, [&] { builder.end_file(); });
  }
}

}  // namespace lexirow::text
