#include "files/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "files/atomic_write.h"
#include "files/descriptor.h"
#include "files/safetensors_header.h"
#include "lexirow/error.h"

namespace lexirow::files {

static_assert(std::endian::native == std::endian::little, "safetensors values are little-endian");

namespace {

constexpr std::int64_t kLengthBytes = 8;
// The header is padded so that the first tensor, a multiple of 64 bytes into the mapping, can be
// used where it stands; the format asks for 8.
constexpr std::int64_t kAlignment = base::Array<float>::kAlignment;

// Number of values and of bytes; false when they do not fit in 63 bits.
bool tensor_size(const std::vector<std::int64_t>& shape, DType dtype, std::int64_t& count,
                 std::int64_t& bytes) {
  count = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return false;
  }
  return !__builtin_mul_overflow(count, dtype_bytes(dtype), &bytes);
}

std::string header_text(const std::string& path, const std::vector<TensorSource>& tensors,
                        const std::map<std::string, std::string>& metadata,
                        std::vector<std::int64_t>& sizes, std::int64_t& data_bytes) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::set<std::string_view> names;
  for (const TensorSource& tensor : tensors) {
    const std::string what = fmt::format("{}: tensor {}", path, tensor.name);
    if (tensor.name == "__metadata__") {
      throw Error(ErrorKind::argument,
                  what + ": this name is reserved by the format; choose another");
    }
    if (!names.insert(tensor.name).second) {
      throw Error(ErrorKind::argument, what + ": duplicate tensor name; every name stands once");
    }
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    if (!tensor_size(tensor.shape, tensor.dtype, count, bytes) ||
        __builtin_add_overflow(data_bytes, bytes, &bytes)) {
      throw Error(ErrorKind::shape, fmt::format("{}: the shape [{}] does not fit in 63 bits", what,
                                                fmt::join(tensor.shape, ",")));
    }
    if (tensor.data == nullptr && count > 0) {
      throw Error(ErrorKind::argument,
                  fmt::format("{}: {} values by its shape, but no data", what, count));
    }
    // Built aside and pushed at the end: looking up a key in an ordered object is linear.
    nlohmann::ordered_json entry = {{"dtype", dtype_name(tensor.dtype)},
                                    {"shape", tensor.shape},
                                    {"data_offsets", {data_bytes, bytes}}};
    header.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(tensor.name, std::move(entry));
    sizes.push_back(bytes - data_bytes);
    data_bytes = bytes;
  }
  try {
    return header.dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::argument,
                fmt::format("{}: a tensor name or metadata text is not valid UTF-8", path));
  }
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1.0p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

float bfloat_to_float(std::uint16_t bfloat) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat) << 16);
}

// Copies values of type `Stored`, which may stand at any address.
template <typename Stored, typename Out, typename Convert>
void convert_values(const void* data, std::int64_t count, Out* out, Convert convert) {
  const char* bytes = static_cast<const char*>(data);
  for (std::int64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, bytes + i * static_cast<std::int64_t>(sizeof value), sizeof value);
    out[i] = convert(value);
  }
}

// Copies a tensor of integers; false when its dtype is none.
template <typename Out>
bool convert_integers(DType dtype, const void* data, std::int64_t count, Out* out) {
  const auto plain = [](auto value) { return static_cast<Out>(value); };
  switch (dtype) {
    case DType::i8:
      convert_values<std::int8_t>(data, count, out, plain);
      return true;
    case DType::i16:
      convert_values<std::int16_t>(data, count, out, plain);
      return true;
    case DType::i32:
      convert_values<std::int32_t>(data, count, out, plain);
      return true;
    case DType::i64:
      convert_values<std::int64_t>(data, count, out, plain);
      return true;
    case DType::u8:
      convert_values<std::uint8_t>(data, count, out, plain);
      return true;
    case DType::u16:
      convert_values<std::uint16_t>(data, count, out, plain);
      return true;
    case DType::u32:
      convert_values<std::uint32_t>(data, count, out, plain);
      return true;
    case DType::u64:
      convert_values<std::uint64_t>(data, count, out, plain);
      return true;
    default:
      return false;
  }
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<TensorSource>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<std::int64_t> sizes;
  std::int64_t data_bytes = 0;
  std::string header = header_text(path, tensors, metadata, sizes, data_bytes);
  while ((kLengthBytes + static_cast<std::int64_t>(header.size())) % kAlignment != 0) header += ' ';
  const std::uint64_t length = header.size();

  AtomicFile file(path, kLengthBytes + static_cast<std::int64_t>(length) + data_bytes);
  file.write(&length, kLengthBytes);
  file.write(header);
  for (std::size_t i = 0; i < tensors.size(); ++i) file.write(tensors[i].data, sizes[i]);
  file.commit();
}

