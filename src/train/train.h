#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "files/overwriting.h"
#include "train/settings.h"

namespace lexirow::train {

/// What a user asks of `train`.
struct TrainRequest {
  std::vector<std::string> corpus;  ///< files, folders, "-"; may be empty with `resume`
  std::string out;                  ///< the model folder
  Given given;                      ///< settings stated by the user, in order
  int threads = 1;
  bool resume = false;
  bool force = false;
  std::string save_vectors;  ///< a file for the rows, written when the run is complete; empty: none
};

/// What a run tells while it goes on.
struct Progress {
  std::int64_t step = 0;
  std::int64_t steps = 0;
  double train_loss = 0;                  ///< mean per counted label since the last log line
  std::optional<double> validation_loss;  ///< set when an evaluation has just been made
  double learning_rate = 0;
  std::int64_t tokens = 0;
  double tokens_per_second = 0;  ///< recent rate by the wall clock, evaluation left out
  double seconds = 0;
  double seconds_left = 0;  ///< by the recent rate, never negative
};

struct TrainEvents {
  std::function<void(const std::string&)> notice;  ///< one line for people, no line end
  std::function<void(const Progress&)> progress;   ///< every `log-every` steps and evaluations
};

struct TrainResult {
  std::int64_t steps = 0;
  std::int64_t first_step = 0;  ///< steps made before this session, which tokens and losses include
  double train_loss = 0;
  std::optional<double> validation_loss;  ///< of the weights written
  std::int64_t tokens = 0;
  double tokens_per_second = 0;
  double seconds = 0;
  std::int64_t peak_memory_bytes = 0;
  std::int64_t vocab_size = 0;
  std::int64_t parameters = 0;
  std::string model;
  bool leaks = false;        ///< its mixer reads the tokens it predicts (--allow-leak)
  bool interrupted = false;  ///< stopped by `stop`; saved, to be resumed
  /// Stopped while the text was still being read: a new run has left nothing behind, a resumed one
  /// its folder as it was; there is nothing else to tell.
  bool stopped_reading = false;
};

/// Refuses files beside the model that the run is to write (such as a log) and that it reads: its
/// texts, table and tokenizer, by the request or, of a run that goes on, as they are stored; and
/// the names of the model's own files. Throws Error(argument).
void refuse_overwriting(const TrainRequest& request, const std::vector<files::NamedPath>& outputs);

/// Trains a model and writes its folder. `stop` may be set from a signal handler: the run then ends
/// within a second or after the current step, saved where a step could have been made. Throws
/// Error; a non-finite loss is Error(numeric) naming step, rows, text lines, learning rate and the
/// last good checkpoint.
TrainResult train(const TrainRequest& request, const TrainEvents& events,
                  const std::atomic<bool>& stop);

}  // namespace lexirow::train
