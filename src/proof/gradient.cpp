#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "context/mixer.h"
#include "proof/examination.h"

namespace lexirow::proof {
namespace {

// DESIGN section 2: |a-n| <= 1e-6 max(|a|,|n|) + 1e-9 an entry, ||a-n|| <= 1e-6 (||a||+||n||) a
// tensor, with this step.
constexpr double kEps = 1e-5;
constexpr double kRelative = 1e-6;
constexpr double kAbsolute = 1e-9;
constexpr std::size_t kEntries = 200;

// What float32 may lose of a tensor's gradient. Its vector code is other code than that of float64,
// which the differences prove. Measured: 3e-7 in trained models; large scores lose more.
constexpr double kSingleRelative = 1e-4;
constexpr double kSingleAbsolute = 1e-7;

// The model runs 2400 times or more: above these sizes on less text.
constexpr std::int64_t kManyParameters = std::int64_t{1} << 17;
constexpr std::int64_t kShort = 8;

// The slope jumps where an input of ReLU crosses zero. A difference over a crossing is of neither
// side, so one that disagrees is tried again with steps that reach less far.
constexpr double kSmallerSteps[] = {1e-6, 1e-7};

/// The largest difference over its limit, and where it stands. Not-a-number counts as largest.
struct Worst {
  double ratio = 0;
  std::string where = "all are zero";

  void add(double new_ratio, const std::string& place) {
    if (std::isnan(ratio) || new_ratio <= ratio) return;
    ratio = new_ratio;
    where = place;
  }
};

double entry_ratio(double analytic, double numeric) {
  const double limit = kRelative * std::max(std::abs(analytic), std::abs(numeric)) + kAbsolute;
  return std::abs(analytic - numeric) / limit;
}

/// The central difference that agrees best: of loss_at(step) with the step of DESIGN, and where the
/// model has kinks with smaller ones until one agrees.
template <class LossAt>
double central_difference(double analytic, bool kinks, const LossAt& loss_at) {
  const auto slope = [&](double step) { return (loss_at(step) - loss_at(-step)) / (2 * step); };
  double best = slope(kEps);
  for (const double step : kSmallerSteps) {
    if (!kinks || entry_ratio(analytic, best) <= 1) break;
    const double next = slope(step);
    if (entry_ratio(analytic, next) < entry_ratio(analytic, best)) best = next;
  }
  return best;
}

/// Up to 200 entries of a tensor of `size`: half of them in rows of `width` that the batch names
/// (where the table and the head have their gradient), the others anywhere.
std::set<std::int64_t> choose_entries(std::int64_t size, std::int64_t width,
                                      const std::vector<Id>& named, base::SplitMix& random) {
  std::set<std::int64_t> entries;
  if (size <= static_cast<std::int64_t>(kEntries)) {
    for (std::int64_t i = 0; i < size; ++i) entries.insert(i);
    return entries;
  }
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random.uniform() * static_cast<double>(end));
  };
  for (int tries = 0; width > 0 && tries < 1000 && entries.size() < kEntries / 2; ++tries) {
    const auto pick = static_cast<std::size_t>(below(static_cast<std::int64_t>(named.size())));
    if (named[pick] >= 0) entries.insert(named[pick] * width + below(width));
  }
  while (entries.size() < kEntries) entries.insert(below(size));
  return entries;
}

/// Earlier rows that the batch carries, as training does for mixers that look back a fixed way.
std::int64_t carried(const Examination& examination) {
  return context::leaks_future(examination.config().mixer)
             ? 0
             : std::min(context::carried_rows(examination.config().mixer),
                        examination.subject.length);
}

/// The batch with units left out as in one step of training, the same ones at every call.
model::BatchView with_dropout(const Examination& examination, const text::Batch& batch) {
  model::BatchView view = view_of(batch);
  view.dropout = {true, examination.subject.seed, 1};
  return view;
}

/// The gradient of a batch after another step with the same memory, as in training: nothing may be
/// left over.
template <Real T>
std::vector<base::Array<T>> second_gradient(const Examination& examination, base::ThreadPool& pool,
                                            const ModelParts<T>& parts,
                                            const model::Parameters<T>& parameters,
                                            const text::Batch& before, const text::Batch& batch,
                                            model::Workspace<T>& workspace) {
  model::Gradients<T> gradients(examination.config());
  for (const text::Batch* step : {&before, &batch}) {
    gradients.clear();
    parts.evaluate_with_gradients(pool, examination.config(), parameters,
                                  with_dropout(examination, *step), workspace, gradients);
  }
  return flat_gradients(parameters, gradients);
}

/// The model in float64 with a batch: its loss and gradient.
class Slope {
 public:
  explicit Slope(const Examination& examination)
      : examination_(examination),
        small_(examination.parameters().count() < kManyParameters),
        batch_(make_batch(examination, small_ ? 3 : 1,
                          examination.slow_head() ? std::min(kShort, examination.subject.length)
                                                  : examination.subject.length,
                          carried(examination))),
        parameters_(model::widen(examination.config(), examination.parameters())) {
    const text::Batch before = batch_;
    hide_some(examination, batch_);
    analytic_ = second_gradient(examination, pool(), examination.parts.wide, parameters_, before,
                                batch_, workspace_);
    model::Workspace<float> workspace;
    single_ = second_gradient(examination, pool(), examination.parts.single,
                              examination.parameters(), before, batch_, workspace);
  }

  model::Parameters<double>& parameters() { return parameters_; }
  const std::vector<base::Array<double>>& analytic() const { return analytic_; }
  /// The same gradient as training computes it.
  const std::vector<base::Array<float>>& single() const { return single_; }
  const text::Batch& batch() const { return batch_; }

