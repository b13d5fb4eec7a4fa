#include "train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/system.h"
#include "base/wording.h"
#include "context/mixer.h"
#include "lexirow/error.h"
#include "store/training_state.h"
#include "text/corpus.h"
#include "train/derive.h"
#include "train/evaluate.h"
#include "train/presets.h"
#include "train/sizes.h"

namespace lexirow::train {

double Run::seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

Run::Run(base::ThreadPool& pool, Settings settings, const Fixed& fixed, store::ModelFolder& folder,
         const PreparedCorpus& corpus, const TrainEvents& events, const std::atomic<bool>& stop)
    : pool_(pool),
      settings_(std::move(settings)),
      fixed_(fixed),
      folder_(folder),
      corpus_(corpus),
      events_(events),
      stop_(stop) {
  split();
  trainer_ = std::make_unique<Trainer>(pool_, settings_, folder_, *corpus_.stream, *train_plan_);
  trainer_->state().fingerprint = corpus_.fingerprint;
}

void Run::split() {
  const std::int64_t begin = training_end(*corpus_.stream, settings_);
  fit_context(begin);
  train_plan_ = std::make_unique<text::WindowPlan>(*corpus_.stream, 0, begin,
                                                   window_options(settings_, true));
  if (train_plan_->short_documents() + train_plan_->split_documents() > 0 &&
      settings_.documents == "line") {
    events_.notice(
        fmt::format("{} lines: {} have fewer than 2 tokens and are skipped, {} are longer than the "
                    "context ({}) "
                    "and read in pieces",
                    train_plan_->documents(), train_plan_->short_documents(),
                    train_plan_->split_documents(), settings_.context));
  }
  say_short_pieces();
  hold_out(begin);
}

/// A context that looks back further than a piece reaches is not trained there, but generating
/// reads on.
void Run::say_short_pieces() const {
  const std::int64_t back = context::carried_rows(folder_.config.mixer);
  if (settings_.carry || back < settings_.context) return;
  events_.notice(fmt::format(
      "--mixer {} looks back {}, but a piece has {} (--context) with nothing before it: "
      "what lies further back is never trained and not in the held-out losses, yet "
      "generate reads it; give --carry, or a longer --context",
      settings_.mixer, base::counted(back, "token"), settings_.context));
}

void Run::fit_context(std::int64_t end) {
  const text::WindowPlan whole(*corpus_.stream, 0, end, window_options(settings_, false));
  const std::int64_t longest = whole.longest_document();
  if (longest < 2) {
    throw Error(ErrorKind::file,
                fmt::format("the corpus has {} to train on, the longest {} {} long; at least "
                            "2 in one {} are needed, since the first is not predicted",
                            base::counted(whole.tokens(), "token"),
                            settings_.documents == "line" ? "line is" : "file is", longest,
                            settings_.documents == "line" ? "line" : "file"));
  }
  if (settings_.documents == "line" || settings_.context <= longest - 1) return;
  if (fixed_.context) {
    throw Error(ErrorKind::file,
                fmt::format("--context {}: the corpus is too short: its longest file has {} to "
                            "train on; the largest usable context is {}",
                            settings_.context, base::counted(longest, "token"), longest - 1));
  }
  events_.notice(fmt::format("context {} instead of {}: the longest file has {} to train on",
                             longest - 1, settings_.context, base::counted(longest, "token")));
  settings_.context = longest - 1;
  settings_.stride = std::min(settings_.stride, settings_.context);
  if (folder_.config.max_positions == 0) return;
  folder_.config.max_positions = settings_.context;  // positions begin anew where pieces do
  folder_.parameters = model::Parameters<float>(folder_.config);
}

void Run::hold_out(std::int64_t begin) {
  if (!settings_.validation_file.empty()) {
    const Reading reading{events_.notice, &stop_};
    validation_corpus_ = std::make_unique<PreparedCorpus>(
        prepare_corpus(text::list_corpus({settings_.validation_file}, &stop_), settings_,
                       *folder_.tokenizer, folder_.path + "/" + store::kTrainingFolder, reading));
    validation_stream_ = validation_corpus_->stream.get();
    begin = 0;
  } else {
    validation_stream_ = corpus_.stream.get();
  }
  validation_plan_ = std::make_unique<text::WindowPlan>(
      *validation_stream_, begin, validation_stream_->size(), window_options(settings_, false));
  if (validation_plan_->size() > 0) return;
  const bool asked = validation_fraction(settings_) > 0 || !settings_.validation_file.empty();
  validation_plan_.reset();
  if (!asked) return;
  if (!settings_.validation_file.empty()) {
    throw Error(
        ErrorKind::file,
        fmt::format("--validation-file {}: got {}, expected a text in which at "
                    "least one follows another",
                    settings_.validation_file, base::counted(validation_stream_->size(), "token")));
  }
  settings_.patience = 0;  // there is nothing to be patient about
  events_.notice("nothing is held out: the part would have fewer than 2 tokens");
}

void Run::begin(const StartRows* rows) {
  start_ = Clock::now();
  trainer_->start_from(rows);
  trainer_->draw();
  trainer_->state().steps = steps_to_make();
  trainer_->state().schedule_steps =
      settings_.schedule_steps > 0 ? settings_.schedule_steps : trainer_->state().steps;
  record_settings();
  events_.notice(fmt::format("lexirow {} --out {}", command(), base::shell_word(folder_.path)));
  history_ = std::make_unique<History>(folder_.path + "/" + store::kHistoryFile, command());
  checkpoint();  // from here on the folder can be resumed, whatever happens
}

void Run::resume() {
  start_ = Clock::now();
  nlohmann::json progress;
  const auto load = [&] {
    std::vector<store::StateTensor> tensors;
    for (const Trainer::Tensor& tensor : trainer_->tensors()) {
      tensors.push_back({tensor.name, tensor.values});
    }
    store::load_training_state(folder_.path, tensors, folder_.ledger, progress);
    trainer_->state() = run_state_from_json(progress, folder_.path + "/" + store::kStateFile);
    trainer_->set_optimizer_steps(trainer_->state().step);
  };
  load();
  RunState& state = trainer_->state();
  if (state.fingerprint != corpus_.fingerprint) {
    throw Error(
        ErrorKind::file,
        "--resume: the corpus is not the one this model was trained on (its tokens differ); "
        "give the same text, or train anew with --force");
  }
  saved_step_ = state.step;
  const std::int64_t trained_for = state.steps;
  const std::int64_t steps = steps_to_make();
  load();  // a probe has moved the weights
  state.steps = std::max(steps, state.step);
  if (settings_.schedule_steps > 0) state.schedule_steps = settings_.schedule_steps;
  record_settings();
  say_resumed(trained_for);
  history_ =
      std::make_unique<History>(folder_.path + "/" + store::kHistoryFile, command(), state.step);
}

void Run::say_resumed(std::int64_t trained_for) const {
  const RunState& state = trainer_->state();
  if (out_of_patience()) {
    events_.notice(
        fmt::format("nothing to do: --patience {} stopped this run at step {} of {}, after {} "
                    "without gain since step {}; a larger --patience goes on",
                    settings_.patience, state.step, trained_for,
                    base::counted(state.without_gain, "held-out loss"), state.best_step));
    return;
  }
  if (state.step >= state.steps) {
    events_.notice(
        fmt::format("nothing to do: this run is complete at step {}; --steps N with a "
                    "larger N goes on",
                    state.step));
    return;
  }
  events_.notice(fmt::format("going on at step {} of {}", state.step, state.steps));
  if (settings_.schedule_steps == 0 || state.steps <= state.schedule_steps) return;
  events_.notice(
      fmt::format("the {} schedule ends at step {}: behind it the learning rate stays at "
                  "{:.2e}; --schedule-steps {} makes it as long as the run",
                  settings_.schedule, state.schedule_steps, trainer_->rate_of(state.schedule_steps),
                  state.steps));
}

void Run::record_settings() {
  const RunState& state = trainer_->state();
  settings_.steps = state.steps;
  settings_.epochs = 0;
  settings_.minutes = 0;
  // With a constant rate the length of the schedule changes nothing, so it is not part of the run.
  const bool level = settings_.schedule == "constant" || settings_.schedule == "plateau";
  settings_.schedule_steps = level && warmup_steps(settings_, 100) == 0 ? 0 : state.schedule_steps;
  folder_.settings["train"] = settings_to_json(settings_);
}

std::string Run::command() const {
  std::string text = "train";
  for (const std::string& path : stored_corpus(folder_))
    text += fmt::format(" {}", base::shell_word(path));
  return text + " --preset plain " + setting_arguments(settings_);
}

TrainResult Run::go() {
  RunState& state = trainer_->state();
  start_ = last_save_ = Clock::now();
  tokens_at_start_ = mark_tokens_ = state.tokens;
  mark_step_ = first_step_ = state.step;
  if (const auto validation_loss = evaluate_if_due()) report(validation_loss);
  while (state.step < state.steps && !out_of_patience()) {
    if (stop_.load()) return finish(true);
    one_step();
    after_step();
  }
  return finish(false);
}

void Run::one_step() {
  try {
    trainer_->step();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numeric) throw;
    explain_divergence(trainer_->state().step + 1, error.what());
  }
}

