#include "context/mixer.h"

#include <cmath>

#include "context/centred.h"
#include "context/concat.h"
#include "context/decay.h"
#include "context/full_mean.h"
#include "context/mean.h"
#include "context/none.h"
#include "context/tiles.h"
#include "context/window.h"
#include "kernels/mean_ops.h"

namespace lexirow::context {

namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// The rates of the running averages of one part: none for a part that keeps none.
template <Real T>
std::vector<double> rates_of(const MixerPart& part, base::View1<const T> decay_rate) {
  if (part.kind == MixerKind::mean) return {1.0};
  std::vector<double> rates = part.rates;
  for (std::int64_t k = 0; k < part.learned_rates; ++k) {
    rates.push_back(sigmoid(static_cast<double>(decay_rate[k])));
  }
  return rates;
}

template <Real T>
void part_forward(base::ThreadPool& pool, const MixerPart& part, std::span<const double> rates,
                  const Carried& carried, base::View3<const T> hidden,
                  base::View2<const std::uint8_t> mask, const Columns<T>& out) {
  switch (part.kind) {
    case MixerKind::none:
      return none_forward<T>(pool, hidden, mask, out);
    case MixerKind::mean:
      return mean_forward<T>(pool, carried, hidden, mask, out);
    case MixerKind::window:
      return window_forward<T>(pool, part.window, hidden, mask, out);
    case MixerKind::concat:
      return concat_forward<T>(pool, part.window, hidden, mask, out);
    case MixerKind::decay:
      return decay_forward<T>(pool, rates, carried, hidden, mask, out);
    case MixerKind::full_mean:
      return full_mean_forward<T>(pool, hidden, mask, out);
    case MixerKind::centred:
      return centred_forward<T>(pool, hidden, mask, out);
  }
}

template <Real T>
void part_backward(base::ThreadPool& pool, const MixerPart& part, std::span<const double> rates,
                   base::View2<const std::uint8_t> mask, const Columns<const T>& d_out,
                   base::View3<T> d_hidden) {
  switch (part.kind) {
    case MixerKind::none:
      return none_backward<T>(pool, mask, d_out, d_hidden);
    case MixerKind::mean:
      return mean_backward<T>(pool, mask, d_out, d_hidden);
    case MixerKind::window:
      return window_backward<T>(pool, part.window, mask, d_out, d_hidden);
    case MixerKind::concat:
      return concat_backward<T>(pool, part.window, mask, d_out, d_hidden);
    case MixerKind::decay:
      return decay_backward<T>(pool, rates, mask, d_out, d_hidden);
    case MixerKind::full_mean:
      return full_mean_backward<T>(pool, mask, d_out, d_hidden);
    case MixerKind::centred:
      return centred_backward<T>(pool, mask, d_out, d_hidden);
  }
}

/// Adds the gradient of learned rates before the sigmoid.
template <Real T>
void add_rate_gradient(base::ThreadPool& pool, std::span<const double> rates,
                       base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                       const Columns<const T>& d_out, base::View1<T> d_decay_rate) {
  std::vector<double> d_rates(rates.size());
  decay_rate_gradient<T>(pool, rates, hidden, mask, d_out, d_rates);
  for (std::size_t k = 0; k < rates.size(); ++k) {
    const double slope = rates[k] * (1 - rates[k]);
    d_decay_rate[static_cast<std::int64_t>(k)] += static_cast<T>(d_rates[k] * slope);
  }
}

}  // namespace

template <Real T>
std::vector<double> running_rates(const Mixer& mixer, base::View1<const T> decay_rate) {
  std::vector<double> all;
  for (const MixerPart& part : mixer.parts) {
    const std::vector<double> rates = rates_of(part, decay_rate);
    all.insert(all.end(), rates.begin(), rates.end());
  }
  return all;
}

template <Real T>
void push_running(std::span<const double> rates, base::View1<const T> row,
                  base::View2<double> state) {
  for (std::size_t average = 0; average < rates.size(); ++average) {
    const base::View1<double> of = state[static_cast<std::int64_t>(average)];
    of[0] = rates[average] * of[0] + 1;
    kernels::decay_and_add<T>(row.size(), rates[average], row.data(), of.data() + 1);
  }
}

template <Real T>
void mixer_forward(base::ThreadPool& pool, const Mixer& mixer, const MixerViews<T>& inputs,
                   base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                   base::View3<T> out) {
  Carried carried{inputs.carried, 0};
  std::int64_t column = 0;
  for (const MixerPart& part : mixer.parts) {
    const std::int64_t width = feature_width(part, hidden.extent(2));
    const std::vector<double> rates = rates_of(part, inputs.decay_rate);
    part_forward<T>(pool, part, rates, carried, hidden, mask, Columns<T>(out, column, width));
    carried.first += static_cast<std::int64_t>(rates.size());
    column += width;
  }
}

template <Real T>
void mixer_backward(base::ThreadPool& pool, const Mixer& mixer, const MixerViews<T>& inputs,
                    base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                    base::View3<const T> d_out, base::View3<T> d_hidden,
                    base::View1<T> d_decay_rate) {
  std::int64_t column = 0;
  for (const MixerPart& part : mixer.parts) {
    const std::int64_t width = feature_width(part, d_hidden.extent(2));
    const std::vector<double> rates = rates_of(part, inputs.decay_rate);
    const Columns<const T> d_part(d_out, column, width);
    part_backward<T>(pool, part, rates, mask, d_part, d_hidden);
    if (part.learned_rates > 0) {
      add_rate_gradient<T>(pool, rates, hidden, mask, d_part, d_decay_rate);
    }
    column += width;
  }
}

template std::vector<double> running_rates<float>(const Mixer&, base::View1<const float>);
template std::vector<double> running_rates<double>(const Mixer&, base::View1<const double>);
template void push_running<float>(std::span<const double>, base::View1<const float>,
                                  base::View2<double>);
template void push_running<double>(std::span<const double>, base::View1<const double>,
                                   base::View2<double>);
template void mixer_forward<float>(base::ThreadPool&, const Mixer&, const MixerViews<float>&,
                                   base::View3<const float>, base::View2<const std::uint8_t>,
                                   base::View3<float>);
template void mixer_forward<double>(base::ThreadPool&, const Mixer&, const MixerViews<double>&,
                                    base::View3<const double>, base::View2<const std::uint8_t>,
                                    base::View3<double>);
template void mixer_backward<float>(base::ThreadPool&, const Mixer&, const MixerViews<float>&,
                                    base::View3<const float>, base::View2<const std::uint8_t>,
                                    base::View3<const float>, base::View3<float>,
                                    base::View1<float>);
template void mixer_backward<double>(base::ThreadPool&, const Mixer&, const MixerViews<double>&,
                                     base::View3<const double>, base::View2<const std::uint8_t>,
                                     base::View3<const double>, base::View3<double>,
                                     base::View1<double>);

}  // namespace lexirow::context
