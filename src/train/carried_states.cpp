#include "train/carried_states.h"

#include <algorithm>

#include "context/mixer.h"
#include "kernels/vector_ops.h"
#include "rows/positions.h"

namespace lexirow::train {

CarriedStates::CarriedStates(const Settings& settings, const model::ModelConfig& config,
                             const model::Parameters<float>& parameters,
                             const text::TokenStream& stream, const text::WindowPlan& plan)
    : parameters_(parameters), stream_(stream), plan_(plan), dim_(config.dim) {
  if (settings.carry) rates_ = context::running_rates(config.mixer, parameters.decay_rate());
  state_.resize(rates_.size() * static_cast<std::size_t>(1 + dim_));
}

/// The row of a document's token, with what its position adds: windows without overlap begin where
/// positions do.
base::View1<const float> CarriedStates::row_at(Id id, std::int64_t index) {
  const base::View1<const float> row = parameters_.token_embedding()[id];
  const base::View2<const float> positions = parameters_.position_rows();
  if (!positions.present()) return row;
  row_.assign(row.begin(), row.end());
  kernels::add(dim_, positions[rows::position_of(index, positions.extent(0))].data(), row_.data());
  return {row_.data(), {dim_}};
}

/// Moves the state on to `position` of a document, from its start where it stands elsewhere.
void CarriedStates::read_to(std::int64_t document, std::int64_t position) {
  constexpr std::int64_t kAtOnce = 4096;
  if (document != document_ || position < position_) {
    document_ = position_ = document;
    std::fill(state_.begin(), state_.end(), 0.0);
  }
  const base::View2<double> state(state_.data(),
                                  {static_cast<std::int64_t>(rates_.size()), 1 + dim_});
  std::vector<Id> ids;
  while (position_ < position) {
    ids.resize(static_cast<std::size_t>(std::min(kAtOnce, position - position_)));
    stream_.read(position_, ids);
    for (Id id : ids) {
      context::push_running<float>(rates_, row_at(id, position_ - document), state);
      ++position_;
    }
  }
}

base::View3<const double> CarriedStates::before(std::span<const std::int64_t> indices) {
  if (rates_.empty()) return {};
  const auto size = static_cast<std::int64_t>(state_.size());
  const auto count = static_cast<std::int64_t>(indices.size());
  states_.resize(count * size);
  for (std::int64_t i = 0; i < count; ++i) {
    const text::Window window = plan_.at(indices[static_cast<std::size_t>(i)]);
    read_to(window.document, window.begin - window.carried);
    std::copy(state_.begin(), state_.end(), states_.data() + i * size);
  }
  return base::View3<const double>(states_.data(),
                                   {count, static_cast<std::int64_t>(rates_.size()), 1 + dim_});
}

}  // namespace lexirow::train
