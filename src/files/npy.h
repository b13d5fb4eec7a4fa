#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "files/atomic_write.h"
#include "files/dtype.h"
#include "files/row_source.h"

namespace lexirow::files {

/// The first bytes of every npy file.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// A NumPy array in memory: its description and where its values stand.
struct NpyArray {
  int version = 1;
  DType dtype = DType::f32;
  bool swapped = false;     ///< big-endian
  bool by_columns = false;  ///< Fortran's order
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;   ///< values: the product of the shape
  std::string_view values;  ///< at any address
  bool mapped = false;      ///< they stand in a mapped file: for who gives the owner to say
};

/// Reads the published format, versions 1 to 3, any legal spacing, order of keys and alignment.
/// Nothing is unpickled: arrays of objects are refused with the command that converts them; so are
/// text, dates, complex and structured values. `where` names the file in errors.
/// Throws Error(file): what is not npy, a header that is damaged, more or fewer bytes than the
/// shape says (both counts). Source: numpy.lib.format.
///   refusal  where given, it says that the array holds no numbers, instead of an Error
NpyArray parse_npy(std::string_view bytes, const std::string& where,
                   std::string* refusal = nullptr);

/// An array of one or two axes as rows; one axis is one column. `owner` keeps the bytes alive.
/// Throws Error(file) for other shapes.
std::shared_ptr<const RowSource> npy_rows(const NpyArray& array, std::shared_ptr<const void> owner,
                                          const std::string& where);

/// Writes rows whose number is known at the end only: version 1, in row order, as F32 or F16 (NumPy
/// has no BF16: Error(argument)). Atomic: without commit() nothing is left. Throws Error(io).
class NpyWriter {
 public:
  NpyWriter(const std::string& path, std::int64_t dim, DType dtype = DType::f32,
            std::int64_t expected_rows = 0);
  /// Appends rows.
  ///   values  [rows, dim]  in
  void append(const float* values, std::int64_t rows);
  void commit();
  const NarrowingLoss& loss() const { return loss_; }

 private:
  std::int64_t dim_;
  DType dtype_;
  std::int64_t rows_ = 0;
  AtomicFile file_;
  std::vector<char> narrowed_;
  NarrowingLoss loss_;
};

/// Writes values [rows, dim] as NpyWriter does; returns what narrowing cost.
NarrowingLoss write_npy(const std::string& path, const RowSource& rows, DType dtype = DType::f32);

}  // namespace lexirow::files
