#include "files/npy.h"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <utility>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

constexpr std::size_t kHeaderCap = std::size_t{1} << 20;

// The header is a Python dict of three entries: text, True or False, a tuple of numbers.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, const std::string& where, NpyArray& array,
                  std::string* refusal)
      : text_(text), where_(where), array_(array), refusal_(refusal) {}

  void read() {
    expect('{');
    std::set<std::string> seen;
    while (!taken('}')) {
      const std::string key = quoted();
      expect(':');
      if (!seen.insert(key).second) fail(fmt::format("the key {} stands twice", key));
      read_value(key);
      if (taken('}')) break;
      expect(',');
    }
    skip_blanks();
    if (at_ != text_.size()) fail("something follows the dictionary");
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (!seen.contains(key)) fail(fmt::format("the key {} is missing", key));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw Error(ErrorKind::file, fmt::format("{}: the npy header is damaged at its byte {}: {}",
                                             where_, at_, base::shown_name(text)));
  }

  void read_value(const std::string& key) {
    if (key == "descr") {
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '[') {
        throw Error(ErrorKind::file,
                    fmt::format("{}: a structured array, records of several fields; save the "
                                "field with the vectors alone: np.save('out.npy', array['field'])",
                                where_));
      }
      read_descr(quoted());
    } else if (key == "fortran_order") {
      array_.by_columns = truth();
    } else if (key == "shape") {
      read_shape();
    } else {
      fail(fmt::format("unknown key {}; expected descr, fortran_order and shape", key));
    }
  }

  void read_descr(const std::string& descr) const {
    static constexpr std::pair<const char*, DType> kKnown[] = {
        {"f4", DType::f32}, {"f8", DType::f64}, {"f2", DType::f16}, {"i1", DType::i8},
        {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64}, {"u1", DType::u8},
        {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64}, {"b1", DType::boolean}};
    const bool ordered =
        !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string::npos;
    const std::string kind = descr.substr(ordered ? 1 : 0);
    for (const auto& [name, dtype] : kKnown) {
      if (kind != name) continue;
      array_.dtype = dtype;
      array_.swapped = descr[0] == '>' && dtype_bytes(dtype) > 1;
      return;
    }
    const std::string why = refusal(base::shown_name(descr), kind);
    if (refusal_ == nullptr) throw Error(ErrorKind::file, fmt::format("{}: {}", where_, why));
    *refusal_ = why;
  }

  std::string refusal(const std::string& descr, const std::string& kind) const {
    if (kind.starts_with('O')) {
      return fmt::format(
          "the array holds Python objects (descr '{}'), which are never unpickled: a pickle runs "
          "any code; if you trust the file, convert it: python3 -c \"import numpy as np; "
          "np.save('out.npy', np.stack(np.load('{}', allow_pickle=True)).astype('f4'))\"",
          descr, where_);
    }
    if (kind.starts_with('V')) {
      return fmt::format(
          "the array holds raw bytes (descr '{}'), as numpy saves bfloat16; save it as float32: "
          "np.save('out.npy', array.astype('f4'))",
          descr);
    }
    return fmt::format(
        "the array holds {} (descr '{}'), expected numbers: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1",
        kind.starts_with('c')                            ? "complex numbers"
        : kind.starts_with('U') || kind.starts_with('S') ? "texts"
                                                         : "something else than numbers",
        descr);
  }

  void read_shape() {
    expect('(');
    while (!taken(')')) {
      skip_blanks();
      const std::size_t begin = at_;
      std::int64_t extent = 0;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        if (__builtin_mul_overflow(extent, 10, &extent) ||
            __builtin_add_overflow(extent, text_[at_] - '0', &extent)) {
          fail("a size of the shape does not fit in 63 bits");
        }
        ++at_;
      }
      if (at_ == begin) fail("expected a size");
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long numbers so
      array_.shape.push_back(extent);
      if (taken(')')) break;
      expect(',');
    }
  }

  bool truth() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true},
                                      std::pair<std::string_view, bool>{"False", false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("expected True or False");
  }

  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a text in quotes");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a text without its closing quote");
    const std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n\f").find(text_[at_]) != std::string::npos)
      ++at_;
  }

  bool taken(char letter) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }

  void expect(char letter) {
    if (!taken(letter)) fail(fmt::format("expected '{}'", letter));
  }

  std::string_view text_;
  const std::string& where_;
  NpyArray& array_;
  std::string* refusal_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse_array(const std::string& where, const std::string& text) {
  throw Error(ErrorKind::file, fmt::format("{}: {}", where, text));
}

// Checks the values against the shape.
void place_values(std::string_view rest, const std::string& where, NpyArray& array) {
  std::int64_t bytes = 0;
  if (!tensor_size(array.shape, array.dtype, array.count, bytes)) {
    refuse_array(
        where, fmt::format("the shape ({}) does not fit in 63 bits", fmt::join(array.shape, ", ")));
  }
  const auto found = static_cast<std::int64_t>(rest.size());
  if (bytes != found) {
    refuse_array(where,
                 fmt::format("the shape ({}) of {} takes {} bytes, but {} bytes of values "
                             "are there; {}",
                             fmt::join(array.shape, ", "), dtype_name(array.dtype), bytes, found,
                             found < bytes ? "the file is cut short" : "something follows them"));
  }
  array.values = rest;
}

