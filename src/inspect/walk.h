#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "inspect/mixing.h"
#include "store/model_folder.h"
#include "text/tokenizer.h"

namespace lexirow::inspect {

/// Which position of a text is walked, and how its scores become probabilities.
struct WalkOptions {
  std::optional<std::int64_t> position;  ///< from 0; absent: the last one that is not left out
  std::int64_t top_k = 10;               ///< scores listed; above V all of them
  double temperature = 1;                ///< 0: the most likely token has all the probability
  std::vector<std::int64_t> without;     ///< positions left out, masked as padding is
};

/// One next token with its score.
struct WalkScore {
  Id id = kNoId;
  float logit = 0;
  double probability = 0;
};

/// A text on its way through a model, seen at one position. T tokens, D, F, V as in docs/shapes.md.
struct Walk {
  std::vector<text::Piece> pieces;     ///< [T] the tokens that were read
  std::optional<std::int64_t> cut_at;  ///< byte of the text from which on nothing was read
  std::vector<std::uint8_t> mask;      ///< [T] 1 visible, 0 left out or padding
  std::int64_t position = 0;           ///< the one that is walked
  base::Array<float> rows;             ///< [T, D] of the table
  base::Array<float> position_rows;    ///< [T, D] what is added to them; empty without positions
  std::vector<MixingPart> mixing;      ///< what the context is made of, in its order
  std::vector<double> weights;         ///< [T] of mixing_weights()
  bool sees_future = false;            ///< the mixer reads later positions
  std::vector<float> context;          ///< [F] the mixed rows
  double context_norm = 0;             ///< Euclidean, as all norms here
  std::vector<float> hidden;           ///< [D] what the head reads
  double hidden_norm = 0;
  std::int64_t top_k = 0;  ///< as asked for, at most what can follow
  double temperature = 1;
  std::vector<WalkScore> top;    ///< by falling score, ties by id
  double other_probability = 0;  ///< of all tokens that are not in `top`
  double entropy_bits = 0;       ///< of the probabilities of all tokens
  std::string chosen_by;         ///< how the next token is chosen at this temperature

  /// Row of the table that the token at `position` picked, [D].
  base::View1<const float> row(std::int64_t at) const;
  /// What its position adds to that row where it is visible, [D]; absent without positions.
  base::View1<const float> position_row(std::int64_t at) const;
  /// Rows that the context is made of.
  std::int64_t visible() const;
};

/// Numbers of a row, a context or a hidden state that a picture or an answer shows; more would bury
/// the text.
inline constexpr std::size_t kFirstValues = 8;
/// Tokens that are read at most; of a large vocabulary fewer, so that the scores fit in 512 MiB.
inline constexpr std::int64_t kMostWalkTokens = 1024;

/// Runs a text through the model and keeps what it made of one position. The numbers are those of
/// model::hidden_states and the head over the whole text as one sequence [1, T]: the scores of a
/// visible position equal its row of model::all_logits bit for bit. The hidden state of a position
/// that is left out, or is padding, is zero. A tied pad row takes no part in the probabilities.
///   pieces  [T]  in   of the text, ids of this model
/// Throws Error(argument) without a token, for top_k below 1 and a temperature below 0 or not
/// finite; Error(index) for positions outside the text; Error(numeric) for a score that is not
/// finite.
Walk walk(base::ThreadPool& pool, const store::ModelFolder& folder,
          std::span<const text::Piece> pieces, const WalkOptions& options);

/// Euclidean norm, summed in double.
double norm(base::View1<const float> values);

/// The walk as `lexirow walk --json` and the browser view give it.
nlohmann::ordered_json to_json(const store::ModelFolder& folder, const Walk& walk);

}  // namespace lexirow::inspect
