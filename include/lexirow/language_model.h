#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lexirow {

/// How a text is continued.
struct GenerateOptions {
  std::int64_t tokens = 100;  ///< how many new tokens
  double temperature = 1;     ///< 0: always the best token; higher: more surprising
  std::int64_t top_k = 0;     ///< 0: off; else only the k best tokens
  double top_p = 1;           ///< 1: off; else only the best tokens with that much probability
  std::uint64_t seed = 1;     ///< the same seed gives the same text
  bool stop_at_eos = false;   ///< end before the first end-of-text token
};

/// A row near another one.
struct Neighbour {
  std::string token;
  std::int32_t id = 0;
  double cosine = 0;    ///< in [-1, 1]
  double distance = 0;  ///< Euclidean
};

/// A trained model, read from the folder that `lexirow train` wrote. Movable, not copyable. One
/// object may not be used from several threads at once: it owns the threads it computes with.
class LanguageModel {
 public:
  /// Opens a model folder. `threads` 0 means as many as this process may use; results do not
  /// depend on it. Throws Error(io) when a file cannot be read, Error(file) when the path is not a
  /// model folder or a file is damaged, Error(shape) when sizes do not fit together.
  static LanguageModel open(const std::string& path, int threads = 0);

  /// Takes over the other's model; the other may only be destroyed or assigned to.
  LanguageModel(LanguageModel&& other) noexcept;
  /// Takes over the other's model; the other may only be destroyed or assigned to.
  LanguageModel& operator=(LanguageModel&& other) noexcept;
  ~LanguageModel();

  /// Rows of the embedding table (V).
  std::int64_t vocab_size() const;
  /// Width of a row (D).
  std::int64_t dim() const;

  /// Text to ids. Throws Error(argument) naming a token that the vocabulary lacks, unless it has
  /// an unknown token to stand for it.
  std::vector<std::int32_t> encode(std::string_view text) const;
  /// Ids to text. Throws Error(index) for an id outside of the vocabulary.
  std::string decode(const std::vector<std::int32_t>& ids) const;

  /// The embedding of an id, D values. Throws Error(index) for an id outside of the table.
  std::vector<float> row(std::int32_t id) const;
  /// The k rows nearest to a token's by cosine, the token itself left out. Rows without a token and
  /// zero rows are left out too. Throws Error(argument), with close spellings, for a token that
  /// does not exist, or for k below 1; Error(numeric) when the token's row is zero.
  std::vector<Neighbour> nearest(std::string_view token, std::int64_t k = 10) const;

  /// Scores (logits) of every token as the one after `text`, V values. Their softmax is the model's
  /// probability. An empty text gives the scores after an empty history.
  std::vector<float> next_token_scores(std::string_view text) const;
  /// Continues `prompt`; the new text only. Padding and rows without a token are never drawn.
  /// Throws Error(argument) for options out of range.
  std::string generate(std::string_view prompt, const GenerateOptions& options = {}) const;

 private:
  struct State;
  explicit LanguageModel(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace lexirow
