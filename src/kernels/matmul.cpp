#include "kernels/matmul.h"

#include <dnnl.h>
#include <omp.h>
#include <signal.h>

#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <memory>

#ifndef EIGEN_DONT_PARALLELIZE
#error "Eigen would start OpenMP threads of its own; a kernel runs on the calling thread only"
#endif

namespace lexirow::kernels {
namespace {

constexpr std::int64_t kRowPadding = 16;
constexpr std::int64_t kFewRows = 4;
constexpr std::int64_t kCopyValues = 512 * (64 + kRowPadding);

/// dnnl_sgemm's result depends on its number of OpenMP threads, which is a setting of the calling
/// thread: each thread sets it once, before its first product.
void hold_to_one_thread() {
  thread_local const bool held = [] {
    omp_set_num_threads(1);
    return true;
  }();
  static_cast<void>(held);
}

/// Holds signals back while oneDNN computes. Its AVX kernels point the stack register into a buffer
/// on the heap when K is large, and the frame of a handler that runs then is written over whatever
/// lies below that buffer: Ctrl-C ended in a damaged heap, or in wrong weights without a word. What
/// tells of a fault of the thread itself is let through.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
      sigdelset(&held, fault);
    }
    pthread_sigmask(SIG_SETMASK, &held, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

/// Copies a [K, M], rows lda apart, to rows m + 16 apart in memory that the thread keeps.
const float* with_padded_rows(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda) {
  thread_local const auto scratch = std::make_unique<float[]>(kCopyValues);
  for (std::int64_t row = 0; row < k; ++row) {
    std::copy_n(a + row * lda, m, scratch.get() + row * (m + kRowPadding));
  }
  return scratch.get();
}

void product(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
             const float* a, std::int64_t lda, const float* b, std::int64_t ldb, bool add, float* c,
             std::int64_t ldc) {
  hold_to_one_thread();
  // Rows a multiple of 2 KiB apart share a few cache sets, and reading them by columns evicts what
  // is needed next: 64x512x512 reaches 51 GF/s from rows 512 apart, 62 to 74 from rows 528 apart
  // (one thread, AVX2, the best of 300 products).
  if (transpose_a && lda % 512 == 0 && k * (m + kRowPadding) <= kCopyValues) {
    a = with_padded_rows(m, k, a, lda);
    lda = m + kRowPadding;
  }
  const HeldSignals held;
  // Fails only on sizes or strides that contradict each other, which is a fault of the caller.
  [[maybe_unused]] const dnnl_status_t status =
      dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0F, a, lda, b, ldb,
                 add ? 1.0F : 0.0F, c, ldc);
  assert(status == dnnl_success);
}

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Operand = Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using Result = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;

Operand operand(bool transpose, std::int64_t rows, std::int64_t columns, const double* data,
                std::int64_t stride) {
  return transpose ? Operand(data, columns, rows, Eigen::OuterStride<>(stride))
                   : Operand(data, rows, columns, Eigen::OuterStride<>(stride));
}

template <typename A, typename B>
void store_product(const A& a, const B& b, bool add, Result& c) {
  if (add) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
  }
}

/// Four running sums, in an order that depends on the length only.
double sum_of_products(std::int64_t size, const double* a, const double* b) {
  double sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::int64_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

/// C [M, N] = A [M, K] times B [N, K] transposed: a row of B is read once for all rows of A.
void product_of_few_rows(std::int64_t m, std::int64_t n, std::int64_t k, const double* a,
                         std::int64_t lda, const double* b, std::int64_t ldb, bool add, double* c,
                         std::int64_t ldc) {
  for (std::int64_t column = 0; column < n; ++column) {
    for (std::int64_t row = 0; row < m; ++row) {
      double& out = c[row * ldc + column];
      out = (add ? out : 0) + sum_of_products(k, a + row * lda, b + column * ldb);
    }
  }
}

void product(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
             const double* a, std::int64_t lda, const double* b, std::int64_t ldb, bool add,
             double* c, std::int64_t ldc) {
  // Eigen packs both matrices first, which is most of the work where one has few rows: 3x30000x64
  // took 19 ms packed and 3 ms so.
  if (!transpose_a && transpose_b && m <= kFewRows) {
    product_of_few_rows(m, n, k, a, lda, b, ldb, add, c, ldc);
    return;
  }
  const Operand left = operand(transpose_a, m, k, a, lda);
  const Operand right = operand(transpose_b, k, n, b, ldb);
  Result result(c, m, n, Eigen::OuterStride<>(ldc));
  if (transpose_a && transpose_b) {
    store_product(left.transpose(), right.transpose(), add, result);
  } else if (transpose_a) {
    store_product(left.transpose(), right, add, result);
  } else if (transpose_b) {
    store_product(left, right.transpose(), add, result);
  } else {
    store_product(left, right, add, result);
  }
}

}  // namespace

template <Real T>
void matmul(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
            const T* a, std::int64_t lda, const T* b, std::int64_t ldb, bool add, T* c,
            std::int64_t ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0) {  // an empty sum
    if (add) return;
    for (std::int64_t row = 0; row < m; ++row) std::fill_n(c + row * ldc, n, T{0});
    return;
  }
  product(transpose_a, transpose_b, m, n, k, a, lda, b, ldb, add, c, ldc);
}

template void matmul<float>(bool, bool, std::int64_t, std::int64_t, std::int64_t, const float*,
                            std::int64_t, const float*, std::int64_t, bool, float*, std::int64_t);
template void matmul<double>(bool, bool, std::int64_t, std::int64_t, std::int64_t, const double*,
                             std::int64_t, const double*, std::int64_t, bool, double*,
                             std::int64_t);

}  // namespace lexirow::kernels
