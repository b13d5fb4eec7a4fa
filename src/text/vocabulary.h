#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/thread_pool.h"
#include "text/corpus.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// A tokenizer that is made of a text.
struct TokenizerForm {
  TokenizerKind kind = TokenizerKind::character;
  std::int64_t size = 0;  ///< bpe: tokens wanted, special ones included
};
/// True for char, byte, word and bpe:N; other names are those of files.
bool is_tokenizer_form(std::string_view name);
/// Throws Error(argument) that lists the forms.
TokenizerForm parse_tokenizer_form(std::string_view name);

/// What vocabulary to make.
struct VocabularyOptions {
  TokenizerKind kind = TokenizerKind::character;
  WordSplit split = WordSplit::unicode;
  std::int64_t min_count = 1;  ///< word: rarer words become <unk>
  std::int64_t max_vocab = 0;  ///< word: ordinary tokens kept at most; 0 no limit
  std::int64_t size = 0;       ///< bpe: tokens wanted, special ones included
  /// bpe: counts by these threads, with the same result for any number; null: by the calling one.
  base::ThreadPool* pool = nullptr;
  bool pad = false, unk = false, bos = false, eos = false;
  bool eos_per_line = false;  ///< line ends are replaced by <eos>, so "\n" is no character
  bool lines = false;         ///< lines are documents, so "\n" is no character either
  bool strict = false;
};

/// What the cut left out, to be printed: nothing is pruned without a word.
struct VocabularyReport {
  std::int64_t distinct = 0;        ///< distinct tokens seen; bpe: distinct pre-tokens
  std::int64_t kept = 0;            ///< ordinary tokens in the vocabulary
  std::int64_t tokens = 0;          ///< tokens counted; bpe: pre-tokens
  std::int64_t dropped_tokens = 0;  ///< tokens that will be <unk>
  std::int64_t highest_count = 0;
  std::int64_t replaced = 0;  ///< bad UTF-8 subsequences read as U+FFFD; bpe: as their bytes
  std::int64_t special_spellings = 0;  ///< bpe: text spelt like a special token, read as text
  std::int64_t merges = 0;             ///< bpe: merges learned
  bool exhausted = false;              ///< bpe: no pair was left before `size` was reached
};

/// Counts the tokens of texts given in chunks, then makes the tokenizer. Ids: char by code point;
/// byte: the byte; word: by falling count, ties by bytes of the word; bpe: see learn_bpe(), over
/// pre-tokens as GPT-2 cuts them. <unk> is always there for word and never for bpe. With
/// WordSplit::space words spelt like a special token in use are no ordinary words.
/// Memory grows with the number of distinct tokens only.
class VocabularyBuilder {
 public:
  explicit VocabularyBuilder(const VocabularyOptions& options);
  ~VocabularyBuilder();

  /// A chunk of a file; chunks may be cut anywhere. Throws Error(file) with line and byte on
  /// invalid UTF-8 when strict.
  void push(std::string_view bytes);
  /// The end of a file: the next chunk starts afresh.
  void end_file();

  /// Throws Error(argument) when the options keep nothing (never for byte): distinct, kept, highest
  /// count, and the --min-count that would keep tokens; Error(file) for an empty text; Stopped soon
  /// after `stop` was set (bpe).
  std::unique_ptr<Tokenizer> build(VocabularyReport& report,
                                   const std::atomic<bool>* stop = nullptr);

 private:
  struct Counts;
  std::unique_ptr<Counts> counts_;
};

/// Reads files one after another into the builder. Errors name the file.
void count_corpus(const CorpusFiles& files, const CorpusRules& rules, VocabularyBuilder& builder,
                  CorpusCounts& counts);

/// What the text looks like, for `--preset auto`.
struct TextShape {
  bool mostly_words = false;  ///< mostly words between spaces
  std::string reason;         ///< one clause for the user, e.g. "82 % of the letters stand in words
                              ///< between spaces"
  bool rare_words = false;    ///< few words, under a quarter of all or under 8, stand there 3 times
};
/// Mostly words: at least 70 % of the letters and digits stand in words, that is in runs between
/// white space, with another run on their line, which are without outer punctuation letters,
/// digits, apostrophes and hyphens only, of at most 20 code points (6 for scripts written without
/// spaces).
TextShape look_at(std::string_view sample);

}  // namespace lexirow::text