void Run::explain_divergence(std::int64_t step, const std::string& what) const {
  std::vector<std::int64_t> begins = trainer_->last_begins();
  std::sort(begins.begin(), begins.end());
  begins.resize(std::min<std::size_t>(begins.size(), 3));
  std::string places;
  for (const text::TokenPlace& place : text::locate_tokens(
           corpus_.files, corpus_rules(settings_), *folder_.tokenizer,
           encode_rules(settings_, *folder_.tokenizer), document_rules(settings_), begins)) {
    const std::string name = fmt::format("{}:{}", place.path, place.line);
    if (places.ends_with(name)) continue;
    places += (places.empty() ? "" : ", ") + name;
  }
  const std::string kept =
      saved_step_ > 0
          ? fmt::format("the last good checkpoint, of step {}, is kept in {}", saved_step_,
                        folder_.path)
          : fmt::format("no step had been saved yet, {} holds the weights as drawn", folder_.path);
  throw Error(ErrorKind::numeric,
              fmt::format("training stopped at step {}: {}. Learning rate {:.3g}; the batch has {} "
                          "rows, among them those that begin at {}; {}. Try a lower --lr, --clip 1 "
                          "or a --warmup",
                          step, what, trainer_->learning_rate(), trainer_->last_begins().size(),
                          places, kept));
}

