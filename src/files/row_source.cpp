#include "files/row_source.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace lexirow::files {

namespace {

// Gives back the pages of a mapped file that lie within [data, data + bytes): they are read from
// the file again when they are needed. Of memory that is not a file's this would be the end.
void give_back(const char* data, std::int64_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin = (at + page - 1) / page * page;
  const std::uintptr_t end = (at + static_cast<std::uintptr_t>(bytes)) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

class ViewRows : public RowSource {
 public:
  ViewRows(base::View2<const float> values, std::shared_ptr<const void> owner, DType dtype,
           bool mapped = false)
      : RowSource(values.extent(0), values.extent(1), dtype),
        values_(values),
        owner_(std::move(owner)),
        mapped_(mapped) {}

  base::View2<const float> in_place() const override { return values_; }

  void read(std::int64_t begin, std::int64_t end, float* out) const override {
    if (begin == end || dim() == 0) return;
    std::copy(values_.data() + begin * dim(), values_.data() + end * dim(), out);
  }

  void release(std::int64_t begin, std::int64_t end) const override {
    if (!mapped_) return;
    give_back(reinterpret_cast<const char*>(values_.data() + begin * dim()),
              (end - begin) * dim() * static_cast<std::int64_t>(sizeof(float)));
  }

 private:
  base::View2<const float> values_;
  std::shared_ptr<const void> owner_;
  bool mapped_;
};

void swap_bytes(char* data, std::int64_t count, std::int64_t bytes) {
  for (std::int64_t i = 0; i < count; ++i) std::reverse(data + i * bytes, data + (i + 1) * bytes);
}

class StoredRows : public RowSource {
 public:
  StoredRows(const StoredArray& array, std::shared_ptr<const void> owner)
      : RowSource(array.rows, array.dim, array.dtype), array_(array), owner_(std::move(owner)) {}

  void read(std::int64_t begin, std::int64_t end, float* out) const override {
    if (!array_.by_columns) return values(begin * dim(), (end - begin) * dim(), out);
    const std::int64_t count = end - begin;
    std::vector<float> column(static_cast<std::size_t>(count));
    for (std::int64_t j = 0; j < dim(); ++j) {
      values(j * rows() + begin, count, column.data());
      for (std::int64_t i = 0; i < count; ++i) out[i * dim() + j] = column[std::size_t(i)];
    }
  }

  bool add_loss(DType to, std::int64_t begin, std::int64_t end,
                NarrowingLoss& loss) const override {
    if (!is_wider_than_f32(array_.dtype)) return false;
    const auto add = [&](const char* stored, std::int64_t count, std::int64_t) {
      add_storing_loss(array_.dtype, stored, count, to, loss);
    };
    if (!array_.by_columns) {
      pieces(begin * dim(), (end - begin) * dim(), add);
    } else {
      for (std::int64_t j = 0; j < dim(); ++j) pieces(j * rows() + begin, end - begin, add);
    }
    return true;
  }

  void release(std::int64_t begin, std::int64_t end) const override {
    if (!array_.mapped || array_.by_columns) return;
    const std::int64_t row_bytes = dim() * dtype_bytes(array_.dtype);
    give_back(static_cast<const char*>(array_.data) + begin * row_bytes, (end - begin) * row_bytes);
  }

 private:
  // `count` values in the order of the file, from the one numbered `first`.
  void values(std::int64_t first, std::int64_t count, float* out) const {
    pieces(first, count, [&](const char* stored, std::int64_t piece, std::int64_t done) {
      widen(array_.dtype, stored, piece, out + done);
    });
  }

  // Calls `take(bytes, values, values before)` with stored values, little-endian.
  template <typename Take>
  void pieces(std::int64_t first, std::int64_t count, Take&& take) const {
    const std::int64_t bytes = dtype_bytes(array_.dtype);
    const char* from = static_cast<const char*>(array_.data) + first * bytes;
    if (!array_.swapped || bytes == 1) return take(from, count, std::int64_t{0});
    constexpr std::int64_t kPiece = 512;
    char buffer[kPiece * sizeof(double)];
    for (std::int64_t done = 0; done < count; done += kPiece) {
      const std::int64_t piece = std::min(kPiece, count - done);
      std::memcpy(buffer, from + done * bytes, static_cast<std::size_t>(piece * bytes));
      swap_bytes(buffer, piece, bytes);
      take(buffer, piece, done);
    }
  }

  StoredArray array_;
  std::shared_ptr<const void> owner_;
};

class ChosenRows : public RowSource {
 public:
  ChosenRows(std::shared_ptr<const RowSource> source, std::vector<std::int64_t> ids)
      : RowSource(static_cast<std::int64_t>(ids.size()), source->dim(), source->dtype()),
        source_(std::move(source)),
        ids_(std::move(ids)) {}

  void read(std::int64_t begin, std::int64_t end, float* out) const override {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t id = ids_[static_cast<std::size_t>(i)];
      source_->read(id, id + 1, out + (i - begin) * dim());
    }
  }
  bool add_loss(DType to, std::int64_t begin, std::int64_t end,
                NarrowingLoss& loss) const override {
    bool known = false;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t id = ids_[static_cast<std::size_t>(i)];
      known = source_->add_loss(to, id, id + 1, loss);
    }
    return known;
  }

 private:
  std::shared_ptr<const RowSource> source_;
  std::vector<std::int64_t> ids_;
};