SafetensorsFile::SafetensorsFile(const std::string& path, std::int64_t header_cap) : path_(path) {
  map_file();
  parse_header(header_cap);
}

void SafetensorsFile::map_file() {
  const int descriptor = open_file(path_, O_RDONLY, "read");
  struct stat status {};
  int error = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  if (error == 0 && status.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    // Of a large file few pages are written if any: no memory is set aside for copies of all.
    void* address =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (address == MAP_FAILED && errno == ENOMEM) {  // systems that set memory aside all the same
      address = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
      writable_ = false;
    }
    if (address == MAP_FAILED) {
      error = errno;
    } else {
      mapping_.reset(static_cast<unsigned char*>(address),
                     [bytes](unsigned char* mapped) { munmap(mapped, bytes); });
      mapped_bytes_ = status.st_size;
    }
  }
  ::close(descriptor);
  if (error != 0) throw_io_error(path_, "read", error);
}

void SafetensorsFile::parse_header(std::int64_t header_cap) {
  if (mapped_bytes_ < kLengthBytes) {
    throw Error(ErrorKind::file,
                fmt::format("{}: {} bytes long, but safetensors begins with 8 bytes that give the "
                            "length of the header; the file is cut short or something else",
                            path_, mapped_bytes_));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, mapping_.get(), kLengthBytes);
  const std::uint64_t rest = static_cast<std::uint64_t>(mapped_bytes_ - kLengthBytes);
  if (length > rest) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: the first 8 bytes announce a header of {} bytes, but only {} follow; "
                    "the file is cut short or not safetensors",
                    path_, length, rest));
  }
  if (length > static_cast<std::uint64_t>(std::max<std::int64_t>(0, header_cap))) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: the header has {} bytes, more than the cap of {}; open the file with "
                    "a higher cap if it is meant to be so large",
                    path_, length, header_cap));
  }
  const char* text = reinterpret_cast<const char*>(mapping_.get()) + kLengthBytes;
  Header header = parse_safetensors_header({text, static_cast<std::size_t>(length)}, path_);
  metadata_ = std::move(header.metadata);
  const std::int64_t data_begin = kLengthBytes + static_cast<std::int64_t>(length);
  place_entries(header.entries, data_begin);
}

