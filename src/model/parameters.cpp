#include "model/parameters.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/checked.h"
#include "base/random.h"

namespace lexirow::model {

namespace {

/// nn.Linear's default bound of its weight: kaiming_uniform with a = sqrt(5), in PyTorch's order of
/// operations, so that the float bound is the same.
float weight_bound(std::int64_t fan_in) {
  const double a = std::sqrt(5.0);
  const double gain = std::sqrt(2.0 / (1.0 + a * a));
  const double deviation = gain / std::sqrt(static_cast<double>(fan_in));
  return static_cast<float>(std::sqrt(3.0) * deviation);
}

float bias_bound(std::int64_t fan_in) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(fan_in)));
}

/// nn.Linear's draw: the weight, then the bias where there is one.
void draw_linear(base::TorchStream& stream, base::View2<float> weight, base::View1<float> bias) {
  const std::int64_t fan_in = weight.extent(1);
  const float limit = weight_bound(fan_in);
  stream.fill_uniform({weight.data(), {weight.size()}}, -limit, limit);
  if (bias.present()) stream.fill_uniform(bias, -bias_bound(fan_in), bias_bound(fan_in));
}

/// Of learned positions where parameters are not drawn exactly as PyTorch does; GPT-2's.
constexpr float kPositionDeviation = 0.02F;

Parameters<float> draw(const ModelConfig& config, std::uint64_t seed, Init init) {
  Parameters<float> parameters(config);
  base::TorchStream stream(seed);
  const base::View2<float> table = parameters.token_embedding();
  stream.fill_normal({table.data(), {table.size()}});
  const std::vector<double> rates = context::initial_decay_rate(config.mixer);
  std::transform(rates.begin(), rates.end(), parameters.decay_rate().begin(),
                 [](double rate) { return static_cast<float>(rate); });
  if (config.hidden > 0) {
    const logits::MlpViews<float> mlp = parameters.mlp();
    for (const auto& linear : mlp.linears) draw_linear(stream, linear.weight, linear.bias);
    for (const auto& norm : mlp.norms) std::fill(norm.weight.begin(), norm.weight.end(), 1.0F);
  }
  if (config.tied) {
    base::Array<float> dropped(table.size());
    draw_linear(stream, dropped.view(table.extent(0), table.extent(1)), parameters.head_bias());
  } else {
    draw_linear(stream, parameters.head_weight(), parameters.head_bias());
  }
  // After all others, which are the same with and without positions.
  const base::View2<float> positions = parameters.position_embedding();
  if (positions.present()) stream.fill_normal({positions.data(), {positions.size()}});
  if ((config.tied || config.hidden == 0) && init == Init::automatic) {
    // N(0, 1) rows give logits of deviation sqrt(D) as a head: a loss far above ln V at first.
    // Where no MLP stands between them and a head, what they were drawn with stays in every cosine.
    const auto factor = static_cast<float>(1.0 / std::sqrt(static_cast<double>(config.dim)));
    for (float& value : table) value *= factor;
  }
  if (init == Init::automatic) {
    // As large as the rows they would be noise that takes many steps to see through.
    for (float& value : positions) value *= kPositionDeviation;
  }
  apply_pad_policy(config, parameters);
  return parameters;
}

constexpr const char* kTable = "token_embedding.weight";
constexpr const char* kHead = "lm_head.weight";
constexpr const char* kPositions = "position_embedding.weight";

std::int64_t size_of(const char* name, const std::vector<std::int64_t>& shape) {
  return base::checked_product({shape[0], shape.size() > 1 ? shape[1] : 1}, name);
}

/// Of linear layer `layer` of the MLP: the activations of PyTorch's Sequential stand at the odd
/// numbers.
std::string linear_name(std::int64_t layer) {
  return "mixer." + std::to_string(2 * layer);
}

std::string norm_name(std::int64_t norm) {
  return "norm." + std::to_string(norm + 1);
}

template <Real T>
base::Array<T> zeros(const char* name, const std::vector<std::int64_t>& shape) {
  return base::Array<T>(size_of(name, shape));
}

}  // namespace

template <Real T>
Parameters<T>::Parameters(const ModelConfig& config) : Parameters(config, zeros<T>) {}

template <Real T>
Parameters<T> Parameters<T>::without_tables(const ModelConfig& config, bool head_too) {
  return Parameters(config, [&](const char* name, const std::vector<std::int64_t>& shape) {
    const bool left_out =
        std::string_view(name) == kTable || (head_too && std::string_view(name) == kHead);
    return left_out ? base::Array<T>() : zeros<T>(name, shape);
  });
}

