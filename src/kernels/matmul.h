#pragma once

#include <cstdint>

#include "base/real.h"

namespace lexirow::kernels {

/// c = op(a) op(b), or c += op(a) op(b), row-major, on the calling thread.
///   a  [M, K]  in   ([K, M] when transpose_a), rows lda apart
///   b  [K, N]  in   ([N, K] when transpose_b), rows ldb apart
///   c  [M, N]  out  (accum when add), rows ldc apart
/// float: oneDNN's dnnl_sgemm held to one thread, because its result depends on its thread count;
/// double: Eigen. Same bytes for the same sizes. Throws: nothing.
template <Real T>
void matmul(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
            const T* a, std::int64_t lda, const T* b, std::int64_t ldb, bool add, T* c,
            std::int64_t ldc);

}  // namespace lexirow::kernels