void SafetensorsFile::place_entries(std::vector<HeaderEntry>& stated, std::int64_t data_begin) {
  const std::int64_t available = mapped_bytes_ - data_begin;
  std::stable_sort(stated.begin(), stated.end(), [](const HeaderEntry& a, const HeaderEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const auto fail = [&](const std::string& name, const std::string& text) {
    throw Error(ErrorKind::file, fmt::format("{}: tensor {}: {}", path_, name, text));
  };
  std::int64_t end = 0;
  std::string before = "the header";
  for (HeaderEntry& tensor : stated) {
    Entry entry;
    if (!tensor_size(tensor.shape, tensor.dtype, entry.count, entry.bytes)) {
      fail(tensor.name,
           fmt::format("the shape [{}] does not fit in 63 bits", fmt::join(tensor.shape, ",")));
    }
    if (tensor.begin > tensor.end || tensor.end - tensor.begin != entry.bytes) {
      fail(tensor.name, fmt::format("{} of shape [{}] takes {} bytes, but data_offsets are [{},{}]",
                                    dtype_name(tensor.dtype), fmt::join(tensor.shape, ","),
                                    entry.bytes, tensor.begin, tensor.end));
    }
    if (tensor.end > available) {
      fail(tensor.name,
           fmt::format("data_offsets are [{},{}], but the file holds {} bytes of data; "
                       "it is cut short",
                       tensor.begin, tensor.end, available));
    }
    if (tensor.begin != end) {
      fail(tensor.name,
           fmt::format("begins at byte {} of the data, but {} ends at {}: {}", tensor.begin, before,
                       end, tensor.begin < end ? "they overlap" : "a gap stands between"));
    }
    end = tensor.end;
    before = tensor.name;
    entry.name = std::move(tensor.name);
    entry.dtype = tensor.dtype;
    entry.shape = std::move(tensor.shape);
    entry.data = mapping_.get() + data_begin + tensor.begin;
    entries_.push_back(std::move(entry));
  }
  if (end != available) {
    throw Error(ErrorKind::file, fmt::format("{}: the tensors take {} bytes, but {} bytes of data "
                                             "follow the header",
                                             path_, end, available));
  }
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

const SafetensorsFile::Entry& SafetensorsFile::entry(const std::string& name) const {
  if (const Entry* found = find(name)) return *found;
  constexpr std::size_t kListed = 20;
  std::string known;
  for (std::size_t i = 0; i < std::min(kListed, entries_.size()); ++i) {
    known += fmt::format("{}{}", i == 0 ? "" : ", ", entries_[i].name);
  }
  if (entries_.size() > kListed) known += fmt::format(" and {} more", entries_.size() - kListed);
  throw Error(ErrorKind::file, fmt::format("{}: no tensor {}; the file holds {}", path_, name,
                                           known.empty() ? "no tensor" : known));
}

void SafetensorsFile::read_f32(const Entry& entry, float* out) const {
  const auto plain = [](auto value) { return static_cast<float>(value); };
  switch (entry.dtype) {
    case DType::f32:
      if (entry.bytes > 0) std::memcpy(out, entry.data, static_cast<std::size_t>(entry.bytes));
      return;
    case DType::f64:
      return convert_values<double>(entry.data, entry.count, out, plain);
    case DType::f16:
      return convert_values<std::uint16_t>(entry.data, entry.count, out, half_to_float);
    case DType::bf16:
      return convert_values<std::uint16_t>(entry.data, entry.count, out, bfloat_to_float);
    default:
      if (convert_integers(entry.dtype, entry.data, entry.count, out)) return;
      throw Error(ErrorKind::file, fmt::format("{}: tensor {} is {}, expected numbers", path_,
                                               entry.name, dtype_name(entry.dtype)));
  }
}

base::Array<float> SafetensorsFile::array_f32(const Entry& entry) const {
  const std::int64_t offset = static_cast<const unsigned char*>(entry.data) - mapping_.get();
  const bool fits = entry.dtype == DType::f32 && entry.count > 0 && offset % kAlignment == 0;
  if (fits && writable_) {
    auto* const values = reinterpret_cast<float*>(mapping_.get() + offset);
    return base::Array<float>::borrowed(values, entry.count, mapping_);
  }
  base::Array<float> copy;
  copy.resize(entry.count);
  read_f32(entry, copy.data());
  return copy;
}

void SafetensorsFile::read_i64(const Entry& entry, std::int64_t* out) const {
  if (!convert_integers(entry.dtype, entry.data, entry.count, out)) {
    throw Error(ErrorKind::file, fmt::format("{}: tensor {} is {}, expected integers", path_,
                                             entry.name, dtype_name(entry.dtype)));
  }
  if (entry.dtype != DType::u64) return;
  for (std::int64_t i = 0; i < entry.count; ++i) {
    if (out[i] >= 0) continue;
    throw Error(ErrorKind::file,
                fmt::format("{}: tensor {}: value {} is {}, more than 63 bits hold", path_,
                            entry.name, i, static_cast<std::uint64_t>(out[i])));
  }
}

}  // namespace lexirow::files
