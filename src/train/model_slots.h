#pragma once

#include "model/config.h"
#include "model/network.h"
#include "model/parameters.h"
#include "optim/slots.h"

namespace lexirow::train {

/// A model and its gradients as an optimizer steps them: an untied table, and under a sampled loss
/// its head, as touched rows; everything else, a tied table too, as dense slots in declaration
/// order. The pad row is frozen. The views are those of the arguments, which must outlive the
/// slots. Throws: nothing.
template <Real T>
optim::Slots<T> model_slots(const model::ModelConfig& config, model::Parameters<T>& parameters,
                            model::Gradients<T>& gradients);

/// Takes the rows that evaluate_with_gradients left unsummed in its workspace as the gradients of
/// the tables, until the next batch.
///   ids_count  in  positions of the batch, those before its labels too: B*(P+T)
template <Real T>
void take_unsummed_rows(const model::Workspace<T>& workspace, std::int64_t ids_count,
                        optim::Slots<T>& slots);

}  // namespace lexirow::train
