#include "context/mean.h"

#include "context/decay.h"

namespace lexirow::context {

namespace {

/// No row's weight falls: the average is the mean, to the last bit that of a sum and a count.
constexpr double kMeanRate[] = {1.0};

}  // namespace

template <Real T>
void mean_forward(base::ThreadPool& pool, const Carried& carried, base::View3<const T> hidden,
                  base::View2<const std::uint8_t> mask, const Columns<T>& out) {
  decay_forward<T>(pool, kMeanRate, carried, hidden, mask, out);
}

template <Real T>
void mean_backward(base::ThreadPool& pool, base::View2<const std::uint8_t> mask,
                   const Columns<const T>& d_out, base::View3<T> d_hidden) {
  decay_backward<T>(pool, kMeanRate, mask, d_out, d_hidden);
}

template void mean_forward<float>(base::ThreadPool&, const Carried&, base::View3<const float>,
                                  base::View2<const std::uint8_t>, const Columns<float>&);
template void mean_forward<double>(base::ThreadPool&, const Carried&, base::View3<const double>,
                                   base::View2<const std::uint8_t>, const Columns<double>&);
template void mean_backward<float>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                   const Columns<const float>&, base::View3<float>);
template void mean_backward<double>(base::ThreadPool&, base::View2<const std::uint8_t>,
                                    const Columns<const double>&, base::View3<double>);

}  // namespace lexirow::context
