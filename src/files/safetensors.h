#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/array.h"

namespace lexirow::files {

struct HeaderEntry;

enum class DType { f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

std::int64_t dtype_bytes(DType dtype);
std::string dtype_name(DType dtype);  ///< as in the file: F32, BF16, I64 ...

/// A tensor to be written: borrowed bytes.
struct TensorSource {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  const void* data = nullptr;
};

/// Writes the published safetensors format: eight bytes of header length, JSON padded so that the
/// data start at a multiple of 64, packed little-endian values in the order given. Refuses
/// duplicate names, a tensor named __metadata__ and names that are not UTF-8 before anything is
/// written: Error(argument). Atomic. Throws Error(io) as AtomicFile.
void write_safetensors(const std::string& path, const std::vector<TensorSource>& tensors,
                       const std::map<std::string, std::string>& metadata);

/// A file opened and mapped, privately: nothing that is written to its values reaches the file. A
/// file that is replaced meanwhile (renamed over) stays as it was; one that somebody cuts short in
/// place ends the process (SIGBUS) when values behind its new end are touched. Every count, order,
/// range and size is checked before any value is read: duplicates, gaps, overlaps, sizes that do
/// not fit the shape are refused by name.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;
    const void* data = nullptr;  ///< in the mapping; aligned only as the file is
    std::int64_t bytes = 0;
    std::int64_t count = 0;  ///< values: the product of the shape
  };

  /// Header larger than this is refused with both figures; the caller may raise it.
  static constexpr std::int64_t kDefaultHeaderCap = std::int64_t{256} << 20;

  /// Throws Error(io) when the file cannot be read, Error(file) when it is not what it should be.
  explicit SafetensorsFile(const std::string& path, std::int64_t header_cap = kDefaultHeaderCap);
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& path() const { return path_; }
  /// In the order of their data.
  const std::vector<Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Throws Error(file) naming the tensors there are.
  const Entry& entry(const std::string& name) const;
  const Entry* find(const std::string& name) const;

  /// Copies a tensor as float32: F16, BF16 and integers of up to 16 bits widen exactly, F64 and
  /// larger integers round to nearest. Throws Error(file) for BOOL.
  ///   out  [entry.count]  out
  void read_f32(const Entry& entry, float* out) const;
  /// A tensor as float32. F32 values at a multiple of 64 bytes are not copied: the array stands on
  /// the mapping, which lives as long as it does, and a page is read when it is touched, copied
  /// when it is written. Others are copied as read_f32 does. Throws Error(file) for BOOL.
  base::Array<float> array_f32(const Entry& entry) const;
  /// Copies a tensor of integers. Throws Error(file) for other dtypes and for a U64 above 2^63 - 1.
  ///   out  [entry.count]  out
  void read_i64(const Entry& entry, std::int64_t* out) const;

 private:
  void map_file();
  void parse_header(std::int64_t header_cap);
  void place_entries(std::vector<HeaderEntry>& stated, std::int64_t data_begin);

  std::string path_;
  std::shared_ptr<unsigned char> mapping_;
  bool writable_ = true;
  std::int64_t mapped_bytes_ = 0;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace lexirow::files
