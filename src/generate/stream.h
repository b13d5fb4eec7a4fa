#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "context/mixer.h"
#include "model/config.h"
#include "model/parameters.h"

namespace lexirow::generate {

/// One sequence, one token at a time. State O(D) (none, mean, each rate of decay) or O(W*D)
/// (window, concat, all with a context limit); the cost of a token does not depend on how many came
/// before. Reading a token costs O(D); the MLP and the head run only when their result is asked
/// for. Batch and streaming agree to 1e-5. Where the model has positions, those of the tokens begin
/// anew after max_positions of them, as in training; a limit forgets rows but renumbers none.
class Stream {
 public:
  /// Borrows pool, config and parameters. `context_limit` 0: as far as the mixer looks; else what
  /// is further back than that many tokens is forgotten. Throws Error(argument) for a leaky mixer
  /// (it cannot stream) and for a negative limit.
  Stream(base::ThreadPool& pool, const model::ModelConfig& config,
         const model::Parameters<float>& parameters, std::int64_t context_limit = 0);

  /// Reads the next token (checked: Error(index)).
  void push(Id id);
  /// Scores of the token after the last one pushed, [V]. Before any push: those of an empty history
  /// (a context of zeros). Scores of pad and surplus rows are among them.
  const std::vector<float>& logits();
  /// The hidden state that the head reads, [D].
  base::View1<const float> hidden();
  /// Tokens read so far.
  std::int64_t position() const { return position_; }
  /// Tokens that the next scores depend on: position(), or what the mixer or the limit leaves of
  /// it.
  std::int64_t visible() const;
  /// Forgets every token.
  void reset();

 private:
  const float* ring_row(std::int64_t position) const;
  std::int64_t visible_to(const context::MixerPart& part) const;
  void push_running(const float* row);
  void push_ring(const float* row);
  void mix();
  void mix_window(const context::MixerPart& part, float* out) const;
  void run_mlp();
  double* running_state(std::size_t average);

  base::ThreadPool& pool_;
  const model::ModelConfig& config_;
  const model::Parameters<float>& parameters_;
  std::int64_t context_limit_ = 0;  // tokens that may be looked back on; 0: no limit
  std::int64_t limit_ = 0;          // rows that can be seen; 0: no limit
  std::int64_t position_ = 0;
  std::vector<float> last_row_;    // [D] of the last token, with what its position adds
  std::int64_t ring_rows_ = 0;     // of the last rows, as many as a part looks back on one by one
  std::vector<float> ring_;        // [min(position, ring_rows_), D]
  std::vector<double> rates_;      // [S] of the running averages (mean: 1, decay)
  std::vector<double> running_;    // [S, 1 + D] of each the weights' sum and the weighted sum
  std::vector<double> next_sums_;  // [S, D] of the rows since the limit went by, where there is one
  logits::MlpViews<const float> mlp_;
  std::vector<float> context_, state_, layer_, normed_, hidden_, logits_;
  bool hidden_fresh_ = false;  // hidden_ belongs to position_
  bool logits_fresh_ = false;
};

}  // namespace lexirow::generate
