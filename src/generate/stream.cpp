#include "generate/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "context/mixer.h"
#include "kernels/layer_ops.h"
#include "kernels/mean_ops.h"
#include "kernels/vector_ops.h"
#include "lexirow/error.h"
#include "rows/positions.h"

namespace lexirow::generate {

namespace {

using context::MixerKind;

// out = W x + b for one position: every weight is read once, so memory is the bound and plain dot
// products reach it. Tiles of about 128 KiB of weights: below that, waking a thread costs more.
//   weight  [O, I]  in
//   bias    [O]     in   may be absent
//   x       [I]     in
//   out     [O]     out
void matrix_vector(base::ThreadPool& pool, base::View2<const float> weight,
                   base::View1<const float> bias, const float* x, std::vector<float>& out) {
  constexpr std::int64_t kTileValues = 32768;
  const std::int64_t inputs = weight.extent(1);
  out.resize(static_cast<std::size_t>(weight.extent(0)));
  pool.parallel_ranges(weight.extent(0), kTileValues / std::max<std::int64_t>(1, inputs),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const float sum = kernels::dot(inputs, weight.data() + row * inputs, x);
                           out[static_cast<std::size_t>(row)] =
                               bias.present() ? sum + bias[row] : sum;
                         }
                       });
}

/// The smaller of two limits, of which 0 is none.
std::int64_t tighter(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

void take_out(const float* row, double factor, std::int64_t dim, double* sum) {
  for (std::int64_t i = 0; i < dim; ++i) sum[i] -= factor * static_cast<double>(row[i]);
}

}  // namespace

Stream::Stream(base::ThreadPool& pool, const model::ModelConfig& config,
               const model::Parameters<float>& parameters, std::int64_t context_limit)
    : pool_(pool), config_(config), parameters_(parameters), mlp_(parameters.mlp()) {
  if (context::leaks_future(config.mixer)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("generating: the mixer {} reads the tokens that are still to come, so it "
                    "cannot continue a text; train with another mixer",
                    context::mixer_name(config.mixer)));
  }
  if (context_limit < 0) {
    throw Error(ErrorKind::argument,
                fmt::format("context: got {}, expected 1 or more tokens; leave it out to let the "
                            "model look as far as it can",
                            context_limit));
  }
  context_limit_ = context_limit;
  limit_ = tighter(context::reach(config.mixer) + 1, context_limit);
  rates_ = context::running_rates(config.mixer, parameters.decay_rate());
  if (!rates_.empty()) ring_rows_ = context_limit;
  for (const context::MixerPart& part : config.mixer.parts) {
    if (part.window > 0) ring_rows_ = std::max(ring_rows_, tighter(part.window, context_limit));
  }
  context_.resize(static_cast<std::size_t>(context::feature_width(config.mixer, config.dim)));
  reset();
}

void Stream::reset() {
  const std::size_t dim = static_cast<std::size_t>(config_.dim);
  position_ = 0;
  last_row_.assign(dim, 0.0F);
  ring_.clear();
  running_.assign(rates_.size() * (1 + dim), 0.0);
  next_sums_.assign(context_limit_ > 0 ? rates_.size() * dim : 0, 0.0);
  hidden_fresh_ = false;
  logits_fresh_ = false;
}

std::int64_t Stream::visible() const {
  return limit_ == 0 ? position_ : std::min(position_, limit_);
}

std::int64_t Stream::visible_to(const context::MixerPart& part) const {
  const std::int64_t limit = tighter(part.window, context_limit_);
  return limit == 0 ? position_ : std::min(position_, limit);
}

const float* Stream::ring_row(std::int64_t position) const {
  return ring_.data() + position % ring_rows_ * config_.dim;
}

double* Stream::running_state(std::size_t average) {
  return running_.data() + average * static_cast<std::size_t>(1 + config_.dim);
}

void Stream::push(Id id) {
  const base::View2<const float> table = parameters_.token_embedding();
  if (id < 0 || id >= table.extent(0)) {
    throw Error(ErrorKind::index,
                fmt::format("generating: position {} has id {}, but the table has {} rows",
                            position_, id, table.extent(0)));
  }
  std::copy_n(table[id].data(), config_.dim, last_row_.data());
  if (const base::View2<const float> positions = parameters_.position_rows(); positions.present()) {
    const std::int64_t place = rows::position_of(position_, config_.max_positions);
    kernels::add(config_.dim, positions[place].data(), last_row_.data());
  }
  push_running(last_row_.data());
  push_ring(last_row_.data());
  ++position_;
  hidden_fresh_ = false;
  logits_fresh_ = false;
}

