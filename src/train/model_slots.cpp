#include "train/model_slots.h"

#include <algorithm>

namespace lexirow::train {

template <Real T>
optim::Slots<T> model_slots(const model::ModelConfig& config, model::Parameters<T>& parameters,
                            model::Gradients<T>& gradients) {
  optim::Slots<T> slots;
  const T* table = parameters.token_embedding().data();
  const std::vector<model::NamedTensor<T>> dense = gradients.dense.tensors();
  for (const model::NamedTensor<T>& value : parameters.tensors()) {
    const bool is_table = value.values.data() == table;
    if (is_table && !config.tied) {
      slots.table = {value.name, parameters.token_embedding(), &gradients.rows};
      continue;
    }
    const auto gradient = std::find_if(dense.begin(), dense.end(), [&](const auto& candidate) {
      return candidate.name == value.name;
    });
    slots.dense.push_back({value.name, value.values, gradient->values,
                           is_table ? config.dim : std::int64_t{0}, value.shape.size() == 1});
    if (is_table) slots.pad_slot = value.name;
  }
  slots.pad_id = config.pad_id;
  slots.dim = config.dim;
  return slots;
}

template <Real T>
void take_unsummed_rows(const model::Workspace<T>& workspace, std::int64_t ids_count,
                        optim::Slots<T>& slots) {
  slots.table.gradient = nullptr;
  slots.table.unsummed = {&workspace.plan, workspace.d_hidden.view(ids_count, slots.dim)};
}

template optim::Slots<float> model_slots(const model::ModelConfig&, model::Parameters<float>&,
                                         model::Gradients<float>&);
template optim::Slots<double> model_slots(const model::ModelConfig&, model::Parameters<double>&,
                                          model::Gradients<double>&);
template void take_unsummed_rows(const model::Workspace<float>&, std::int64_t,
                                 optim::Slots<float>&);
template void take_unsummed_rows(const model::Workspace<double>&, std::int64_t,
                                 optim::Slots<double>&);

}  // namespace lexirow::train
