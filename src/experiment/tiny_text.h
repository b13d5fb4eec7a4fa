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
  std::int64_t vocab_size() const { return tokenizer->vocab_size(); }
  std::unique_ptr<text::MemoryTokenStream> stream() const;
};

/// By characters or words (unicode split, every word kept). Throws Error(file) for an empty text.
TextIds encode_text(std::string_view text, text::TokenizerKind kind);

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