  double loss(const model::Parameters<double>& parameters) {
    return examination_.parts.wide
        .evaluate(pool(), examination_.config(), parameters, with_dropout(examination_, batch_),
                  workspace_, {})
        .mean();
  }

  bool kinks() const {
    const model::ModelConfig& config = examination_.config();
    return config.hidden > 0 && config.mlp.activation == logits::Activation::relu;
  }

  /// Central difference of one value of parameters(), whose gradient is said to be `analytic`.
  double along_entry(double analytic, double& value) {
    const double saved = value;
    const double numeric = central_difference(analytic, kinks(), [&](double step) {
      value = saved + step;
      return loss(parameters_);
    });
    value = saved;
    return numeric;
  }

 private:
  /// Waking threads takes longer than running a small model.
  base::ThreadPool& pool() { return small_ ? one_thread_ : examination_.pool; }

  const Examination& examination_;
  base::ThreadPool one_thread_{1};
  bool small_;
  text::Batch batch_;
  model::Parameters<double> parameters_;
  model::Workspace<double> workspace_;
  std::vector<base::Array<double>> analytic_;
  std::vector<base::Array<float>> single_;
};

/// Entries of one tensor, then all of them as one vector.
void check_tensor(Slope& slope, const model::NamedTensor<double>& tensor,
                  const base::Array<double>& analytic, const std::set<std::int64_t>& entries,
                  Worst& worst) {
  double difference = 0;
  double analytic_square = 0;
  double numeric_square = 0;
  for (std::int64_t i : entries) {
    const double a = analytic[i];
    const double n = slope.along_entry(a, tensor.values[i]);
    worst.add(entry_ratio(a, n),
              fmt::format("{} value {}: {:.6g} against {:.6g}", tensor.name, i, a, n));
    difference += (a - n) * (a - n);
    analytic_square += a * a;
    numeric_square += n * n;
  }
  const double norms = std::sqrt(analytic_square) + std::sqrt(numeric_square);
  // Below this the rounding of the loss, 1e-9 an entry, is larger than the limit.
  const double resolved = kAbsolute / kRelative * std::sqrt(static_cast<double>(entries.size()));
  if (norms < resolved) return;
  worst.add(std::sqrt(difference) / (kRelative * norms),
            fmt::format("{} as a whole, norm {:.6g}", tensor.name, std::sqrt(analytic_square)));
}

/// The whole gradient of a tensor in float32 against the one in float64.
void check_single(const std::string& name, const base::Array<double>& wide,
                  const base::Array<float>& single, Worst& worst) {
  double difference = 0;
  double wide_square = 0;
  double single_square = 0;
  for (std::int64_t i = 0; i < wide.size(); ++i) {
    const auto value = static_cast<double>(single[i]);
    difference += (wide[i] - value) * (wide[i] - value);
    wide_square += wide[i] * wide[i];
    single_square += value * value;
  }
  const double limit = kSingleRelative * (std::sqrt(wide_square) + std::sqrt(single_square)) +
                       kSingleAbsolute * std::sqrt(static_cast<double>(wide.size()));
  worst.add(std::sqrt(difference) / limit,
            fmt::format("{} in float32, norm {:.6g} against {:.6g}", name, std::sqrt(single_square),
                        std::sqrt(wide_square)));
}

/// All parameters move at once along one random direction.
void check_direction(const Examination& examination, Slope& slope, Worst& worst) {
  const auto loss_at = [&](double step) {
    model::Parameters<double> moved = model::widen(examination.config(), examination.parameters());
    base::SplitMix random(examination.subject.seed);
    for (const auto& tensor : moved.tensors()) {
      for (double& value : tensor.values) value += step * (2 * random.uniform() - 1);
    }
    return slope.loss(moved);
  };
  double analytic = 0;
  base::SplitMix random(examination.subject.seed);
  for (const base::Array<double>& gradient : slope.analytic()) {
    for (double value : gradient) analytic += value * (2 * random.uniform() - 1);
  }
  const double numeric = central_difference(analytic, slope.kinks(), loss_at);
  worst.add(entry_ratio(analytic, numeric),
            fmt::format("a random direction: {:.6g} against {:.6g}", analytic, numeric));
}

}  // namespace

Verdict check_gradient(const Examination& examination) {
  Slope slope(examination);
  if (slope.batch().counted == 0) return skip("no label counts in the batch");
  std::vector<Id> named = slope.batch().ids;
  named.insert(named.end(), slope.batch().labels.begin(), slope.batch().labels.end());
  base::SplitMix random(examination.subject.seed);
  Worst worst;
  std::size_t checked = 0;
  const auto tensors = slope.parameters().tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool by_token = tensors[i].shape.front() == examination.config().vocab_size;
    const std::int64_t width = by_token ? tensors[i].values.size() / tensors[i].shape.front() : 0;
    const auto entries = choose_entries(tensors[i].values.size(), width, named, random);
    check_tensor(slope, tensors[i], slope.analytic()[i], entries, worst);
    check_single(tensors[i].name, slope.analytic()[i], slope.single()[i], worst);
    checked += entries.size();
  }
  check_direction(examination, slope, worst);
  return judge(worst.ratio, 1,
               fmt::format("The gradients of {} values in {} tensors and along a random direction "
                           "against central differences in float64, as a share of what 1e-6 "
                           "relative and 1e-9 absolute allow, and all of them in float32 against "
                           "float64, as a share of 1e-4; worst at {}.",
                           checked, tensors.size(), worst.where));
}

}  // namespace lexirow::proof
