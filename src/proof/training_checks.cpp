#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "context/mixer.h"
#include "optim/gradient_norm.h"
#include "optim/optimizer.h"
#include "proof/examination.h"
#include "rows/positions.h"
#include "train/model_slots.h"

namespace lexirow::proof {
namespace {

/// What a few training steps leave behind.
struct Run {
  std::vector<double> losses;
  std::vector<base::Array<float>> gradients;  // of the last step
  model::Parameters<float> parameters;
};

/// A short training on one batch, clipped to norm 1.
struct Course {
  model::ModelConfig config;
  model::Parameters<float> parameters;  ///< at the start
  optim::OptimizerConfig optimizer;
  double learning_rate = 0.01;
  int steps = 3;
  /// Runs between backward and step; may be absent.
  std::function<void(model::Gradients<float>&)> before_step;
};

Run train_course(const Parts& parts, base::ThreadPool& pool, const Course& course,
                 const text::Batch& batch) {
  const model::ModelConfig& config = course.config;
  Run run;
  run.parameters = course.parameters;
  model::Gradients<float> gradients(config);
  model::Workspace<float> workspace;
  optim::Slots<float> slots = train::model_slots(config, run.parameters, gradients);
  optim::Optimizer<float> optimizer(course.optimizer, slots);
  for (int step = 0; step < course.steps; ++step) {
    gradients.clear();
    model::BatchView view = view_of(batch);
    view.dropout = {true, 1, static_cast<std::uint64_t>(step)};
    run.losses.push_back(
        parts.single
            .evaluate_with_gradients(pool, config, run.parameters, view, workspace, gradients)
            .sum);
    run.gradients = flat_gradients(run.parameters, gradients);
    if (course.before_step) course.before_step(gradients);
    const double scale = optim::clip_scale(optim::gradient_norm(pool, slots), 1);
    parts.step(optimizer, pool, slots, course.learning_rate, static_cast<float>(scale));
  }
  return run;
}

Course course_of(const Examination& examination, const optim::OptimizerConfig& optimizer) {
  Course course;
  course.config = examination.config();
  course.parameters = examination.parameters();
  course.optimizer = optimizer;
  return course;
}

/// Gives a row a gradient of ones that the backward did not give it.
void force_gradient(Id id, model::Gradients<float>& gradients) {
  if (gradients.dense.token_embedding().present()) {
    const base::View1<float> row = gradients.dense.token_embedding()[id];
    std::fill(row.begin(), row.end(), 1.0F);
    return;
  }
  const rows::TouchedRows<float>& old = gradients.rows;
  rows::TouchedRows<float> forced;
  forced.dim = old.dim;
  forced.ids = old.ids;
  const auto at = std::lower_bound(forced.ids.begin(), forced.ids.end(), id) - forced.ids.begin();
  forced.ids.insert(forced.ids.begin() + at, id);
  forced.values.resize(forced.count() * forced.dim);
  std::copy_n(old.values.data(), at * old.dim, forced.values.data());
  std::fill_n(forced.row(at), forced.dim, 1.0F);
  std::copy_n(old.values.data() + at * old.dim, (old.count() - at) * old.dim, forced.row(at + 1));
  gradients.rows = std::move(forced);
}

/// Every optimizer, with decay and where there is one momentum, in every row mode that applies.
std::vector<optim::OptimizerConfig> optimizers(const model::ModelConfig& config) {
  std::vector<optim::OptimizerConfig> configs;
  for (optim::OptimizerKind kind :
       {optim::OptimizerKind::adamw, optim::OptimizerKind::sgd, optim::OptimizerKind::adagrad,
        optim::OptimizerKind::adagrad_row}) {
    for (optim::RowUpdates updates : {optim::RowUpdates::dense, optim::RowUpdates::lazy}) {
      if (config.tied && updates == optim::RowUpdates::lazy) continue;
      optim::OptimizerConfig optimizer;
      optimizer.kind = kind;
      optimizer.row_updates = updates;
      optimizer.weight_decay = 0.1;
      if (kind == optim::OptimizerKind::sgd) optimizer.momentum = 0.9;
      configs.push_back(optimizer);
    }
  }
  return configs;
}

std::int64_t count_not_zero(const float* values, std::int64_t size) {
  return size - std::count(values, values + size, 0.0F);
}

/// Values of learned positions that have a gradient although only padding stood there, which the
/// mask of a batch without earlier ids tells.
std::int64_t count_positions_of_padding(const Examination& examination, const text::Batch& batch,
                                        const std::vector<base::Array<float>>& gradients) {
  const model::ModelConfig& config = examination.config();
  if (config.positions != rows::Positions::learned) return 0;
  std::vector<bool> read(static_cast<std::size_t>(config.max_positions));
  for (std::size_t i = 0; i < batch.mask.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i) % batch.length;
    const std::int64_t position = rows::position_of(index, config.max_positions);
    if (batch.mask[i] != 0) read[static_cast<std::size_t>(position)] = true;
  }
  std::int64_t wrong = 0;
  for (std::size_t position = 0; position < read.size(); ++position) {
    const auto at = static_cast<std::int64_t>(position) * config.dim;
    // Positions stand behind all other parameters.
    if (!read[position]) wrong += count_not_zero(gradients.back().data() + at, config.dim);
  }
  return wrong;
}

}  // namespace

