#include "loss/cross_entropy.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "kernels/vector_ops.h"

namespace lexirow::loss {
namespace {

/// Rows of one tile: about 2^14 logits.
std::int64_t rows_per_tile(std::int64_t vocabulary) {
  return std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, vocabulary));
}

/// Calls span(begin, end) for the columns before and behind the excluded one.
template <typename Span>
void for_each_span(std::int64_t vocabulary, Id excluded, const Span& span) {
  if (excluded == kNoId) {
    span(std::int64_t{0}, vocabulary);
    return;
  }
  span(std::int64_t{0}, std::int64_t{excluded});
  span(std::int64_t{excluded} + 1, vocabulary);
}

template <Real T>
T log_sum_exp_of_row(base::View1<const T> row, Id excluded) {
  T largest = kernels::max_value<T>(0, nullptr);
  for_each_span(row.size(), excluded, [&](std::int64_t begin, std::int64_t end) {
    const T here = kernels::max_value<T>(end - begin, row.data() + begin);
    if (!(here <= largest)) largest = here;  // NaN wins
  });
  double sum = 0;
  for_each_span(row.size(), excluded, [&](std::int64_t begin, std::int64_t end) {
    sum +=
        static_cast<double>(kernels::sum_exp_shifted<T>(end - begin, largest, row.data() + begin));
  });
  return static_cast<T>(static_cast<double>(largest) + std::log(sum));
}

}  // namespace

template <Real T>
LossSum cross_entropy_forward(base::ThreadPool& pool, base::View2<const T> logits,
                              base::View1<const Id> labels, Id excluded, base::View1<T> log_sum_exp,
                              base::View1<T> losses) {
  const std::int64_t n = labels.size();
  pool.parallel_ranges(
      n, rows_per_tile(logits.extent(1)), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const bool counts = labels[row] != kIgnoredLabel;
          log_sum_exp[row] = counts ? log_sum_exp_of_row<T>(logits[row], excluded) : T{0};
        }
      });
  LossSum result{.sum = 0, .counted = 0, .total = n};
  for (std::int64_t row = 0; row < n; ++row) {
    if (losses.present()) losses[row] = T{0};
    if (labels[row] == kIgnoredLabel) continue;
    assert(labels[row] >= 0 && labels[row] < logits.extent(1) && labels[row] != excluded);
    const double loss =
        static_cast<double>(log_sum_exp[row]) - static_cast<double>(logits[row][labels[row]]);
    if (losses.present()) losses[row] = static_cast<T>(loss);
    result.sum += loss;
    ++result.counted;
  }
  return result;
}

template <Real T>
void cross_entropy_backward(base::ThreadPool& pool, base::View2<const T> logits,
                            base::View1<const Id> labels, Id excluded,
                            base::View1<const T> log_sum_exp, T scale, base::View2<T> d_logits) {
  const std::int64_t vocabulary = logits.extent(1);
  const auto row_gradient = [&](std::int64_t row) {
    std::array<T, 256> softmax;  // a block at a time: the gradient accumulates
    constexpr std::int64_t kBlock = softmax.size();
    for_each_span(vocabulary, excluded, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; i += kBlock) {
        const std::int64_t size = std::min(kBlock, end - i);
        kernels::exp_shifted<T>(size, log_sum_exp[row], logits[row].data() + i, softmax.data());
        kernels::add_scaled<T>(size, scale, softmax.data(), d_logits[row].data() + i);
      }
    });
    d_logits[row][labels[row]] -= scale;
  };
  pool.parallel_ranges(labels.size(), rows_per_tile(vocabulary),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           if (labels[row] != kIgnoredLabel) row_gradient(row);
                         }
                       });
}

template LossSum cross_entropy_forward<float>(base::ThreadPool&, base::View2<const float>,
                                              base::View1<const Id>, Id, base::View1<float>,
                                              base::View1<float>);
template LossSum cross_entropy_forward<double>(base::ThreadPool&, base::View2<const double>,
                                               base::View1<const Id>, Id, base::View1<double>,
                                               base::View1<double>);
template void cross_entropy_backward<float>(base::ThreadPool&, base::View2<const float>,
                                            base::View1<const Id>, Id, base::View1<const float>,
                                            float, base::View2<float>);
template void cross_entropy_backward<double>(base::ThreadPool&, base::View2<const double>,
                                             base::View1<const Id>, Id, base::View1<const double>,
                                             double, base::View2<double>);

}  // namespace lexirow::loss