class FirstRows : public RowSource {
 public:
  FirstRows(std::shared_ptr<const RowSource> source, std::int64_t count)
      : RowSource(count, source->dim(), source->dtype()), source_(std::move(source)) {}

  void read(std::int64_t begin, std::int64_t end, float* out) const override {
    source_->read(begin, end, out);
  }
  bool add_loss(DType to, std::int64_t begin, std::int64_t end,
                NarrowingLoss& loss) const override {
    return source_->add_loss(to, begin, end, loss);
  }
  void release(std::int64_t begin, std::int64_t end) const override {
    source_->release(begin, end);
  }

 private:
  std::shared_ptr<const RowSource> source_;
};

class ReplacedRows : public RowSource {
 public:
  ReplacedRows(std::shared_ptr<const RowSource> source, std::vector<std::int64_t> ids,
               std::vector<float> row)
      : RowSource(source->rows(), source->dim(), source->dtype()),
        source_(std::move(source)),
        ids_(std::move(ids)),
        row_(std::move(row)) {}

  void read(std::int64_t begin, std::int64_t end, float* out) const override {
    source_->read(begin, end, out);
    for (auto id = std::lower_bound(ids_.begin(), ids_.end(), begin); id != ids_.end() && *id < end;
         ++id) {
      std::copy(row_.begin(), row_.end(), out + (*id - begin) * dim());
    }
  }
  bool add_loss(DType to, std::int64_t begin, std::int64_t end,
                NarrowingLoss& loss) const override {
    bool known = source_->add_loss(to, begin, begin, loss);
    for (auto id = std::lower_bound(ids_.begin(), ids_.end(), begin); begin < end; ++id) {
      const std::int64_t next = id == ids_.end() ? end : std::min(*id, end);
      known = source_->add_loss(to, begin, next, loss);
      begin = next + 1;
      if (id == ids_.end()) break;
    }
    return known;
  }
  void release(std::int64_t begin, std::int64_t end) const override {
    source_->release(begin, end);
  }

 private:
  std::shared_ptr<const RowSource> source_;
  std::vector<std::int64_t> ids_;
  std::vector<float> row_;
};

}  // namespace

void RowSource::release(std::int64_t, std::int64_t) const {}

bool RowSource::add_loss(DType, std::int64_t, std::int64_t, NarrowingLoss&) const {
  return false;
}

std::shared_ptr<const RowSource> rows_of_view(base::View2<const float> values,
                                              std::shared_ptr<const void> owner, DType dtype) {
  return std::make_shared<ViewRows>(values, std::move(owner), dtype);
}

std::shared_ptr<const RowSource> rows_of_array(base::Array<float> values, std::int64_t rows,
                                               std::int64_t dim, DType dtype) {
  auto owner = std::make_shared<base::Array<float>>(std::move(values));
  const base::View2<const float> view(owner->data(), {rows, dim});
  return rows_of_view(view, std::move(owner), dtype);
}

std::shared_ptr<const RowSource> rows_of_stored(const StoredArray& array,
                                                std::shared_ptr<const void> owner) {
  const bool as_it_is = array.dtype == DType::f32 && !array.by_columns && !array.swapped &&
                        reinterpret_cast<std::uintptr_t>(array.data) % alignof(float) == 0;
  if (!as_it_is) return std::make_shared<StoredRows>(array, std::move(owner));
  const base::View2<const float> values(static_cast<const float*>(array.data),
                                        {array.rows, array.dim});
  return std::make_shared<ViewRows>(values, std::move(owner), DType::f32, array.mapped);
}

std::shared_ptr<const RowSource> first_rows(std::shared_ptr<const RowSource> source,
                                            std::int64_t count) {
  if (count >= source->rows()) return source;
  const base::View2<const float> values = source->in_place();
  if (!values.present()) return std::make_shared<FirstRows>(std::move(source), count);
  const DType dtype = source->dtype();
  return rows_of_view({values.data(), {count, values.extent(1)}}, std::move(source), dtype);
}

std::shared_ptr<const RowSource> chosen_rows(std::shared_ptr<const RowSource> source,
                                             std::vector<std::int64_t> ids) {
  return std::make_shared<ChosenRows>(std::move(source), std::move(ids));
}

std::shared_ptr<const RowSource> replaced_rows(std::shared_ptr<const RowSource> source,
                                               std::vector<std::int64_t> ids,
                                               std::vector<float> row) {
  return std::make_shared<ReplacedRows>(std::move(source), std::move(ids), std::move(row));
}

void for_each_block(
    const RowSource& source,
    const std::function<void(std::int64_t first, std::int64_t rows, const float* values)>& block) {
  constexpr std::int64_t kValues = std::int64_t{1} << 18;
  const std::int64_t dim = source.dim();
  const std::int64_t rows = std::max<std::int64_t>(1, kValues / std::max<std::int64_t>(1, dim));
  const base::View2<const float> values = source.in_place();
  std::vector<float> buffer;
  for (std::int64_t first = 0; first < source.rows(); first += rows) {
    const std::int64_t count = std::min(rows, source.rows() - first);
    if (values.present()) {
      block(first, count, values.data() + first * dim);
    } else {
      buffer.resize(static_cast<std::size_t>(rows * dim));
      source.read(first, first + count, buffer.data());
      block(first, count, buffer.data());
    }
    source.release(first, first + count);
  }
}

}  // namespace lexirow::files