Verdict check_pad_row(const Examination& examination) {
  const Id pad = examination.config().pad_id;
  if (pad == kNoId) return skip("this model has no pad row");
  const std::int64_t dim = examination.config().dim;
  const float* before = examination.parameters().token_embedding()[pad].data();
  const bool zero = examination.config().pad_policy == model::PadPolicy::zero;
  const std::int64_t at_first = zero ? count_not_zero(before, dim) : 0;
  text::Batch batch = make_batch(examination, 2, examination.subject.length);
  hide_some(examination, batch);
  for (std::int64_t row = 1; row <= batch.rows; ++row) {  // every last position is padding
    batch.mask[static_cast<std::size_t>(row * batch.length - 1)] = 0;
  }
  batch.ids[1] = pad;  // visible here, and still without gradient
  batch.labels[0] = kIgnoredLabel;
  std::int64_t gradients = 0;
  std::int64_t moved = 0;
  const std::vector<optim::OptimizerConfig> configs = optimizers(examination.config());
  for (const optim::OptimizerConfig& config : configs) {
    Course course = course_of(examination, config);
    course.before_step = [&](model::Gradients<float>& all) { force_gradient(pad, all); };
    const Run run = train_course(examination.parts, examination.pool, course, batch);
    gradients += count_not_zero(run.gradients.front().data() + pad * dim, dim);
    gradients += count_positions_of_padding(examination, batch, run.gradients);
    moved += differing_bits(run.parameters.token_embedding()[pad].data(), before, dim);
  }
  const std::string values =
      zero ? fmt::format("{} values are not zero, ", at_first) : "which keeps its values, ";
  return judge(
      static_cast<double>(at_first + gradients + moved), 0,
      fmt::format("Of the pad row (id {}){}, {}{} gradients are not zero, and {} values moved in 3 "
                  "steps of each of {} optimizer settings with decay and momentum, even under a "
                  "gradient that was forced on them.",
                  pad,
                  examination.config().positions == rows::Positions::learned
                      ? " and the positions of padding"
                      : "",
                  values, gradients, moved, configs.size()));
}

