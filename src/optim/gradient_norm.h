#pragma once

#include "base/real.h"
#include "base/thread_pool.h"
#include "optim/slots.h"

namespace lexirow::optim {

/// Global 2-norm of all gradients, dense and touched rows together; rows of an id are already
/// summed, so it equals the norm of the dense gradient. The pad row, which never moves, is left
/// out. In double, fixed pieces joined in order: the same for any number of threads. Throws:
/// nothing. Source: Pascanu et al. 2013; PyTorch's clip_grad_norm_.
template <Real T>
double gradient_norm(base::ThreadPool& pool, const Slots<T>& slots);

/// The factor that brings a gradient of this norm down to `limit`: limit / (norm + 1e-6) if that is
/// below 1, else 1; 1 for limit 0, which means no clipping. As PyTorch's clip_grad_norm_.
double clip_scale(double norm, double limit);

}  // namespace lexirow::optim
