#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "store/model_folder.h"
#include "text/windows.h"
#include "train/corpus_preparation.h"
#include "train/history.h"
#include "train/settings.h"
#include "train/train.h"
#include "train/trainer.h"

namespace lexirow::train {

/// What the user has fixed, so that it is not adapted to the text.
struct Fixed {
  bool context = false;
  bool eval_every = false;
  bool save_seconds = false;
};

/// One run over a prepared corpus: what is held out, how many steps, the loop with its log lines,
/// evaluations and checkpoints, and the end.
class Run {
 public:
  /// Splits the corpus. A context that is too long for it is an Error(file) where it is fixed, else
  /// it is shortened and said. `stop` ends begin() and resume() with text::Stopped, and go() with a
  /// result that can be resumed.
  Run(base::ThreadPool& pool, Settings settings, const Fixed& fixed, store::ModelFolder& folder,
      const PreparedCorpus& corpus, const TrainEvents& events, const std::atomic<bool>& stop);

  /// A new run: draws the parameters, decides the steps, says the full command.
  ///   rows  put over those that are drawn; null: none
  void begin(const StartRows* rows = nullptr);
  /// Goes on from the folder's resume state.
  void resume();
  TrainResult go();

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_between(Clock::time_point from, Clock::time_point to);

  void split();
  void fit_context(std::int64_t end);
  void say_short_pieces() const;
  void hold_out(std::int64_t begin);
  std::int64_t steps_to_make();
  std::int64_t steps_in_minutes(double minutes, double& step_seconds);
  double probe_step();
  double probe_evaluation();
  void space_evaluations(double step_seconds, double evaluation_seconds);
  /// Says where a resumed run stands; `trained_for` are the steps it was to make before.
  void say_resumed(std::int64_t trained_for) const;
  void record_settings();
  std::string command() const;

  void one_step();
  [[noreturn]] void explain_divergence(std::int64_t step, const std::string& what) const;
  bool out_of_patience() const;
  void after_step();
  double measure_rate();
  void log_step(bool at_end);
  std::optional<double> evaluate_if_due();
  std::optional<double> evaluate(bool at_end);
  void follow_plateau(double loss);
  void report(std::optional<double> validation_loss);
  /// Whether it is time for a checkpoint.
  bool is_save_due() const;
  void checkpoint();
  TrainResult finish(bool interrupted);

  base::ThreadPool& pool_;
  Settings settings_;
  Fixed fixed_;
  store::ModelFolder& folder_;
  const PreparedCorpus& corpus_;
  const TrainEvents& events_;
  const std::atomic<bool>& stop_;

  std::unique_ptr<text::WindowPlan> train_plan_;
  std::unique_ptr<PreparedCorpus> validation_corpus_;  // of --validation-file
  const text::TokenStream* validation_stream_ = nullptr;
  std::unique_ptr<text::WindowPlan> validation_plan_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<History> history_;

  Clock::time_point start_;
  double evaluation_seconds_ = 0;  // left out of the rates
  std::int64_t first_step_ = 0;
  std::int64_t tokens_at_start_ = 0;
  // The recent rate is measured from here.
  double mark_seconds_ = 0;
  std::int64_t mark_tokens_ = 0;
  std::int64_t mark_step_ = 0;
  double tokens_per_second_ = 0;
  double seconds_per_step_ = 0;
  Clock::time_point last_save_;
  double save_cost_ = 0;  // seconds that it took
  std::int64_t saved_step_ = -1;
  std::optional<double> validation_loss_;
};

}  // namespace lexirow::train