template <Real T>
Parameters<T>::Parameters(const ModelConfig& config, const Source& source) : config_(config) {
  const auto take = [&](const std::string& name, const std::vector<std::int64_t>& shape,
                        base::Array<T>& array) {
    [[maybe_unused]] const std::int64_t size = size_of(name.c_str(), shape);
    array = source(name.c_str(), shape);
    assert(array.size() == size || array.size() == 0);
  };
  take(kTable, {config.vocab_size, config.dim}, table_);
  if (const std::int64_t rates = context::learned_rates(config.mixer); rates > 0) {
    take("decay.rate", {rates}, decay_rate_);
  }
  if (config.hidden > 0) {
    std::int64_t inputs = context::feature_width(config.mixer, config.dim);
    for (std::int64_t layer = 0; layer <= config.mlp.layers; ++layer) {
      Affine linear;
      linear.inputs = std::exchange(inputs, config.hidden);
      linear.outputs = layer == config.mlp.layers ? config.dim : config.hidden;
      const std::string name = linear_name(layer);
      take(name + ".weight", {linear.outputs, linear.inputs}, linear.weight);
      take(name + ".bias", {linear.outputs}, linear.bias);
      linears_.push_back(std::move(linear));
    }
    for (std::int64_t i = 0; i < config.mlp.norms(); ++i) {
      Affine norm;
      take(norm_name(i) + ".weight", {config.hidden}, norm.weight);
      take(norm_name(i) + ".bias", {config.hidden}, norm.bias);
      norms_.push_back(std::move(norm));
    }
  }
  if (!config.tied) take(kHead, {config.vocab_size, config.dim}, head_weight_);
  if (config.bias) take("lm_head.bias", {config.vocab_size}, head_bias_);
  if (config.positions == rows::Positions::learned) {
    take(kPositions, {config.max_positions, config.dim}, position_embedding_);
  } else if (config.positions == rows::Positions::sinusoidal) {
    sinusoids_.resize(base::checked_product({config.max_positions, config.dim}, "positions"));
    rows::fill_sinusoidal(sinusoids_.view(config.max_positions, config.dim));
  }
}

template <Real T>
base::View2<T> Parameters<T>::token_embedding() {
  return {table_.data(), {config_.vocab_size, config_.dim}};
}

template <Real T>
base::View2<const T> Parameters<T>::token_embedding() const {
  return {table_.data(), {config_.vocab_size, config_.dim}};
}

template <Real T>
base::View1<T> Parameters<T>::decay_rate() {
  return decay_rate_.view();
}

template <Real T>
base::View1<const T> Parameters<T>::decay_rate() const {
  return decay_rate_.view();
}

template <Real T>
template <typename Value, typename Self>
logits::MlpViews<Value> Parameters<T>::mlp_views(Self& self) {
  logits::MlpViews<Value> views;
  for (auto& linear : self.linears_) {
    views.linears.push_back(
        {{linear.weight.data(), {linear.outputs, linear.inputs}}, linear.bias.view()});
  }
  for (auto& norm : self.norms_) views.norms.push_back({norm.weight.view(), norm.bias.view()});
  return views;
}

template <Real T>
logits::MlpViews<T> Parameters<T>::mlp() {
  return mlp_views<T>(*this);
}

template <Real T>
logits::MlpViews<const T> Parameters<T>::mlp() const {
  return mlp_views<const T>(*this);
}

template <Real T>
base::View2<T> Parameters<T>::head_weight() {
  if (config_.tied) return token_embedding();
  return {head_weight_.data(), {config_.vocab_size, config_.dim}};
}

template <Real T>
base::View2<const T> Parameters<T>::head_weight() const {
  if (config_.tied) return token_embedding();
  return {head_weight_.data(), {config_.vocab_size, config_.dim}};
}

template <Real T>
base::View1<T> Parameters<T>::head_bias() {
  return head_bias_.view();
}

template <Real T>
base::View1<const T> Parameters<T>::head_bias() const {
  return head_bias_.view();
}

template <Real T>
base::View2<T> Parameters<T>::position_embedding() {
  return {position_embedding_.data(), {config_.max_positions, config_.dim}};
}

template <Real T>
base::View2<const T> Parameters<T>::position_embedding() const {
  return {position_embedding_.data(), {config_.max_positions, config_.dim}};
}

