#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "text/token_stream.h"
#include "text/tokenizer.h"
#include "text/windows.h"

namespace lexirow::experiment {

/// The built-in corpus: about 10 kB of a few sentences over and over, 24 or so distinct characters
/// and a few dozen words that recur in like places.
std::string tiny_text();

/// A text as ids of its own vocabulary.
struct TextIds {
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::vector<Id> ids;
  std::string note;  ///< for the method, where only a beginning of the text is used: " Of the ..."
  std::int64_t vocab_size() const { return tokenizer->vocab_size(); }
  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
  std::unique_ptr<text::MemoryTokenStream> stream() const;
  /// A token for people to read: controls and a lone space made visible.
  std::string spelling(Id id) const;
  /// "words" or "characters".
  std::string unit() const;
};

/// Bytes of a text that an experiment uses at most, unless it says otherwise: it is to be tiny.
inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 16;

/// By characters or words (unicode split, every word kept); of a longer text its beginning. Throws
/// Error(file) for an empty text.
TextIds encode_text(std::string_view text, text::TokenizerKind kind,
                    std::size_t most_bytes = kMostTextBytes);

/// By words where the text has a dozen or so that recur, else by characters: tokens that people can
/// look at.
TextIds encode_readably(std::string_view text);

/// How often each id occurs, [V].
std::vector<std::int64_t> count_tokens(const TextIds& text);
/// The ids that occur most often, `count` of them at most, ties by id.
std::vector<Id> commonest_tokens(const TextIds& text, std::size_t count);

/// The first windows of `length` labels as one batch, `rows` of them at most; the last one of a
/// short text is padded. Throws Error(file) for a text of fewer than 2 tokens.
text::Batch first_windows(const TextIds& text, std::int64_t rows, std::int64_t length);

/// Entropies in nats of the labels of a plan, counted from the very (input, label) pairs that a
/// model is trained on.
struct Entropies {
  double unigram = 0;  ///< of the label alone
  double bigram = 0;   ///< of the label given the current token: the floor of mixer none
  std::int64_t pairs = 0;
};
Entropies count_entropies(const text::TokenStream& stream, const text::WindowPlan& plan,
                          std::int64_t vocab_size);

}  // namespace lexirow::experiment
