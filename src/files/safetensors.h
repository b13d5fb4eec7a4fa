#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/array.h"
#include "files/dtype.h"
#include "files/mapped_file.h"

namespace lexirow::files {

struct HeaderEntry;

/// Takes bytes one piece after another.
using ByteSink = std::function<void(const void* data, std::int64_t bytes)>;

/// A tensor to be written: borrowed bytes, or a function that gives them a piece at a time, in all
/// as many as dtype and shape say.
struct TensorSource {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  const void* data = nullptr;
  std::function<void(const ByteSink&)> pieces = {};
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

  const std::string& path() const { return file_->path(); }
  /// In the order of their data.
  const std::vector<Entry>& entries() const { return entries_; }
  /// Tensors of a dtype that is not read, with the text of it; they are no entries.
  const std::map<std::string, std::string>& unread() const { return unread_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Throws Error(file) naming the tensors there are, or the dtype of one that is not read.
  const Entry& entry(const std::string& name) const;
  const Entry* find(const std::string& name) const;

  /// Copies a tensor as float32, as widen() does. Throws Error(file) for BOOL.
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
  void parse_header(std::int64_t header_cap);
  void place_entries(std::vector<HeaderEntry>& stated, std::int64_t data_begin);

  std::shared_ptr<const MappedFile> file_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> unread_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace lexirow::files
