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
    if (is_table) slots.pad_slot = value.name;
    if (is_table && !config.tied) {
      slots.tables.push_back({value.name, parameters.token_embedding(), &gradients.rows});
      continue;
    }
    const auto gradient = std::find_if(dense.begin(), dense.end(), [&](const auto& candidate) {
      return candidate.name == value.name;
    });
    if (gradient == dense.end()) {  // the head under a sampled loss
      slots.tables.push_back({value.name, parameters.head_weight(), &gradients.head_rows});
      continue;
    }
    slots.dense.push_back({value.name, value.values, gradient->values,
                           is_table ? config.dim : std::int64_t{0}, value.shape.size() == 1});
  }
  slots.pad_id = config.pad_id;
  slots.dim = config.dim;
  return slots;
}

template <Real T>
void take_unsummed_rows(const model::Workspace<T>& workspace, std::int64_t ids_count,
                        optim::Slots<T>& slots) {
  slots.tables[0].gradient = nullptr;
  slots.tables[0].unsummed = {&workspace.plan, workspace.d_hidden.view(ids_count, slots.dim)};
  if (slots.tables.size() == 1) return;
  const model::SampledHeadWorkspace<T>& head = workspace.sampled_head;
  slots.tables[1].gradient = nullptr;
  slots.tables[1].unsummed = {&head.plan, head.d_rows.view(head.count(), slots.dim)};
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
