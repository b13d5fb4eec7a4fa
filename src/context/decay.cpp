#include "context/decay.h"

#include <array>
#include <vector>

#include "context/tiles.h"

namespace lexirow::context {

namespace {

using BlockSums = std::array<double, kMostColumns>;

/// The sums of one rate and block before the first row; returns the sum of their weights.
double start_sums(const Carried& carried, std::int64_t rate, const ColumnBlock& block,
                  BlockSums& sum) {
  sum.fill(0);
  if (!carried.states.present()) return 0;
  const base::View1<const double> state = carried.states[block.sequence][carried.first + rate];
  std::copy_n(state.data() + 1 + block.first_column, block.width, sum.data());
  return state[0];
}

}  // namespace

template <Real T>
void decay_forward(base::ThreadPool& pool, std::span<const double> rates, const Carried& carried,
                   base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                   const Columns<T>& out) {
  assert_shapes(hidden, mask, out, static_cast<std::int64_t>(rates.size()));
  const std::int64_t rows = hidden.extent(1);
  const std::int64_t dim = hidden.extent(2);
  const std::int64_t earlier = rows - out.steps();
  for_each_column_block(pool, hidden.extent(0), dim, [&](const ColumnBlock& block) {
    for (std::size_t r = 0; r < rates.size(); ++r) {
      const auto at = static_cast<std::int64_t>(r);
      const Columns<T> averages = out.part(at * dim, dim);
      BlockSums sum;
      double weight = start_sums(carried, at, block, sum);
      for (std::int64_t t = 0; t < rows; ++t) {
        if (is_visible(mask, block.sequence, t)) {
          kernels::decay_and_add(block.width, rates[r], columns_of(hidden, block, t), sum.data());
          weight = rates[r] * weight + 1;
        }
        if (t < earlier) continue;
        kernels::write_mean(block.width, sum.data(), weight,
                            columns_of(averages, block, t - earlier));
      }
    }
  });
}

template <Real T>
void decay_backward(base::ThreadPool& pool, std::span<const double> rates,
                    base::View2<const std::uint8_t> mask, const Columns<const T>& d_out,
                    base::View3<T> d_hidden) {
  assert_shapes(d_hidden, mask, d_out, static_cast<std::int64_t>(rates.size()));
  const std::int64_t rows = d_hidden.extent(1);
  const std::int64_t dim = d_hidden.extent(2);
  const std::int64_t earlier = rows - d_out.steps();
  for_each_column_block(pool, d_hidden.extent(0), dim, [&](const ColumnBlock& block) {
    // The sums of the weights, which only the way forwards gives without cancelling. The memory
    // stays with the thread, so that steps do not allocate.
    thread_local std::vector<double> weights;
    weights.resize(static_cast<std::size_t>(rows));
    for (std::size_t r = 0; r < rates.size(); ++r) {
      const Columns<const T> d_averages = d_out.part(static_cast<std::int64_t>(r) * dim, dim);
      double weight = 0;
      for (std::int64_t t = 0; t < rows; ++t) {
        if (is_visible(mask, block.sequence, t)) weight = rates[r] * weight + 1;
        weights[static_cast<std::size_t>(t)] = weight;
      }
      BlockSums sum{};
      for (std::int64_t t = rows - 1; t >= 0; --t) {
        weight = weights[static_cast<std::size_t>(t)];
        if (weight == 0) break;  // nothing is visible so early
        if (t >= earlier) {
          kernels::add_share(block.width, columns_of(d_averages, block, t - earlier), weight,
                             sum.data());
        }
        if (!is_visible(mask, block.sequence, t)) continue;
        kernels::add_sum(block.width, sum.data(), columns_of(d_hidden, block, t));
        for (std::int64_t c = 0; c < block.width; ++c) sum[static_cast<std::size_t>(c)] *= rates[r];
      }
    }
  });
}

template <Real T>
void decay_rate_gradient(base::ThreadPool& pool, std::span<const double> rates,
                         base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                         const Columns<const T>& d_out, std::span<double> d_rates) {
  const std::int64_t rows = hidden.extent(1);
  const std::int64_t dim = hidden.extent(2);
  const std::int64_t earlier = rows - d_out.steps();
  const std::int64_t columns = columns_per_tile(hidden.extent(0));
  const std::int64_t blocks = (dim + columns - 1) / columns;
  std::vector<double> parts(rates.size() * static_cast<std::size_t>(hidden.extent(0) * blocks));
  for_each_column_block(pool, hidden.extent(0), dim, [&](const ColumnBlock& block) {
    const std::int64_t tile = block.sequence * blocks + block.first_column / columns;
    for (std::size_t r = 0; r < rates.size(); ++r) {
      const Columns<const T> d_averages = d_out.part(static_cast<std::int64_t>(r) * dim, dim);
      BlockSums sum{};
      BlockSums slope{};  // the derivative of sum
      double weight = 0;
      double weight_slope = 0;
      double total = 0;
      for (std::int64_t t = 0; t < rows; ++t) {
        if (is_visible(mask, block.sequence, t)) {
          kernels::decay_and_add(block.width, rates[r], sum.data(), slope.data());
          kernels::decay_and_add(block.width, rates[r], columns_of(hidden, block, t), sum.data());
          weight_slope = rates[r] * weight_slope + weight;
          weight = rates[r] * weight + 1;
        }
        if (t < earlier || weight == 0) continue;
        const T* d = columns_of(d_averages, block, t - earlier);
        const double ratio = weight_slope / weight;
        double along = 0;
        for (std::int64_t c = 0; c < block.width; ++c) {
          const auto i = static_cast<std::size_t>(c);
          along += static_cast<double>(d[c]) * (slope[i] - sum[i] * ratio);
        }
        total += along / weight;
      }
      parts[static_cast<std::size_t>(tile) * rates.size() + r] = total;
    }
  });
  for (std::size_t i = 0; i < parts.size(); ++i) d_rates[i % rates.size()] += parts[i];
}

template void decay_forward<float>(base::ThreadPool&, std::span<const double>, const Carried&,
                                   base::View3<const float>, base::View2<const std::uint8_t>,
                                   const Columns<float>&);
template void decay_forward<double>(base::ThreadPool&, std::span<const double>, const Carried&,
                                    base::View3<const double>, base::View2<const std::uint8_t>,
                                    const Columns<double>&);
template void decay_backward<float>(base::ThreadPool&, std::span<const double>,
                                    base::View2<const std::uint8_t>, const Columns<const float>&,
                                    base::View3<float>);
template void decay_backward<double>(base::ThreadPool&, std::span<const double>,
                                     base::View2<const std::uint8_t>, const Columns<const double>&,
                                     base::View3<double>);
template void decay_rate_gradient<float>(base::ThreadPool&, std::span<const double>,
                                         base::View3<const float>, base::View2<const std::uint8_t>,
                                         const Columns<const float>&, std::span<double>);
template void decay_rate_gradient<double>(base::ThreadPool&, std::span<const double>,
                                          base::View3<const double>,
                                          base::View2<const std::uint8_t>,
                                          const Columns<const double>&, std::span<double>);

}  // namespace lexirow::context