// What stands before the values: of one size for any number of rows, so that it can be filled in at
// the end. NumPy wants the values to begin at a multiple of 64 bytes.
constexpr std::size_t kNpyHeadBytes = 128;

std::string npy_head(DType dtype, std::int64_t rows, std::int64_t dim) {
  std::string header =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                  dtype_bytes(dtype), rows, dim);
  const std::size_t before = kNpyMagic.size() + 4;
  header.resize(kNpyHeadBytes - before - 1, ' ');
  header += '\n';
  std::string head(kNpyMagic);
  head += std::string("\x01\x00", 2);
  const auto length = static_cast<std::uint16_t>(header.size());
  head.append(reinterpret_cast<const char*>(&length), sizeof length);
  return head + header;
}

}  // namespace

NpyArray parse_npy(std::string_view bytes, const std::string& where, std::string* refusal) {
  constexpr std::size_t kVersionBytes = 2;
  const std::size_t begin = kNpyMagic.size() + kVersionBytes;
  if (!bytes.starts_with(kNpyMagic))
    refuse_array(where, "no npy file: it does not begin with \\x93NUMPY");
  if (bytes.size() < begin + 4) refuse_array(where, "cut short: the npy header is not whole");
  NpyArray array;
  array.version = static_cast<unsigned char>(bytes[kNpyMagic.size()]);
  if (array.version < 1 || array.version > 3) {
    refuse_array(where, fmt::format("npy version {}, expected 1 to 3", array.version));
  }
  std::uint32_t length = 0;
  const std::size_t length_bytes = array.version == 1 ? 2 : 4;
  std::memcpy(&length, bytes.data() + begin, length_bytes);
  const std::string_view rest = bytes.substr(begin + length_bytes);
  if (length > rest.size()) {
    refuse_array(where,
                 fmt::format("the npy header announces {} bytes, but {} follow; the file is cut "
                             "short",
                             length, rest.size()));
  }
  if (length > kHeaderCap) {
    refuse_array(where, fmt::format("the npy header has {} bytes, more than the cap of {}", length,
                                    kHeaderCap));
  }
  NpyHeaderReader(rest.substr(0, length), where, array, refusal).read();
  if (refusal != nullptr && !refusal->empty()) return array;
  place_values(rest.substr(length), where, array);
  return array;
}

std::shared_ptr<const RowSource> npy_rows(const NpyArray& array, std::shared_ptr<const void> owner,
                                          const std::string& where) {
  if (array.shape.size() != 1 && array.shape.size() != 2) {
    refuse_array(where, fmt::format("the shape is ({}), {} axes; a table has two: rows and columns",
                                    fmt::join(array.shape, ", "), array.shape.size()));
  }
  StoredArray stored;
  stored.data = array.values.data();
  stored.dtype = array.dtype;
  stored.rows = array.shape[0];
  stored.dim = array.shape.size() == 2 ? array.shape[1] : 1;
  stored.by_columns = array.by_columns && array.shape.size() == 2;
  stored.swapped = array.swapped;
  stored.mapped = array.mapped;
  return rows_of_stored(stored, std::move(owner));
}

NpyWriter::NpyWriter(const std::string& path, std::int64_t dim, DType dtype,
                     std::int64_t expected_rows)
    : dim_(dim),
      dtype_(dtype),
      file_(path,
            static_cast<std::int64_t>(kNpyHeadBytes) + expected_rows * dim * dtype_bytes(dtype)) {
  if (dtype != DType::f32 && dtype != DType::f16) {
    throw Error(ErrorKind::argument,
                fmt::format("{}: npy holds no {}; NumPy has F32 and F16", path, dtype_name(dtype)));
  }
  file_.write(npy_head(dtype_, 0, dim_));
}

void NpyWriter::append(const float* values, std::int64_t rows) {
  const std::int64_t count = rows * dim_;
  rows_ += rows;
  if (dtype_ == DType::f32) {
    file_.write(values, count * static_cast<std::int64_t>(sizeof(float)));
    loss_.values += count;
    return;
  }
  narrowed_.resize(static_cast<std::size_t>(count * dtype_bytes(dtype_)));
  narrow(dtype_, values, count, narrowed_.data(), loss_);
  file_.write(narrowed_.data(), static_cast<std::int64_t>(narrowed_.size()));
}

void NpyWriter::commit() {
  file_.replace(0, npy_head(dtype_, rows_, dim_));
  file_.commit();
}

NarrowingLoss write_npy(const std::string& path, const RowSource& rows, DType dtype) {
  NpyWriter writer(path, rows.dim(), dtype, rows.rows());
  for_each_block(rows, [&](std::int64_t, std::int64_t count, const float* values) {
    writer.append(values, count);
  });
  writer.commit();
  return writer.loss();
}

}  // namespace lexirow::files
