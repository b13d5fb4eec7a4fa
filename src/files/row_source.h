#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/array.h"
#include "base/view.h"
#include "files/dtype.h"

namespace lexirow::files {

/// The rows of a table wherever they stand: in memory, in a mapped file as they are, or in a form
/// that has to be converted a block at a time. Safe to read from several threads.
class RowSource {
 public:
  virtual ~RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  std::int64_t rows() const { return rows_; }
  std::int64_t dim() const { return dim_; }
  /// As stored; read() gives float32.
  DType dtype() const { return dtype_; }

  /// All values as float32 in row order, where they stand so already; absent otherwise.
  ///   returns [rows, dim]
  virtual base::View2<const float> in_place() const { return {}; }

  /// Copies rows [begin, end), which must lie within the table.
  ///   out  [end - begin, dim]  out
  virtual void read(std::int64_t begin, std::int64_t end, float* out) const = 0;

  /// Adds what it costs to write rows [begin, end) as `to`, by what is stored of them. False, with
  /// nothing added, where float32 holds all that is stored: then narrow() tells it.
  virtual bool add_loss(DType to, std::int64_t begin, std::int64_t end, NarrowingLoss& loss) const;

  /// Says that rows [begin, end) are done with: pages of a mapped file that hold nothing else are
  /// given back, so that a sweep over a table larger than memory stays small. They may be read
  /// again at any time.
  virtual void release(std::int64_t begin, std::int64_t end) const;

 protected:
  RowSource(std::int64_t rows, std::int64_t dim, DType dtype)
      : rows_(rows), dim_(dim), dtype_(dtype) {}

 private:
  std::int64_t rows_;
  std::int64_t dim_;
  DType dtype_;
};

/// Rows in memory that `owner` keeps alive (null: the caller does).
///   values  [rows, dim]  in
///   dtype   how they were stored before they were read
std::shared_ptr<const RowSource> rows_of_view(base::View2<const float> values,
                                              std::shared_ptr<const void> owner = nullptr,
                                              DType dtype = DType::f32);

/// Rows in memory.
///   values  [rows * dim]  in
std::shared_ptr<const RowSource> rows_of_array(base::Array<float> values, std::int64_t rows,
                                               std::int64_t dim, DType dtype = DType::f32);

/// An array as files hold it.
struct StoredArray {
  const void* data = nullptr;  ///< at any address
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  bool by_columns = false;  ///< Fortran's order: a column is contiguous
  bool swapped = false;     ///< big-endian values
  bool mapped = false;      ///< the bytes stand in a mapped file, and nobody writes to them
};

/// `owner` keeps the bytes alive.
std::shared_ptr<const RowSource> rows_of_stored(const StoredArray& array,
                                                std::shared_ptr<const void> owner);

/// The first `count` rows of another source.
std::shared_ptr<const RowSource> first_rows(std::shared_ptr<const RowSource> source,
                                            std::int64_t count);

/// Row i is row ids[i] of another source.
std::shared_ptr<const RowSource> chosen_rows(std::shared_ptr<const RowSource> source,
                                             std::vector<std::int64_t> ids);

/// The same rows, but those named by `ids` (ascending) are all `row`.
///   row  [dim]  in
std::shared_ptr<const RowSource> replaced_rows(std::shared_ptr<const RowSource> source,
                                               std::vector<std::int64_t> ids,
                                               std::vector<float> row);

/// Calls `block(first row, rows, values)` for all rows in order, a few thousand values to a few
/// million at a time: where they stand, or converted into one buffer. Rows are released behind it.
///   values  [rows, dim]  of the block
void for_each_block(
    const RowSource& source,
    const std::function<void(std::int64_t first, std::int64_t rows, const float* values)>& block);

}  // namespace lexirow::files
