#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/corpus.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// What vocabulary to make.
struct VocabularyOptions {
  TokenizerKind kind = TokenizerKind::character;
  WordSplit split = WordSplit::unicode;
  std::int64_t min_count = 1;  ///< word: rarer words become <unk>
  std::int64_t max_vocab = 0;  ///< word: ordinary tokens kept at most; 0 no limit
  bool pad = false, unk = false, bos = false, eos = false;
  bool eos_per_line = false;  ///< line ends are replaced by <eos>, so "\n" is no character
  bool lines = false;         ///< lines are documents, so "\n" is no character either
  bool strict = false;
};

/// What the cut left out, to be printed: nothing is pruned without a word.
struct VocabularyReport {
  std::int64_t distinct = 0;        ///< distinct tokens seen
  std::int64_t kept = 0;            ///< ordinary tokens in the vocabulary
  std::int64_t tokens = 0;          ///< tokens counted
  std::int64_t dropped_tokens = 0;  ///< tokens that will be <unk>
  std::int64_t highest_count = 0;
  std::int64_t replaced = 0;  ///< bad UTF-8 subsequences read as U+FFFD
};

/// Counts the tokens of texts given in chunks, then makes the tokenizer. Ids: char by code point;
/// byte: the byte; word: by falling count, ties by bytes of the word. <unk> is always there for
/// word. With WordSplit::space words spelt like a special token in use are no ordinary words.
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
  /// count, and the --min-count that would keep tokens; Error(file) for an empty text.
  std::unique_ptr<Tokenizer> build(VocabularyReport& report);

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
  bool rare_words = false;    ///< under a quarter of the words are ones that stand there 3 times
};
/// Mostly words: at least 70 % of the letters and digits stand in words, that is in runs between
/// white space, with another run on their line, which are without outer punctuation letters,
/// digits, apostrophes and hyphens only, of at most 20 code points (6 for scripts written without
/// spaces).
TextShape look_at(std::string_view sample);

}  // namespace lexirow::text
