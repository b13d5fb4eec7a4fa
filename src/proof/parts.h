#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "base/view.h"
#include "model/network.h"
#include "optim/optimizer.h"
#include "rows/lookup.h"
#include "text/windows.h"

namespace lexirow::proof {

/// The model's functions as the checks call them (model/network.h).
template <Real T>
struct ModelParts {
  std::function<void(base::ThreadPool&, const model::ModelConfig&, const model::Parameters<T>&,
                     const model::BatchView&, model::Workspace<T>&, base::View2<T>)>
      all_logits = model::all_logits<T>;
  std::function<loss::LossSum(base::ThreadPool&, const model::ModelConfig&,
                              const model::Parameters<T>&, const model::BatchView&,
                              model::Workspace<T>&, base::View1<T>)>
      evaluate = model::evaluate<T>;
  std::function<loss::LossSum(base::ThreadPool&, const model::ModelConfig&,
                              const model::Parameters<T>&, const model::BatchView&,
                              model::Workspace<T>&, model::Gradients<T>&)>
      evaluate_with_gradients = model::evaluate_with_gradients<T>;
};

/// What the checks examine. A test puts a broken part in place of one and sees its check turn red.
struct Parts {
  ModelParts<float> single;
  ModelParts<double> wide;
  std::function<void(const text::TokenStream&, const text::WindowPlan&,
                     std::span<const std::int64_t>, text::Batch&)>
      fill_batch = text::fill_batch;
  std::function<base::View2<const float>(const model::Parameters<float>&)> head_weight =
      [](const model::Parameters<float>& parameters) { return parameters.head_weight(); };
  std::function<void(base::ThreadPool&, base::View2<const float>, base::View1<const Id>,
                     base::View2<float>)>
      lookup_forward = rows::lookup_forward<float>;
  std::function<void(base::ThreadPool&, const rows::ScatterPlan&, base::View2<const float>,
                     rows::TouchedRows<float>&)>
      lookup_backward = rows::lookup_backward<float>;
  std::function<void(base::ThreadPool&, const rows::ScatterPlan&, base::View2<const float>,
                     base::View2<float>)>
      lookup_backward_dense = rows::lookup_backward_dense<float>;
  std::function<void(optim::Optimizer<float>&, base::ThreadPool&, const optim::Slots<float>&,
                     double, float)>
      step = [](optim::Optimizer<float>& optimizer, base::ThreadPool& pool,
                const optim::Slots<float>& slots, double lr,
                float gradient_scale) { optimizer.step(pool, slots, lr, gradient_scale); };
  /// Runs between writing a model and reading it back; gets the folder.
  std::function<void(const std::string&)> after_save = [](const std::string&) {};
};

}  // namespace lexirow::proof