bool Run::out_of_patience() const {
  return settings_.patience > 0 && trainer_->state().without_gain >= settings_.patience;
}

// Log lines, evaluation and checkpoints that fall on this step.
void Run::after_step() {
  RunState& state = trainer_->state();
  const bool log = state.step % settings_.log_every == 0;
  if (log) log_step(false);
  state.evaluation_due = validation_plan_ != nullptr && settings_.eval_every > 0 &&
                         state.step % settings_.eval_every == 0;
  const std::optional<double> validation_loss = evaluate_if_due();
  if (log || validation_loss) report(validation_loss);
  const bool by_steps = settings_.save_every > 0 && state.step % settings_.save_every == 0;
  if ((by_steps || is_save_due()) && state.step < state.steps) checkpoint();
  if (!out_of_patience()) return;
  events_.notice(fmt::format("stopped at step {}: {} held-out losses without gain since step {}",
                             state.step, state.without_gain, state.best_step));
}

// The recent rate, over half a second at least; returns the seconds of the loop without
// evaluations.
double Run::measure_rate() {
  const RunState& state = trainer_->state();
  const double seconds = seconds_between(start_, Clock::now()) - evaluation_seconds_;
  const bool moved = state.step > mark_step_;  // else only a checkpoint has passed
  if (moved && (seconds - mark_seconds_ > 0.5 || tokens_per_second_ == 0)) {
    const double passed = std::max(seconds - mark_seconds_, 1e-9);
    tokens_per_second_ = static_cast<double>(state.tokens - mark_tokens_) / passed;
    seconds_per_step_ = passed / static_cast<double>(state.step - mark_step_);
    mark_seconds_ = seconds;
    mark_tokens_ = state.tokens;
    mark_step_ = state.step;
  }
  return seconds;
}

void Run::log_step(bool at_end) {
  RunState& state = trainer_->state();
  if (state.loss_count == 0) return;
  state.train_loss = state.loss_sum / static_cast<double>(state.loss_count);
  if (!at_end) {  // an end that falls between two log lines leaves the sums for a resumed run
    state.loss_sum = 0;
    state.loss_count = 0;
  }
  const double seconds = measure_rate();
  nlohmann::ordered_json line = {{"step", state.step},
                                 {"train_loss", state.train_loss},
                                 {"learning_rate", trainer_->learning_rate()},
                                 {"tokens", state.tokens},
                                 {"tokens_per_second", std::round(tokens_per_second_)},
                                 {"seconds", std::round(seconds * 1000) / 1000}};
  if (at_end) line["at_end"] = true;
  history_->append(line);
}

std::optional<double> Run::evaluate_if_due() {
  RunState& state = trainer_->state();
  if (!state.evaluation_due || !validation_plan_) return std::nullopt;
  const std::optional<double> loss = evaluate(false);
  state.evaluation_due = !loss;
  return loss;
}

// Nothing where it was stopped: it is then as if it had not been begun.
std::optional<double> Run::evaluate(bool at_end) {
  const Clock::time_point before = Clock::now();
  const double loss =
      evaluate_windows(pool_, settings_, folder_.config, folder_.parameters, *validation_stream_,
                       *validation_plan_, settings_.batch, trainer_->workspace(),
                       [&](std::int64_t) { return stop_.load(); })
          .loss.mean();
  if (stop_.load()) return std::nullopt;
  RunState& state = trainer_->state();
  if (!std::isfinite(loss)) {
    explain_divergence(state.step, "the held-out loss is not a finite number");
  }
  nlohmann::ordered_json line = {{"step", state.step}, {"validation_loss", loss}};
  if (at_end) line["at_end"] = true;
  history_->append(line);
  if (settings_.patience > 0) {
    if (loss < state.best_loss) {
      state.best_loss = loss;
      state.best_step = state.step;
      state.without_gain = 0;
      trainer_->keep_best();
    } else {
      ++state.without_gain;
    }
  }
  if (settings_.schedule == "plateau") follow_plateau(loss);
  validation_loss_ = loss;
  evaluation_seconds_ += seconds_between(before, Clock::now());
  return loss;
}

