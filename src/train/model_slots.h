#pragma once

#include "model/config.h"
#include "model/parameters.h"
#include "optim/slots.h"

namespace lexirow::train {

/// A model and its gradients as an optimizer steps them: an untied table as touched rows,
/// everything else, a tied table too, as dense slots in declaration order. The pad row is
/// frozen. The views are those of the arguments, which must outlive the
/// slots. Throws: nothing.
template <Real T>
optim::Slots<T> model_slots(const model::ModelConfig& config, model::Parameters<T>& parameters,
                            model::Gradients<T>& gradients);

}  // namespace lexirow::train