Verdict check_determinism(const Examination& examination) {
  // Enough tokens for several tiles of every kind, and for a row that is read more than 256 times.
  const std::int64_t tokens = examination.slow_head() ? 64 : 2048;
  const std::int64_t length = std::max<std::int64_t>(2, examination.subject.length);
  const text::Batch batch = make_batch(examination, (tokens + length - 1) / length, length);
  std::int64_t different = 0;
  std::vector<optim::RowUpdates> modes = {optim::RowUpdates::dense};
  if (!examination.config().tied) modes.push_back(optim::RowUpdates::lazy);
  for (optim::RowUpdates updates : modes) {
    optim::OptimizerConfig optimizer;
    optimizer.row_updates = updates;
    const Course course = course_of(examination, optimizer);
    base::ThreadPool one(1);
    const Run expected = train_course(examination.parts, one, course, batch);
    for (int threads : {1, 2, 4, 4}) {
      base::ThreadPool pool(threads);
      const Run actual = train_course(examination.parts, pool, course, batch);
      different += actual.losses != expected.losses;
      different += differing_bits(expected.parameters, actual.parameters);
      for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
        different += differing_bits(expected.gradients[i].data(), actual.gradients[i].data(),
                                    expected.gradients[i].size());
      }
    }
  }
  return judge(static_cast<double>(different), 0,
               fmt::format("{} losses, gradients and parameters differ between runs with 1, 2 and "
                           "4 threads after 3 AdamW steps on {} tokens{}.",
                           different, batch.counted, modes.size() == 2 ? ", dense and lazy" : ""));
}

Verdict check_label_shift(const Examination& examination) {
  if (context::leaks_future(examination.config().mixer)) {
    return skip("this mixer reads the next token, or the same for all positions");
  }
  // Longer than every window, whose mean over a whole cycle would be the same everywhere. Without a
  // shift a token is followed by itself, with two shifts by the token after the next.
  constexpr Id kCycle = 5;
  constexpr std::int64_t kLength = 2;
  Course course;
  course.config.vocab_size = kCycle;
  course.config.dim = 8;
  course.config.hidden = 16;
  course.config.mixer = examination.config().mixer;
  for (context::MixerPart& part : course.config.mixer.parts) {
    part.window = std::min<std::int64_t>(part.window, 4);
  }
  course.learning_rate = 0.03;
  course.steps = 150;
  model::initialize(course.config, examination.subject.seed, model::Init::torch, course.parameters);
  const std::int64_t carry = context::window_reach(course.config.mixer);
  std::vector<Id> cycle;
  for (Id i = 0; i < 4 * kCycle * kLength + 1; ++i) cycle.push_back(i % kCycle);
  const text::Batch batch = cut_batch(examination.parts, cycle, kLength, carry);
  base::ThreadPool one(1);
  const Run run = train_course({}, one, course, batch);

  // What is asked is put together here, without the code that cut the training text.
  std::vector<Id> ids;
  for (Id first = 0; first < kCycle; ++first) {
    for (std::int64_t t = 0; t < carry + kLength; ++t) {
      ids.push_back(static_cast<Id>((first + t) % kCycle));
    }
  }
  model::BatchView asked;
  asked.ids = {ids.data(), {kCycle, carry + kLength}};
  base::Array<float> logits(kCycle * kLength * kCycle);
  model::Workspace<float> workspace;
  model::all_logits<float>(one, course.config, run.parameters, asked, workspace,
                           logits.view(kCycle * kLength, kCycle));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < kCycle * kLength; ++i) {
    const float* scores = logits.data() + i * kCycle;
    const Id read = asked.ids[i / kLength][carry + i % kLength];
    wrong += std::max_element(scores, scores + kCycle) - scores != (read + 1) % kCycle;
  }
  return judge(
      static_cast<double>(wrong), 0,
      fmt::format("Trained on the tokens 0 1 2 3 4 0 1 and so on, a small model with this "
                  "mixer ends at a loss of {:.2g} and takes another token than the next "
                  "one at {} of {} positions: labels are shifted once, by one.",
                  run.losses.back() / static_cast<double>(batch.counted), wrong, kCycle * kLength));
}

}  // namespace lexirow::proof