/// Every average takes the row in, and lets go of the one that a limit hides.
void Stream::push_running(const float* row) {
  const std::int64_t dim = config_.dim;
  context::push_running<float>(
      rates_, {row, {dim}}, {running_.data(), {static_cast<std::int64_t>(rates_.size()), 1 + dim}});
  if (context_limit_ == 0) return;
  for (std::size_t average = 0; average < rates_.size(); ++average) {
    const double rate = rates_[average];
    double* const weight = running_state(average);
    double* const sum = weight + 1;
    if (position_ >= context_limit_) {
      const double left = std::pow(rate, static_cast<double>(context_limit_));
      take_out(ring_row(position_ - context_limit_), left, dim, sum);
      *weight -= left;
    }
    if (rate < 1) continue;
    // When the limit's rows have gone by, those added since are all that is visible. Their sum
    // replaces the one from which rows were taken away, so no rounding builds up. A smaller rate
    // lets it die away.
    double* const next_sum = next_sums_.data() + average * static_cast<std::size_t>(dim);
    kernels::add_row(dim, row, next_sum);
    if ((position_ + 1) % context_limit_ != 0) continue;
    std::copy_n(next_sum, dim, sum);
    std::fill_n(next_sum, dim, 0.0);
  }
}

void Stream::push_ring(const float* row) {
  if (ring_rows_ == 0) return;
  // Grows as it fills: a limit far beyond the text costs no memory.
  if (position_ < ring_rows_) ring_.resize(ring_.size() + static_cast<std::size_t>(config_.dim));
  std::copy_n(row, config_.dim, ring_.data() + position_ % ring_rows_ * config_.dim);
}

/// The mean of the part's last rows, or these rows side by side.
void Stream::mix_window(const context::MixerPart& part, float* out) const {
  const std::int64_t dim = config_.dim;
  const std::int64_t count = visible_to(part);
  if (part.kind == MixerKind::concat) {
    // Oldest first, the current row last; zeros stand before the start.
    out += (part.window - count) * dim;
    for (std::int64_t t = position_ - count; t < position_; ++t, out += dim) {
      std::copy_n(ring_row(t), dim, out);
    }
    return;
  }
  // Added anew from the ring: nothing is subtracted, so nothing cancels.
  std::vector<double> sum(static_cast<std::size_t>(dim), 0.0);
  for (std::int64_t t = position_ - count; t < position_; ++t) {
    kernels::add_row(dim, ring_row(t), sum.data());
  }
  kernels::write_mean(dim, sum.data(), static_cast<double>(count), out);
}

/// context::mixer_forward for one position, into context_.
void Stream::mix() {
  std::fill(context_.begin(), context_.end(), 0.0F);
  if (position_ == 0) return;
  float* out = context_.data();
  std::size_t average = 0;
  for (const context::MixerPart& part : config_.mixer.parts) {
    const std::int64_t width = context::feature_width(part, config_.dim);
    if (part.kind == MixerKind::none) {
      std::copy_n(last_row_.data(), config_.dim, out);
    } else if (part.window > 0) {
      mix_window(part, out);
    } else {
      for (std::int64_t block = 0; block < width; block += config_.dim, ++average) {
        const double* const weight = running_state(average);
        kernels::write_mean(config_.dim, weight + 1, *weight, out + block);
      }
    }
    out += width;
  }
}

/// logits::mlp_forward for one position, from context_ to hidden_.
void Stream::run_mlp() {
  const logits::MlpForm& form = config_.mlp;
  const std::int64_t width = config_.hidden;
  const float* input = context_.data();
  for (std::int64_t layer = 0; layer < form.layers; ++layer) {
    const auto& linear = mlp_.linears[static_cast<std::size_t>(layer)];
    matrix_vector(pool_, linear.weight, linear.bias, input, layer_);
    if (form.activation == logits::Activation::gelu) {
      kernels::gelu(width, layer_.data(), layer_.data());
    } else {
      kernels::relu(width, layer_.data(), layer_.data());
    }
    if (form.residual && layer > 0) kernels::add(width, state_.data(), layer_.data());
    std::swap(state_, layer_);
    input = state_.data();
    if (layer >= form.norms()) continue;
    const auto& norm = mlp_.norms[static_cast<std::size_t>(layer)];
    normed_.resize(state_.size());
    float mean = 0;
    float inverse_deviation = 0;
    kernels::layer_norm(1, width, state_.data(), norm.weight.data(), norm.bias.data(),
                        normed_.data(), &mean, &inverse_deviation);
    input = normed_.data();
  }
  matrix_vector(pool_, mlp_.linears.back().weight, mlp_.linears.back().bias, input, hidden_);
}

base::View1<const float> Stream::hidden() {
  if (hidden_fresh_) return {hidden_.data(), {config_.dim}};
  mix();
  if (config_.hidden == 0) {
    hidden_ = context_;
  } else {
    run_mlp();
    if (config_.skip && position_ > 0) kernels::add(config_.dim, last_row_.data(), hidden_.data());
  }
  hidden_fresh_ = true;
  return {hidden_.data(), {config_.dim}};
}

const std::vector<float>& Stream::logits() {
  if (!logits_fresh_) {
    matrix_vector(pool_, parameters_.head_weight(), parameters_.head_bias(), hidden().data(),
                  logits_);
    logits_fresh_ = true;
  }
  return logits_;
}

}  // namespace lexirow::generate
