#include "generate/stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "context/mixer.h"
#include "kernels/layer_ops.h"
#include "kernels/vector_ops.h"
#include "lexirow/error.h"

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

std::int64_t visible_rows(const context::Mixer& mixer, std::int64_t context_limit) {
  const std::int64_t reach = context::reach(mixer);
  if (reach < 0) return context_limit;
  return context_limit == 0 ? reach + 1 : std::min(reach + 1, context_limit);
}

void add_row(const float* row, double sign, std::vector<double>& sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += sign * static_cast<double>(row[i]);
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
  limit_ = visible_rows(config.mixer, context_limit);
  context_.resize(static_cast<std::size_t>(context::feature_width(config.mixer, config.dim)));
  reset();
}

void Stream::reset() {
  const std::size_t dim = static_cast<std::size_t>(config_.dim);
  position_ = 0;
  last_row_ = nullptr;
  ring_.clear();
  const bool mean = config_.mixer.kind == MixerKind::mean;
  sum_.assign(mean ? dim : 0, 0.0);
  next_sum_.assign(mean && limit_ > 0 ? dim : 0, 0.0);
  hidden_fresh_ = false;
  logits_fresh_ = false;
}

std::int64_t Stream::visible() const {
  return limit_ == 0 ? position_ : std::min(position_, limit_);
}

const float* Stream::ring_row(std::int64_t position) const {
  return ring_.data() + position % limit_ * config_.dim;
}

void Stream::push(Id id) {
  const base::View2<const float> table = parameters_.token_embedding();
  if (id < 0 || id >= table.extent(0)) {
    throw Error(ErrorKind::index,
                fmt::format("generating: position {} has id {}, but the table has {} rows",
                            position_, id, table.extent(0)));
  }
  last_row_ = table[id].data();
  if (!sum_.empty()) add_row(last_row_, 1, sum_);
  if (limit_ > 0 && config_.mixer.kind != MixerKind::none) push_ring(last_row_);
  ++position_;
  hidden_fresh_ = false;
  logits_fresh_ = false;
}

void Stream::push_ring(const float* row) {
  const bool full = position_ >= limit_;
  if (!sum_.empty()) {
    if (full) add_row(ring_row(position_), -1, sum_);
    add_row(row, 1, next_sum_);
    if ((position_ + 1) % limit_ == 0) {
      // The ring has just gone round: the rows added since it began are all that is visible. Their
      // sum replaces the one from which rows were taken away, so no rounding builds up.
      std::swap(sum_, next_sum_);
      std::fill(next_sum_.begin(), next_sum_.end(), 0.0);
    }
  }
  // Grows as it fills: a limit far beyond the text costs no memory.
  if (!full) ring_.resize(ring_.size() + static_cast<std::size_t>(config_.dim));
  std::copy_n(row, config_.dim, ring_.data() + position_ % limit_ * config_.dim);
}

void Stream::mix(float* context) const {
  const std::int64_t dim = config_.dim;
  const std::int64_t count = visible();
  const std::int64_t first = position_ - count;
  std::fill_n(context, context_.size(), 0.0F);
  if (count == 0) return;
  switch (config_.mixer.kind) {
    case MixerKind::none:
      std::copy_n(last_row_, dim, context);
      return;
    case MixerKind::mean:
      for (std::size_t i = 0; i < sum_.size(); ++i) {
        context[i] = static_cast<float>(sum_[i] / static_cast<double>(count));
      }
      return;
    case MixerKind::window: {
      // Added anew from the ring: nothing is subtracted, so nothing cancels.
      std::vector<double> sum(static_cast<std::size_t>(dim), 0.0);
      for (std::int64_t t = first; t < position_; ++t) add_row(ring_row(t), 1, sum);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        context[i] = static_cast<float>(sum[i] / static_cast<double>(count));
      }
      return;
    }
    case MixerKind::concat: {
      // Oldest first, the current row last; zeros stand before the start.
      float* out = context + (config_.mixer.window - count) * dim;
      for (std::int64_t t = first; t < position_; ++t, out += dim) {
        std::copy_n(ring_row(t), dim, out);
      }
      return;
    }
    case MixerKind::full_mean:
    case MixerKind::centred:
      return;  // refused by the constructor
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
  mix(context_.data());
  if (config_.hidden == 0) {
    hidden_ = context_;
  } else {
    run_mlp();
    if (config_.skip && position_ > 0) kernels::add(config_.dim, last_row_, hidden_.data());
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
