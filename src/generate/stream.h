#pragma once

#include <cstdint>
#include <vector>

#include "base/array.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "model/config.h"
#include "model/parameters.h"

namespace lexirow::generate {

/// One sequence, one token at a time. State O(D) (none, mean) or O(W*D) (window, concat); the cost
/// of a token does not depend on how many came before. Batch and streaming agree to 1e-5.
class Stream {
 public:
  /// Borrows the parameters. `context_limit` 0: as far as the mixer looks; else a mean forgets what
  /// is further back than that. Throws Error(argument) for a leaky mixer: it cannot stream.
  Stream(base::ThreadPool& pool, const model::ModelConfig& config,
         const model::Parameters<float>& parameters, std::int64_t context_limit = 0);

  /// Reads the next token (checked: Error(index)).
  void push(Id id);
  /// Scores of the token after the last one pushed, [V]. Before any push: those of an empty history.
  const std::vector<float>& logits();
  /// The hidden state that the head reads, [D].
  base::View1<const float> hidden();
  std::int64_t position() const { return position_; }
  void reset();

 private:
  void mix(float* context);

  base::ThreadPool& pool_;
  const model::ModelConfig& config_;
  const model::Parameters<float>& parameters_;
  std::int64_t limit_ = 0;            // rows in the ring; 0: no ring
  std::int64_t position_ = 0;
  std::vector<float> ring_;           // [limit, D]
  std::vector<double> sum_;           // [D]
  std::vector<float> context_, before_, activated_, hidden_, logits_;
  bool fresh_ = false;                // logits_ belong to position_
};

}  // namespace lexirow::generate
