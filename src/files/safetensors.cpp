#include "files/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "files/safetensors_header.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

constexpr std::int64_t kLengthBytes = 8;
// The header is padded so that the first tensor, a multiple of 64 bytes into the mapping, can be
// used where it stands; the format asks for 8.
constexpr std::int64_t kAlignment = base::Array<float>::kAlignment;

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
    if (tensor.data == nullptr && !tensor.pieces && count > 0) {
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
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].pieces) {
      file.write(tensors[i].data, sizes[i]);
      continue;
    }
    std::int64_t written = 0;
    tensors[i].pieces([&](const void* data, std::int64_t bytes) {
      file.write(data, bytes);
      written += bytes;
    });
    if (written == sizes[i]) continue;
    throw Error(ErrorKind::argument,
                fmt::format("{}: tensor {}: {} bytes were given, but its shape takes {}", path,
                            tensors[i].name, written, sizes[i]));
  }
  file.commit();
}

SafetensorsFile::SafetensorsFile(const std::string& path, std::int64_t header_cap)
    : file_(std::make_shared<MappedFile>(path)) {
  parse_header(header_cap);
}

void SafetensorsFile::parse_header(std::int64_t header_cap) {
  if (file_->size() < kLengthBytes) {
    throw Error(ErrorKind::file,
                fmt::format("{}: {} bytes long, but safetensors begins with 8 bytes that give the "
                            "length of the header; the file is cut short or something else",
                            path(), file_->size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file_->data(), kLengthBytes);
  const std::uint64_t rest = static_cast<std::uint64_t>(file_->size() - kLengthBytes);
  if (length > rest) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: the first 8 bytes announce a header of {} bytes, but only {} follow; "
                    "the file is cut short or not safetensors",
                    path(), length, rest));
  }
  if (length > static_cast<std::uint64_t>(std::max<std::int64_t>(0, header_cap))) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: the header has {} bytes, more than the cap of {}; open the file with "
                    "a higher cap if it is meant to be so large",
                    path(), length, header_cap));
  }
  const char* text = reinterpret_cast<const char*>(file_->data()) + kLengthBytes;
  Header header = parse_safetensors_header({text, static_cast<std::size_t>(length)}, path());
  metadata_ = std::move(header.metadata);
  const std::int64_t data_begin = kLengthBytes + static_cast<std::int64_t>(length);
  place_entries(header.entries, data_begin);
}

void SafetensorsFile::place_entries(std::vector<HeaderEntry>& stated, std::int64_t data_begin) {
  const std::int64_t available = file_->size() - data_begin;
  std::stable_sort(stated.begin(), stated.end(), [](const HeaderEntry& a, const HeaderEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const auto fail = [&](const std::string& name, const std::string& text) {
    throw Error(ErrorKind::file,
                fmt::format("{}: tensor {}: {}", path(), base::shown_name(name), text));
  };
  std::int64_t end = 0;
  std::string before = "the header";
  for (HeaderEntry& tensor : stated) {
    Entry entry;
    const bool known = tensor.unknown_dtype.empty();
    if (!tensor_size(tensor.shape, tensor.dtype, entry.count, entry.bytes)) {
      fail(tensor.name,
           fmt::format("the shape [{}] does not fit in 63 bits", fmt::join(tensor.shape, ",")));
    }
    if (tensor.begin > tensor.end || (known && tensor.end - tensor.begin != entry.bytes)) {
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
    if (!known) {
      unread_.emplace(std::move(tensor.name), std::move(tensor.unknown_dtype));
      continue;
    }
    entry.name = std::move(tensor.name);
    entry.dtype = tensor.dtype;
    entry.shape = std::move(tensor.shape);
    entry.data = file_->data() + data_begin + tensor.begin;
    entries_.push_back(std::move(entry));
  }
  if (end != available) {
    throw Error(ErrorKind::file, fmt::format("{}: the tensors take {} bytes, but {} bytes of data "
                                             "follow the header",
                                             path(), end, available));
  }
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

const SafetensorsFile::Entry& SafetensorsFile::entry(const std::string& name) const {
  if (const Entry* found = find(name)) return *found;
  if (const auto unread = unread_.find(name); unread != unread_.end()) {
    throw Error(ErrorKind::file, fmt::format("{}: tensor {}: unknown dtype {}; known are{}", path(),
                                             base::shown_name(name),
                                             base::shown_name(unread->second), known_dtypes()));
  }
  constexpr std::size_t kListed = 20;
  std::string known;
  for (std::size_t i = 0; i < std::min(kListed, entries_.size()); ++i) {
    known += fmt::format("{}{}", i == 0 ? "" : ", ", entries_[i].name);
  }
  if (entries_.size() > kListed) known += fmt::format(" and {} more", entries_.size() - kListed);
  throw Error(ErrorKind::file,
              fmt::format("{}: no tensor {}; the file holds {}", path(), base::shown_name(name),
                          known.empty() ? "no tensor" : base::shown_name(known)));
}

void SafetensorsFile::read_f32(const Entry& entry, float* out) const {
  if (entry.dtype == DType::boolean) {
    throw Error(ErrorKind::file,
                fmt::format("{}: tensor {} is BOOL, expected numbers", path(), entry.name));
  }
  widen(entry.dtype, entry.data, entry.count, out);
}

base::Array<float> SafetensorsFile::array_f32(const Entry& entry) const {
  const std::int64_t offset = static_cast<const unsigned char*>(entry.data) - file_->data();
  const bool fits = entry.dtype == DType::f32 && entry.count > 0 && offset % kAlignment == 0;
  if (fits && file_->writable() != nullptr) {
    auto* const values = reinterpret_cast<float*>(file_->writable() + offset);
    return base::Array<float>::borrowed(values, entry.count, file_);
  }
  base::Array<float> copy;
  copy.resize(entry.count);
  read_f32(entry, copy.data());
  return copy;
}

void SafetensorsFile::read_i64(const Entry& entry, std::int64_t* out) const {
  if (!widen_integers(entry.dtype, entry.data, entry.count, out)) {
    throw Error(ErrorKind::file, fmt::format("{}: tensor {} is {}, expected integers", path(),
                                             entry.name, dtype_name(entry.dtype)));
  }
  if (entry.dtype != DType::u64) return;
  for (std::int64_t i = 0; i < entry.count; ++i) {
    if (out[i] >= 0) continue;
    throw Error(ErrorKind::file,
                fmt::format("{}: tensor {}: value {} is {}, more than 63 bits hold", path(),
                            entry.name, i, static_cast<std::uint64_t>(out[i])));
  }
}

}  // namespace lexirow::files
