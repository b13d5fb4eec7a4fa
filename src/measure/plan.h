#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "train/settings.h"
#include "train/sizes.h"

namespace lexirow::measure {

/// What is to be planned: the settings of a run, with a corpus or a size of vocabulary.
struct PlanRequest {
  std::vector<std::string> corpus;  ///< as `train` takes them, but for standard input
  std::int64_t vocab_size = 0;      ///< without a corpus
  train::Given given;               ///< settings stated by the user, in order
  double probe_seconds = 1;         ///< 0: no step is timed
};

/// What a corpus is to a tokenizer.
struct PlannedCorpus {
  std::int64_t tokens = 0;
  std::int64_t unknown = 0;     ///< tokens that became <unk>, or characters that were left out
  std::int64_t untouched = 0;   ///< rows that no batch of these steps reads; of a pass or more,
                                ///< those of tokens that do not occur in what is trained on
  std::int64_t labels = 0;      ///< predicted in one pass over what is trained on
  std::int64_t validation = 0;  ///< predicted in an evaluation
};

/// A parameter of the model.
struct PlannedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
};

struct Plan {
  train::Settings settings;  ///< resolved
  std::string choice;        ///< what a preset chose and why; may be empty
  std::int64_t vocab_size = 0;
  train::Sizes sizes;
  std::vector<PlannedTensor> tensors;
  std::optional<PlannedCorpus> corpus;
  double step_seconds = 0;  ///< 0: no probe ran
  std::string no_probe;     ///< why none ran; empty where one did
  std::int64_t steps = 0;   ///< 0: it hangs on a corpus or a probe that is not there
  std::int64_t tokens = 0;  ///< labels of these steps; 0 as above
  std::optional<double> estimated_seconds;  ///< of training with its evaluations
};

/// Works out what `train` would do; nothing is written. The text is read twice, vocabulary and ids
/// (once more for steps of less than a pass), and not kept: memory is that of the vocabulary. The
/// probe makes real steps of the model on ids that follow Zipf's law, where it fits in memory.
/// Throws Error as train does, for settings and texts that it would refuse.
Plan make_plan(base::ThreadPool& pool, const PlanRequest& request,
               const std::function<void(const std::string&)>& notice);

}  // namespace lexirow::measure