template <Real T>
base::View2<const T> Parameters<T>::position_rows() const {
  const bool computed = config_.positions == rows::Positions::sinusoidal;
  return {computed ? sinusoids_.data() : position_embedding_.data(),
          {config_.max_positions, config_.dim}};
}

template <Real T>
template <typename Value, typename Self>
std::vector<NamedTensor<Value>> Parameters<T>::list_tensors(Self& self) {
  std::vector<NamedTensor<Value>> tensors;
  const auto list = [&](std::string name, std::vector<std::int64_t> shape, auto& array) {
    if (array.size() > 0) tensors.push_back({std::move(name), std::move(shape), array.view()});
  };
  const ModelConfig& config = self.config_;
  list(kTable, {config.vocab_size, config.dim}, self.table_);
  list("decay.rate", {self.decay_rate_.size()}, self.decay_rate_);
  for (std::size_t layer = 0; layer < self.linears_.size(); ++layer) {
    auto& linear = self.linears_[layer];
    const std::string name = linear_name(static_cast<std::int64_t>(layer));
    list(name + ".weight", {linear.outputs, linear.inputs}, linear.weight);
    list(name + ".bias", {linear.outputs}, linear.bias);
  }
  for (std::size_t i = 0; i < self.norms_.size(); ++i) {
    const std::string name = norm_name(static_cast<std::int64_t>(i));
    list(name + ".weight", {config.hidden}, self.norms_[i].weight);
    list(name + ".bias", {config.hidden}, self.norms_[i].bias);
  }
  list(kHead, {config.vocab_size, config.dim}, self.head_weight_);
  list("lm_head.bias", {config.vocab_size}, self.head_bias_);
  list(kPositions, {config.max_positions, config.dim}, self.position_embedding_);
  return tensors;
}

template <Real T>
std::vector<NamedTensor<T>> Parameters<T>::tensors() {
  return list_tensors<T>(*this);
}

template <Real T>
std::vector<NamedTensor<const T>> Parameters<T>::tensors() const {
  return list_tensors<const T>(*this);
}

template <Real T>
std::int64_t Parameters<T>::count() const {
  std::int64_t values = 0;
  for (const NamedTensor<const T>& tensor : tensors()) values += tensor.values.size();
  return values;
}

template <Real T>
Gradients<T>::Gradients(const ModelConfig& config, bool sampled_head)
    : dense(config.tied ? Parameters<T>(config)
                        : Parameters<T>::without_tables(config, sampled_head)) {}

template <Real T>
void Gradients<T>::clear() {
  for (const NamedTensor<T>& tensor : dense.tensors()) {
    std::fill(tensor.values.begin(), tensor.values.end(), T{0});
  }
  for (rows::TouchedRows<T>* touched : {&rows, &head_rows}) {
    touched->ids.clear();
    touched->values.resize(0);
  }
}

template <Real T>
void initialize(const ModelConfig& config, std::uint64_t seed, Init init,
                Parameters<T>& parameters) {
  parameters = Parameters<T>();  // before the draw: two models at once would be a run's peak
  if constexpr (std::is_same_v<T, float>) {
    parameters = draw(config, seed, init);
  } else {
    parameters = widen(config, draw(config, seed, init));
  }
}

template <Real T>
bool apply_pad_policy(const ModelConfig& config, Parameters<T>& parameters) {
  if (config.pad_id == kNoId || config.pad_policy == PadPolicy::keep) return false;
  bool changed = false;
  for (T& value : parameters.token_embedding()[config.pad_id]) {
    changed = changed || value != T{0};
    value = 0;
  }
  return changed;
}

Parameters<double> widen(const ModelConfig& config, const Parameters<float>& parameters) {
  Parameters<double> wide(config);
  const auto targets = wide.tensors();
  const auto sources = parameters.tensors();
  assert(sources.size() == targets.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::copy(sources[i].values.begin(), sources[i].values.end(), targets[i].values.begin());
  }
  return wide;
}

template class Parameters<float>;
template class Parameters<double>;
template struct Gradients<float>;
template struct Gradients<double>;
template void initialize<float>(const ModelConfig&, std::uint64_t, Init, Parameters<float>&);
template void initialize<double>(const ModelConfig&, std::uint64_t, Init, Parameters<double>&);
template bool apply_pad_policy<float>(const ModelConfig&, Parameters<float>&);
template bool apply_pad_policy<double>(const ModelConfig&, Parameters<double>&);

}  // namespace lexirow::model
