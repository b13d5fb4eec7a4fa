#include "proof/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/system.h"
#include "lexirow/error.h"
#include "model/network.h"
#include "proof/examination.h"
#include "train/model_slots.h"
#include "train/sizes.h"

namespace lexirow::proof {
namespace {

constexpr double kFirstStepLimit = 1e-5;
constexpr double kRowSumLimit = 1e-4;
constexpr double kGapFactor = 10;

/// A recorded run while it is trained again.
struct Replay {
  base::ThreadPool& pool;
  const RecordedRun& run;
  const ModelParts<float>& parts;
  model::Parameters<float> parameters;
  model::Gradients<float> gradients;
  model::Workspace<float> workspace;
};

void check_memory(const RecordedRun& run) {
  train::Settings settings;
  settings.batch = run.batch.rows;
  settings.context = run.batch.length;
  settings.optimizer = optim::optimizer_name(run.optimizer.kind);
  settings.momentum = run.optimizer.momentum;
  const std::int64_t needed = train::model_sizes(run.config, settings).training_bytes;
  const std::int64_t available = base::available_memory_bytes();
  if (needed <= available) return;
  throw Error(ErrorKind::file, fmt::format("needs about {:.1f} GiB of memory (V {}, D {}, H {}), "
                                           "but {:.1f} GiB are free",
                                           static_cast<double>(needed) / (1 << 30),
                                           run.config.vocab_size, run.config.dim, run.config.hidden,
                                           static_cast<double>(available) / (1 << 30)));
}

/// The difference of two lists, entry by entry: absolute up to 1, relative above.
ReplayFact compare_values(const std::string& name, const std::vector<double>& got,
                          const std::vector<double>& recorded, double limit) {
  ReplayFact fact;
  fact.name = name;
  fact.limit = limit;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const double difference = std::abs(got[i] - recorded[i]) / std::max(1.0, std::abs(recorded[i]));
    // Written so that a difference that is not a number is the worst and stays it.
    if (difference <= fact.difference || std::isnan(fact.difference)) continue;
    fact.difference = difference;
    worst = i;
  }
  fact.passed = fact.difference <= limit;
  const std::string place = recorded.size() == 1 ? "" : fmt::format(" in place {}", worst);
  fact.text = fmt::format("{}{}: {:.9g} here, {:.9g} recorded, difference {:.2g} (limit {:.2g})",
                          name, place, got[worst], recorded[worst], fact.difference, limit);
  return fact;
}

/// The table's gradient, dense or as touched rows, row by row: `use(id, row)`.
template <typename Use>
void for_each_table_gradient(const Replay& replay, const Use& use) {
  const std::int64_t dim = replay.run.config.dim;
  if (replay.run.config.tied) {
    const base::View2<const float> dense =
        static_cast<const model::Parameters<float>&>(replay.gradients.dense).token_embedding();
    for (std::int64_t id = 0; id < dense.extent(0); ++id) {
      use(static_cast<Id>(id), dense.data() + id * dim);
    }
    return;
  }
  const rows::TouchedRows<float>& touched = replay.gradients.rows;
  for (std::int64_t u = 0; u < touched.count(); ++u) {
    use(touched.ids[static_cast<std::size_t>(u)], touched.row(u));
  }
}

ReplayFact compare_rows(const std::vector<Id>& got, const std::vector<Id>& recorded) {
  std::vector<Id> differing;
  std::set_symmetric_difference(got.begin(), got.end(), recorded.begin(), recorded.end(),
                                std::back_inserter(differing));
  ReplayFact fact;
  fact.name = "embedding_rows_with_gradient";
  fact.difference = static_cast<double>(differing.size());
  fact.passed = differing.empty();
  fact.text = fact.passed ? fmt::format("{}: the same {} rows", fact.name, got.size())
                          : fmt::format(
                                "{}: {} rows here, {} recorded; {} stand in only one of the "
                                "two, the first is row {}",
                                fact.name, got.size(), recorded.size(), differing.size(),
                                differing.front());
  return fact;
}

void compare_table_gradient(const Replay& replay, ReplayResult& result) {
  std::vector<Id> rows;
  double squares = 0;
  for_each_table_gradient(replay, [&](Id id, const float* row) {
    bool any = false;
    for (std::int64_t c = 0; c < replay.run.config.dim; ++c) {
      const double value = row[c];
      squares += value * value;
      any = any || value != 0;
    }
    if (any) rows.push_back(id);
  });
  const FirstStep& recorded = replay.run.first_step;
  result.facts.push_back(compare_rows(rows, recorded.rows_with_gradient));
  result.facts.push_back(compare_values("embedding_grad_norm", {std::sqrt(squares)},
                                        {recorded.embedding_grad_norm}, kFirstStepLimit));
}

/// The first sequence alone is enough for the first position's scores.
void compare_first_logits(Replay& replay, ReplayResult& result) {
  const text::Batch& batch = replay.run.batch;
  const std::array<std::int64_t, 2> first = {1, batch.length};
  const model::BatchView view{{batch.ids.data(), first}, {batch.mask.data(), first}, {}};
  base::Array<float> logits(batch.length * replay.run.config.vocab_size);
  replay.parts.all_logits(replay.pool, replay.run.config, replay.parameters, view, replay.workspace,
                          logits.view(batch.length, replay.run.config.vocab_size));
  const std::vector<double>& recorded = replay.run.first_step.logits;
  const std::vector<double> got(logits.begin(),
                                logits.begin() + static_cast<std::ptrdiff_t>(recorded.size()));
  result.facts.push_back(compare_values("logits_0_0", got, recorded, kFirstStepLimit));
}

void compare_final_rows(const Replay& replay, ReplayResult& result) {
  std::vector<double> sums;
  for (std::int64_t id = 0; id < replay.run.config.vocab_size; ++id) {
    double sum = 0;
    for (const float value : replay.parameters.token_embedding()[id]) sum += value;
    sums.push_back(sum);
  }
  result.facts.push_back(
      compare_values("final_embedding_row_sum", sums, replay.run.final_row_sums, kRowSumLimit));
}

/// Every step: the loss is compared, then the parameters move. Ends early where a loss is not
/// finite: what would follow says nothing.
void train_again(Replay& replay, ReplayResult& result) {
  const RecordedRun& run = replay.run;
  const optim::Slots<float> slots =
      train::model_slots(run.config, replay.parameters, replay.gradients);
  optim::Optimizer<float> optimizer(run.optimizer, slots);
  for (std::size_t step = 0; step < run.losses.size(); ++step) {
    replay.gradients.clear();
    const double loss =
        replay.parts
            .evaluate_with_gradients(replay.pool, run.config, replay.parameters, view_of(run.batch),
                                     replay.workspace, replay.gradients)
            .mean();
    if (step == 0) {
      compare_table_gradient(replay, result);
      compare_first_logits(replay, result);
    }
    ++result.steps;
    const double difference = relative_difference(loss, run.losses[step]);
    if (difference > result.max_loss_difference || !std::isfinite(loss)) {
      result.max_loss_difference = difference;
      result.worst_step = static_cast<std::int64_t>(step);
      result.text = fmt::format(
          "losses: {:.9g} here, {:.9g} recorded at step {}, difference {:.2g} "
          "(limit {:.2g})",
          loss, run.losses[step], step, difference, result.limit);
    }
    if (!std::isfinite(loss)) {
      result.max_loss_difference = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    optimizer.step(replay.pool, slots, run.learning_rate, 1.0F);
  }
  compare_final_rows(replay, result);
}

}  // namespace

bool ReplayResult::passed() const {
  return losses_passed && std::all_of(facts.begin(), facts.end(),
                                      [](const ReplayFact& fact) { return fact.passed; });
}

ReplayResult replay_run(base::ThreadPool& pool, const RecordedRun& run, double tolerance,
                        const ModelParts<float>& parts) {
  if (!(tolerance >= 0)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("replay: the tolerance is {}, expected a number of 0 or more", tolerance));
  }
  ReplayResult result;
  result.name = run.name;
  result.limit = std::max(tolerance, kGapFactor * run.float64_gap);
  result.text = "losses: equal at every step";
  try {
    check_memory(run);
    Replay replay{pool, run, parts, {}, model::Gradients<float>(run.config), {}};
    model::initialize(run.config, run.seed, model::Init::torch, replay.parameters);
    train_again(replay, result);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("case \"{}\": {}", run.name, error.what()));
  }
  result.losses_passed = result.max_loss_difference <= result.limit;
  return result;
}

}  // namespace lexirow::proof
