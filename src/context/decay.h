#pragma once

#include <cstdint>
#include <span>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"
#include "context/columns.h"

namespace lexirow::context {

/// Exponential averages of the visible rows up to each position, one block of D columns a rate. A
/// row's weight falls by the factor r with every visible row after it, and the weights are divided
/// by their sum, so that an early position has a proper average too and rate 1 is the running mean.
/// Sums are running, in double, rounded once at the division.
///   rates                      in   R numbers from 0 to 1
///   carried                    in   what the averages hold of the rows before the first
///   hidden       [B, P+T, D]   in
///   mask         [B, P+T]      in   1 visible, 0 padding; absent: all visible; a masked position
///                                   keeps the averages before it, one that sees nothing gives
///                                   zeros
///   out          [B, T, R*D]   out  the last T positions
/// Pair: decay_backward. Cost: 2*B*(P+T)*R*D adds. Throws: nothing. Sources: Zhang et al. 2015
/// (FOFE), Mikolov et al. 2014 (SCRN); docs/shapes.md, decay.
template <Real T>
void decay_forward(base::ThreadPool& pool, std::span<const double> rates, const Carried& carried,
                   base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                   const Columns<T>& out);

/// Gradient of decay_forward with nothing carried: running sums in double from the last position
/// backwards.
///   rates                      in
///   mask         [B, P+T]      in
///   d_out        [B, T, R*D]   in
///   d_hidden     [B, P+T, D]   accum
/// Cost: 2*B*(P+T)*R*D adds. Throws: nothing.
template <Real T>
void decay_backward(base::ThreadPool& pool, std::span<const double> rates,
                    base::View2<const std::uint8_t> mask, const Columns<const T>& d_out,
                    base::View3<T> d_hidden);

/// Gradient of decay_forward, with nothing carried, with respect to its rates: the derivatives of
/// the running sums are running sums as well.
///   rates                      in
///   hidden       [B, P+T, D]   in
///   mask         [B, P+T]      in
///   d_out        [B, T, R*D]   in
///   d_rates      [R]           accum
/// Cost: 5*B*(P+T)*R*D adds. Throws: nothing.
template <Real T>
void decay_rate_gradient(base::ThreadPool& pool, std::span<const double> rates,
                         base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                         const Columns<const T>& d_out, std::span<double> d_rates);

}  // namespace lexirow::context