// Halves the rate after so many held-out losses in a row that were no better than the best.
void Run::follow_plateau(double loss) {
  RunState& state = trainer_->state();
  if (loss < state.plateau_loss) {
    state.plateau_loss = loss;
    state.plateau_waits = 0;
    return;
  }
  if (++state.plateau_waits < settings_.plateau) return;
  state.plateau_waits = 0;
  ++state.halvings;
  events_.notice(fmt::format("step {}: {} without gain, the learning rate is halved to {:.3g}",
                             state.step, base::counted(settings_.plateau, "held-out loss"),
                             trainer_->learning_rate() / 2));
}

void Run::report(std::optional<double> validation_loss) {
  if (!events_.progress) return;
  measure_rate();
  const RunState& state = trainer_->state();
  Progress progress;
  progress.step = state.step;
  progress.steps = state.steps;
  progress.train_loss = state.loss_count > 0
                            ? state.loss_sum / static_cast<double>(state.loss_count)
                            : state.train_loss;
  progress.validation_loss = validation_loss;
  progress.learning_rate = trainer_->learning_rate();
  progress.tokens = state.tokens;
  progress.tokens_per_second = tokens_per_second_;
  progress.seconds = seconds_between(start_, Clock::now());
  progress.seconds_left =
      std::max(0.0, seconds_per_step_ * static_cast<double>(state.steps - state.step));
  events_.progress(progress);
}

// Where a disk is slow, checkpoints of a large model would take a quarter of the time: they are to
// take a twentieth at most, unless the seconds were given.
bool Run::is_save_due() const {
  if (settings_.save_seconds == 0) return false;
  constexpr double kWorkBySaving = 19;
  const double wait = fixed_.save_seconds
                          ? settings_.save_seconds
                          : std::max(settings_.save_seconds, kWorkBySaving * save_cost_);
  return seconds_between(last_save_, Clock::now()) >= wait;
}

void Run::checkpoint() {
  const Clock::time_point before = Clock::now();
  try {
    trainer_->check_last_batch();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numeric) throw;
    explain_divergence(trainer_->state().step, error.what());
  }
  std::vector<store::StateTensor> tensors;
  for (const Trainer::Tensor& tensor : trainer_->tensors()) {
    tensors.push_back({tensor.name, tensor.values});
  }
  // The model first: it is refused when a weight is not finite, and a state newer than the model is
  // what must not be, since a resumed run reads everything from the state.
  folder_.settings[store::kPasses] = static_cast<double>(trainer_->state().step) /
                                     static_cast<double>(trainer_->batches_per_epoch());
  store::save_model(folder_);
  store::save_training_state(folder_.path, tensors, folder_.ledger, to_json(trainer_->state()));
  saved_step_ = trainer_->state().step;
  last_save_ = Clock::now();
  save_cost_ = seconds_between(before, last_save_);
}

TrainResult Run::finish(bool interrupted) {
  RunState& state = trainer_->state();
  const double loop_seconds = seconds_between(start_, Clock::now()) - evaluation_seconds_;
  checkpoint();
  const bool logged = state.step % settings_.log_every == 0;
  if (!logged) log_step(true);
  const bool evaluated =
      settings_.eval_every > 0 && state.step % settings_.eval_every == 0 && !state.evaluation_due;
  if (!interrupted && !evaluated && validation_plan_) interrupted = !evaluate(true);
  if (settings_.patience > 0 && std::isfinite(state.best_loss)) {
    trainer_->use_best();
    validation_loss_ = state.best_loss;
    store::save_model(folder_);
  }
  if (!logged || !evaluated) report(interrupted || evaluated ? std::nullopt : validation_loss_);

  TrainResult result;
  result.steps = state.step;
  result.first_step = first_step_;
  result.train_loss = state.train_loss;
  if (!interrupted || evaluated) result.validation_loss = validation_loss_;
  result.tokens = state.tokens;
  result.seconds = loop_seconds;
  result.tokens_per_second =
      static_cast<double>(state.tokens - tokens_at_start_) / std::max(loop_seconds, 1e-9);
  result.peak_memory_bytes = base::peak_memory_bytes();
  result.vocab_size = folder_.config.vocab_size;
  result.parameters = folder_.parameters.count();
  result.model = folder_.path;
  result.leaks = context::leaks_future(folder_.config.mixer);
  result.interrupted = interrupted;
  return result;
}

}  // namespace lexirow::train
