#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/thread_pool.h"
#include "files/row_source.h"

namespace lexirow::inspect {

/// What one sweep over a table leaves of each row, and of all.
struct RowFigures {
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  files::DType dtype = files::DType::f32;

  std::vector<double> squares;  ///< [rows] sum of squares; not finite where a value is not
  std::vector<std::uint64_t> fingerprints;  ///< [rows] of the values as float32, -0 as 0
  std::int64_t directions = 0;              ///< P
  std::vector<float> projections;           ///< [rows, P] onto P orthonormal directions

  std::vector<double> mean;          ///< [dim] over the rows that are finite and not zero
  std::int64_t usable = 0;           ///< how many these are
  std::vector<std::int32_t> tiny;    ///< [rows] F16 and BF16: values under the smallest normal one
  std::vector<std::int32_t> at_end;  ///< [rows] F16 and BF16: values that are the largest there is
  bool all_bf16 = false;             ///< F32 and F64: every value is one of BF16's
  bool all_f16 = false;              ///< and of F16's

  bool is_finite(std::int64_t row) const;
  bool is_zero(std::int64_t row) const { return squares[static_cast<std::size_t>(row)] == 0; }
  bool is_usable(std::int64_t row) const { return is_finite(row) && !is_zero(row); }
  double norm(std::int64_t row) const;
};

/// Sweeps once over the rows, a block at a time, and releases them. Sums have an order that depends
/// on the sizes only.
RowFigures measure_rows(base::ThreadPool& pool, const files::RowSource& table);

/// P orthonormal directions of a space, drawn from a fixed seed; P is 16, or the dimension.
///   returns [P, dim]
std::vector<float> fixed_directions(std::int64_t dim);

/// Calls range(first, last, values) for pieces of [0, rows) on the pool's threads, `tiles` pieces
/// at most whatever the number of threads; `values` are one block of a few hundred thousand values
/// after another, in order within a piece.
///   values  [last - first, dim]  in
void sweep_rows(base::ThreadPool& pool, const files::RowSource& table, std::int64_t tiles,
                const std::function<void(std::int64_t tile, std::int64_t first, std::int64_t last,
                                         const float* values)>& block);

}  // namespace lexirow::inspect
